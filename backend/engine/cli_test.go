package engine

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// temporalCLI is Temporal's own command line: a second party that knows
// nothing of us. `make test` builds it and names it in TSA_TEMPORAL.
func temporalCLI(t *testing.T) string {
	t.Helper()
	cli := os.Getenv("TSA_TEMPORAL")
	if _, err := os.Stat(cli); err != nil {
		if os.Getenv("TSA_REQUIRE_ALL") != "" {
			t.Fatalf("no Temporal CLI: %v", err)
		}
		t.Skip("no Temporal CLI: TSA_TEMPORAL names none")
	}
	return cli
}

// bareEnv is an environment without any of the user's settings for Temporal.
func bareEnv(t *testing.T, more ...string) []string {
	home := t.TempDir()
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TEMPORAL_CONFIG_FILE=" + filepath.Join(home, "none.toml"),
	}, more...)
}

// A development server that the CLI runs is a cluster to us.
func TestDialServerOfTheCLI(t *testing.T) {
	cli := temporalCLI(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	env := bareEnv(t)
	server := exec.Command(cli, "server", "start-dev", "--headless", "--ip", host, "--port", port, "--log-level", "error")
	server.Env, server.Stderr = env, os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})

	var c *Cluster
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		c, err = DialCluster(ctx, ClusterOptions{Address: net.JoinHostPort(host, port), Environ: env})
		cancel()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the CLI's server does not answer: %v", err)
		}
	}
	defer c.Close()
	w, err := StartWorker(c.Client, registerTestWork, WorkerOptions{TaskQueue: testQueue})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if got := result(t, start(t, c.Client, "chain", "Chain", 2), 30*time.Second); got != "echo" {
		t.Errorf("got %q", got)
	}
}

// The CLI reads our engine when it has the certificates and the token, and
// only then.
func TestCLIOnTheEmbeddedEngine(t *testing.T) {
	cli := temporalCLI(t)
	e := testEngine(t, t.TempDir())
	testWorker(t, e)
	if got := result(t, start(t, e.Client(), "seen-by-the-cli", "Chain", 1), 30*time.Second); got != "echo" {
		t.Fatalf("got %q", got)
	}
	creds := e.file.Credentials
	// In files: this release of the CLI can't take a CA as data from the environment.
	certificates := []string{"TEMPORAL_ADDRESS=" + e.link.address}
	for name, content := range map[string]string{"SERVER_CA_CERT": creds.CA, "CLIENT_CERT": creds.Cert, "CLIENT_KEY": creds.Key} {
		file := filepath.Join(t.TempDir(), "pem")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		certificates = append(certificates, "TEMPORAL_TLS_"+name+"_PATH="+file)
	}
	show := func(key string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, cli, "workflow", "show", "--workflow-id", "seen-by-the-cli", "--output", "json")
		cmd.Env = bareEnv(t, append(certificates, "TEMPORAL_API_KEY="+key)...)
		return cmd.CombinedOutput()
	}

	out, err := show(string(e.link.token))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var history struct {
		Events []struct {
			EventType string `json:"eventType"`
		} `json:"events"`
	}
	if err := json.Unmarshal(out, &history); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := len(history.Events); n == 0 || !strings.Contains(history.Events[n-1].EventType, "COMPLETED") {
		t.Errorf("want a history that ends completed, got\n%s", out)
	}

	for _, wrong := range []string{"", "wrong"} {
		if out, err := show(wrong); err == nil {
			t.Errorf("with the token %q it shows\n%s", wrong, out)
		} else if !strings.Contains(string(out), "unauthorized") {
			t.Errorf("with the token %q: %s", wrong, out)
		}
	}
}
