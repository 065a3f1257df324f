package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	grpccreds "google.golang.org/grpc/credentials"
)

// DefaultNamespace is where the workflows live unless Options say otherwise.
const DefaultNamespace = "default"

// WorkflowTaskTimeout is what workflows should be started with. It bounds how
// long a workflow stands still after a crash that hit it in the middle of a
// workflow task, if nobody calls Reap (stock: 10 s). Workflow tasks take
// milliseconds; a longer one is a fault.
const WorkflowTaskTimeout = 3 * time.Second

// How long a process of this machine may take: to accept a connection, which
// the system does for it, and to answer the first call, which takes its turn on
// a busy machine.
const (
	connectTime = 2 * time.Second
	answerTime  = 10 * time.Second
)

// link is how to reach an engine's front end, for either role.
type link struct {
	address   string
	namespace string
	tls       *tls.Config
	token     token
	identity  string
	log       *slog.Logger
}

// dial connects an SDK client and makes a first call, which proves that the
// address, the certificates and the token belong together.
func (l link) dial(ctx context.Context) (client.Client, error) {
	// The SDK waits for a server to appear; on one machine a closed port says
	// that there is none.
	conn, err := (&net.Dialer{Timeout: connectTime}).DialContext(ctx, "tcp", l.address)
	if err != nil {
		return nil, fmt.Errorf("connect to the engine: %w", err)
	}
	_ = conn.Close()
	c, err := client.DialContext(ctx, client.Options{
		HostPort:        l.address,
		Namespace:       l.namespace,
		Identity:        l.identity,
		HeadersProvider: l.token,
		Logger:          sdklog.NewStructuredLogger(l.log.With("part", "sdk")),
		ConnectionOptions: client.ConnectionOptions{
			TLS: l.tls,
			// Nothing is gained by compressing, or by asking whether a peer on
			// the same machine is still there.
			GrpcCompression:       &client.GrpcCompressionNone{},
			DisableKeepAliveCheck: true,
			GetSystemInfoTimeout:  answerTime,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the engine: %w", err)
	}
	return c, nil
}

// raw is a plain connection, for the calls that the SDK does not know. It
// connects at the first call.
func (l link) raw() (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(l.address,
		grpc.WithTransportCredentials(grpccreds.NewTLS(l.tls.Clone())),
		grpc.WithPerRPCCredentials(perCall{l.token}))
	if err != nil {
		return nil, fmt.Errorf("connect to the engine: %w", err)
	}
	return conn, nil
}

// perCall adds the token to the calls of a plain connection.
type perCall struct{ token token }

// GetRequestMetadata is the header of one call.
func (p perCall) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	return p.token.GetHeaders(ctx)
}

// RequireTransportSecurity keeps the token off plain connections.
func (perCall) RequireTransportSecurity() bool { return true }
