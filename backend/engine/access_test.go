package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/api/adminservice/v1"
	"go.temporal.io/server/api/historyservice/v1"
	"go.temporal.io/server/api/matchingservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpccreds "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
)

// calls are one of each service that the ports serve, with what a client that
// got through would learn.
func calls(ctx context.Context, conn *grpc.ClientConn) map[string]error {
	out := map[string]error{}
	wf := workflowservice.NewWorkflowServiceClient(conn)
	_, out["GetSystemInfo"] = wf.GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	_, out["DescribeNamespace"] = wf.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: DefaultNamespace})
	_, out["ListWorkflow"] = wf.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: DefaultNamespace})
	_, out["ListSearchAttributes"] = operatorservice.NewOperatorServiceClient(conn).ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: DefaultNamespace})
	_, out["DescribeCluster"] = adminservice.NewAdminServiceClient(conn).DescribeCluster(ctx, &adminservice.DescribeClusterRequest{})
	_, out["Health"] = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err == nil {
		_ = stream.Send(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
		})
		_, err = stream.Recv()
	}
	out["Reflection"] = err
	return out
}

// connect is a plain gRPC client; a nil config is one without TLS.
func connect(t *testing.T, addr string, config *tls.Config) *grpc.ClientConn {
	t.Helper()
	creds := insecure.NewCredentials()
	if config != nil {
		creds = grpccreds.NewTLS(config)
	}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestFrontendDeniesWhoIsNotTheOwner(t *testing.T) {
	e := testEngine(t, t.TempDir())
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(e.file.Credentials.CA))
	trusting := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
	right := e.link.token.header()
	foreign := foreignCertificate(t)

	for name, c := range map[string]struct {
		config *tls.Config
		token  string
	}{
		"nothing":                      {config: trusting},
		"certificate, no token":        {config: e.link.tls},
		"certificate, wrong token":     {config: e.link.tls, token: "Bearer " + strings.Repeat("0", 64)},
		"certificate, cut token":       {config: e.link.tls, token: right[:len(right)-1]},
		"certificate, longer token":    {config: e.link.tls, token: right + "0"},
		"certificate, no bearer":       {config: e.link.tls, token: strings.TrimPrefix(right, "Bearer ")},
		"certificate, empty bearer":    {config: e.link.tls, token: "Bearer "},
		"token, no certificate":        {config: trusting, token: right},
		"token, not looking at the CA": {config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}, token: right}, // an attacker would
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if c.token != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", c.token)
			}
			for call, err := range calls(ctx, connect(t, e.link.address, c.config)) {
				if status.Code(err) != codes.PermissionDenied {
					t.Errorf("%s: got %v, want PermissionDenied", call, err)
				}
			}
		})
	}

	t.Run("a certificate of another start", func(t *testing.T) {
		config := trusting.Clone()
		config.Certificates = []tls.Certificate{foreign}
		assertNoConnection(t, e.link.address, config, right)
	})
	t.Run("no TLS", func(t *testing.T) { assertNoConnection(t, e.link.address, nil, right) })
	t.Run("the owner", func(t *testing.T) {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", right)
		for call, err := range calls(ctx, connect(t, e.link.address, e.link.tls)) {
			want := codes.OK
			if call == "Reflection" {
				want = codes.PermissionDenied // streams are served to nobody
			}
			if status.Code(err) != want {
				t.Errorf("%s: got %v, want %s", call, err, want)
			}
		}
	})
}

// foreignCertificate is a client certificate of another engine.
func foreignCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	other, err := newAccess()
	if err != nil {
		t.Fatal(err)
	}
	config, err := other.frontClient.tlsConfig()
	if err != nil {
		t.Fatal(err)
	}
	return config.Certificates[0]
}

// assertNoConnection: not even the handshake succeeds, so that no call can.
func assertNoConnection(t *testing.T, addr string, config *tls.Config, token string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", token)
	for call, err := range calls(ctx, connect(t, addr, config)) {
		if status.Code(err) != codes.Unavailable {
			t.Errorf("%s: got %v, want Unavailable", call, err)
		}
	}
}

func TestInternalPortsAreClosedToEverybody(t *testing.T) {
	e := testEngine(t, t.TempDir())
	right := e.link.token.header()
	withOwn := e.link.tls.Clone()
	withOwn.InsecureSkipVerify = true // an attacker would
	for name, config := range map[string]*tls.Config{
		"no TLS":                         nil,
		"no certificate":                 {InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}, // as above
		"the front end's certificate":    withOwn,
		"a certificate of another start": {InsecureSkipVerify: true, Certificates: []tls.Certificate{foreignCertificate(t)}, MinVersion: tls.VersionTLS13}, // as above
	} {
		t.Run(name, func(t *testing.T) {
			for _, port := range []int{e.server.ports.history, e.server.ports.matching} {
				assertNoConnection(t, address(port), config, right)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := historyservice.NewHistoryServiceClient(connect(t, address(e.server.ports.history), config)).
				DescribeHistoryHost(ctx, &historyservice.DescribeHistoryHostRequest{})
			if status.Code(err) != codes.Unavailable {
				t.Errorf("history: got %v, want Unavailable", err)
			}
			_, err = matchingservice.NewMatchingServiceClient(connect(t, address(e.server.ports.matching), config)).
				ListTaskQueuePartitions(ctx, &matchingservice.ListTaskQueuePartitionsRequest{})
			if status.Code(err) != codes.Unavailable {
				t.Errorf("matching: got %v, want Unavailable", err)
			}
		})
	}
}

func TestSecretsStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	e := testEngine(t, dir)
	secret := string(e.link.token)
	for _, arg := range os.Args {
		if strings.Contains(arg, secret) {
			t.Error("the token is in the arguments")
		}
	}
	fi, err := os.Stat(e.paths.dir)
	if err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v, want 0700", fi.Mode(), err)
	}
	err = filepath.WalkDir(e.paths.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), databaseName) {
			return err // closing the database's file would drop SQLite's locks on it
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(b), secret) != (path == e.paths.token()) {
			t.Errorf("%s: the token must be in the token's file and nowhere else", path)
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, want 0600", path, fi.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTokenIsKeptAndMended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	first, err := ensureToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ensureToken(path); err != nil || again != first {
		t.Errorf("the second start has another token (%v)", err)
	}
	if err := os.WriteFile(path, []byte(first[:10]), 0o644); err != nil { // too open on purpose
		t.Fatal(err)
	}
	mended, err := ensureToken(path)
	if err != nil || len(mended) != 2*tokenBytes || mended == first {
		t.Errorf("a cut token was not replaced: %v", err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v %v, want 0600", fi.Mode(), err)
	}
}
