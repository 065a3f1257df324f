package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The embedded engine is a cluster like any other to who has its address, its
// certificates and, as API key, its token.
func TestDialCluster(t *testing.T) {
	e := testEngine(t, t.TempDir())
	creds := e.file.Credentials
	env := []string{
		"TEMPORAL_ADDRESS=" + e.link.address,
		"TEMPORAL_API_KEY=" + string(e.link.token),
		"TEMPORAL_TLS_SERVER_CA_CERT_DATA=" + creds.CA,
		"TEMPORAL_TLS_CLIENT_CERT_DATA=" + creds.Cert,
		"TEMPORAL_TLS_CLIENT_KEY_DATA=" + creds.Key,
		"TEMPORAL_CONFIG_FILE=" + filepath.Join(t.TempDir(), "none.toml"),
	}

	t.Run("by variables", func(t *testing.T) {
		c, err := DialCluster(t.Context(), ClusterOptions{Environ: env})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.Address != e.link.address || c.Namespace != DefaultNamespace {
			t.Errorf("%+v", c)
		}
		w, err := StartWorker(c.Client, registerTestWork, WorkerOptions{TaskQueue: testQueue})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if got := result(t, start(t, c.Client, "chain", "Chain", 2), 10*time.Second); got != "echo" {
			t.Errorf("got %q", got)
		}
	})

	t.Run("by file and profile", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "temporal.toml")
		key := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(key, []byte(creds.Key), 0o600); err != nil {
			t.Fatal(err)
		}
		toml := `[profile.mine]
address = "` + e.link.address + `"
namespace = "elsewhere"
api_key = "` + string(e.link.token) + `"
[profile.mine.tls]
server_ca_cert_data = """` + creds.CA + `"""
client_cert_data = """` + creds.Cert + `"""
client_key_data = """` + creds.Key + `"""
`
		if err := os.WriteFile(file, []byte(toml), 0o600); err != nil {
			t.Fatal(err)
		}
		o := ClusterOptions{ConfigFile: file, Profile: "mine", Environ: []string{}}
		_, err := DialCluster(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), `no namespace "elsewhere"`) {
			t.Errorf("a namespace that is not there: %v", err)
		}
		o.Namespace = DefaultNamespace
		c, err := DialCluster(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	})

	t.Run("without a key", func(t *testing.T) {
		bare := append([]string{}, env...)
		bare[1] = "TEMPORAL_API_KEY="
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if c, err := DialCluster(ctx, ClusterOptions{Environ: bare}); err == nil {
			c.Close()
			t.Error("connected")
		}
	})

	t.Run("nobody there", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := DialCluster(ctx, ClusterOptions{Address: address(1), Environ: []string{}})
		if err == nil || !strings.Contains(err.Error(), address(1)) {
			t.Errorf("got %v, want an error that names the address", err)
		}
	})
}
