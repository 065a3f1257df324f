package engine

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/rpc/encryption"
)

// Who may call what:
//
//   - The history and matching ports know no tokens, so they demand a client
//     certificate of an authority that never leaves this process: nobody but
//     the server itself gets through the handshake.
//   - The front end lets anybody finish a TLS handshake, so that a caller
//     without rights gets an honest PermissionDenied rather than a broken
//     connection, and then demands two things of every call: the token, and a
//     client certificate of this start. The server calls its own front end for
//     some answers; those calls have no token, but the internal certificate.

// access holds the certificates of one start.
type access struct {
	front, internal *authority
	frontServer     tls.Certificate
	internalServer  tls.Certificate
	internalClient  tls.Certificate
	frontClient     credentials
}

func newAccess() (*access, error) {
	a := &access{}
	var err error
	if a.front, err = newAuthority("engine"); err != nil {
		return nil, err
	}
	if a.internal, err = newAuthority("engine internal"); err != nil {
		return nil, err
	}
	if a.frontServer, err = a.front.issue("front end", x509.ExtKeyUsageServerAuth); err != nil {
		return nil, err
	}
	if a.internalServer, err = a.internal.issue("internal server", x509.ExtKeyUsageServerAuth); err != nil {
		return nil, err
	}
	if a.internalClient, err = a.internal.issue("internal client", x509.ExtKeyUsageClientAuth); err != nil {
		return nil, err
	}
	if a.frontClient, err = newCredentials(a.front); err != nil {
		return nil, err
	}
	return a, nil
}

var _ encryption.TLSConfigProvider = (*access)(nil)

// GetFrontendServerConfig is the front end's side of a handshake.
func (a *access) GetFrontendServerConfig() (*tls.Config, error) {
	clients := x509.NewCertPool()
	clients.AddCert(a.front.cert)
	clients.AddCert(a.internal.cert)
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{a.frontServer},
		ClientCAs:    clients,
		ClientAuth:   tls.VerifyClientCertIfGiven,
	}, nil
}

// GetInternodeServerConfig is the side of history and matching.
func (a *access) GetInternodeServerConfig() (*tls.Config, error) {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{a.internalServer},
		ClientCAs:    a.internal.pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}, nil
}

// GetInternodeClientConfig is how the services call each other.
func (a *access) GetInternodeClientConfig() (*tls.Config, error) {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		RootCAs:      a.internal.pool,
		Certificates: []tls.Certificate{a.internalClient},
		ServerName:   loopback,
	}, nil
}

// GetFrontendClientConfig is how the services call the front end.
func (a *access) GetFrontendClientConfig() (*tls.Config, error) {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		RootCAs:      a.front.pool,
		Certificates: []tls.Certificate{a.internalClient},
		ServerName:   loopback,
	}, nil
}

// GetRemoteClusterClientConfig: there are no other clusters.
func (a *access) GetRemoteClusterClientConfig(string) (*tls.Config, error) { return nil, nil }

// GetExpiringCerts: none expires while a process lives.
func (a *access) GetExpiringCerts(time.Duration) (expiring, expired encryption.CertExpirationMap, err error) {
	return nil, nil, nil
}

// callerRights gives the admin role to who may call, and nothing to others.
type callerRights struct {
	want     string
	internal *x509.Certificate
}

var _ authorization.ClaimMapper = callerRights{}

// GetClaims never fails: who shows the wrong things has no claims.
func (m callerRights) GetClaims(info *authorization.AuthInfo) (*authorization.Claims, error) {
	nobody := &authorization.Claims{}
	if info == nil || info.TLSConnection == nil {
		return nobody, nil
	}
	issuer := verifiedIssuer(info.TLSConnection.State.VerifiedChains)
	switch {
	case issuer == nil:
		return nobody, nil
	case issuer.Equal(m.internal):
		return &authorization.Claims{Subject: "server", System: authorization.RoleAdmin, AuthType: "certificate"}, nil
	case subtle.ConstantTimeCompare([]byte(info.AuthToken), []byte(m.want)) == 1:
		return &authorization.Claims{Subject: "owner", System: authorization.RoleAdmin, AuthType: "token"}, nil
	default:
		return nobody, nil
	}
}

// verifiedIssuer is the authority that the client's certificate was traced to
// in the handshake, nil if it showed none.
func verifiedIssuer(chains [][]*x509.Certificate) *x509.Certificate {
	if len(chains) == 0 || len(chains[0]) < 2 {
		return nil
	}
	return chains[0][len(chains[0])-1]
}

// ownerOnly lets the owner of the data folder call everything, and everybody
// else nothing: unlike the default authorizer not even the health check and
// the system info.
type ownerOnly struct{}

var _ authorization.Authorizer = ownerOnly{}

// Authorize decides about one call.
func (ownerOnly) Authorize(_ context.Context, claims *authorization.Claims, _ *authorization.CallTarget) (authorization.Result, error) {
	if claims != nil && claims.System == authorization.RoleAdmin {
		return authorization.Result{Decision: authorization.DecisionAllow}, nil
	}
	return authorization.Result{Decision: authorization.DecisionDeny}, nil
}

func (a *access) claimMapper(t token) func(*config.Config) authorization.ClaimMapper {
	return func(*config.Config) authorization.ClaimMapper {
		return callerRights{want: t.header(), internal: a.internal.cert}
	}
}
