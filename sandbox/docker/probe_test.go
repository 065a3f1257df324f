package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// engine answers as a Docker engine does (API 1.51) what the probe asks.
func engine(t *testing.T, osType string) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/_ping", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("API-Version", "1.51")
		w.Header().Set("OSType", osType)
		fmt.Fprint(w, "OK")
	})
	mux.HandleFunc("/v1.51/version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"Platform":{"Name":"Docker Engine - Community"},"Version":"28.5.2","ApiVersion":"1.51","MinAPIVersion":"1.24","Os":%q,"Arch":"amd64"}`, osType)
	})
	return mux
}

// listen serves on a socket in a folder with a short name: those of sockets are
// limited.
func listen(t *testing.T, handler http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "eng")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "docker.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return socket
}

// at is an environment with these variables and sockets.
func at(home string, vars map[string]string, sockets ...string) environment {
	return environment{getenv: func(name string) string { return vars[name] }, home: home, sockets: sockets}
}

// withContext makes a home whose docker command uses a context.
func withContext(t *testing.T, name, host string) string {
	t.Helper()
	home := t.TempDir()
	sum := sha256.Sum256([]byte(name))
	dir := filepath.Join(home, ".docker", "contexts", "meta", hex.EncodeToString(sum[:]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path string, value any) {
		data, err := json.Marshal(value)
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	type hosts struct{ Host string }
	write(filepath.Join(dir, "meta.json"), struct {
		Name      string
		Endpoints map[string]hosts
	}{name, map[string]hosts{"docker": {host}}})
	write(filepath.Join(home, ".docker", "config.json"), map[string]string{"currentContext": name})
	return home
}

func TestProbeFindsTheEngine(t *testing.T) {
	socket := listen(t, engine(t, "linux"))
	server := httptest.NewServer(engine(t, "linux"))
	defer server.Close()
	none := filepath.Join(t.TempDir(), "none.sock")
	home := withContext(t, "work", "unix://"+socket)
	for what, e := range map[string]environment{
		"DOCKER_HOST":                  at("", map[string]string{"DOCKER_HOST": "unix://" + socket}, none),
		"DOCKER_HOST over TCP":         at("", map[string]string{"DOCKER_HOST": strings.Replace(server.URL, "http", "tcp", 1)}),
		"the current context":          at(home, nil, none),
		"DOCKER_CONTEXT":               at("", map[string]string{"DOCKER_CONTEXT": "work", "DOCKER_CONFIG": home + "/.docker"}, none),
		"DOCKER_HOST before a context": at(withContext(t, "other", "unix://"+none), map[string]string{"DOCKER_HOST": "unix://" + socket}),
		"the default context":          at(withContext(t, "default", "unix://"+none), nil, socket),
		"the second of the sockets":    at(t.TempDir(), nil, none, socket),
	} {
		got := e.probe(t.Context())
		if !got.OK || !got.Confined || got.Version != "28.5.2 (Docker Engine - Community, API 1.51, linux/amd64)" {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func TestProbeOverTLS(t *testing.T) {
	server := httptest.NewTLSServer(engine(t, "linux"))
	defer server.Close()
	host := strings.Replace(server.URL, "https", "tcp", 1)
	certs := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(certs, "ca.pem"), ca, 0o644); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"DOCKER_HOST": host, "DOCKER_CERT_PATH": certs, "DOCKER_TLS_VERIFY": "1"}
	if got := at("", vars).probe(t.Context()); !got.OK {
		t.Errorf("with its certificate: %+v", got)
	}
	vars["DOCKER_CERT_PATH"] = t.TempDir()
	if got := at("", vars).probe(t.Context()); got.OK {
		t.Errorf("with a certificate that nobody vouches for: %+v", got)
	}
	vars["DOCKER_TLS_VERIFY"] = ""
	if got := at("", vars).probe(t.Context()); !got.OK {
		t.Errorf("without verification, as the user wished: %+v", got)
	}
}

func TestProbeSaysWhyNot(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.sock")
	// A socket on which nobody listens any more.
	dead := listen(t, engine(t, "linux"))
	l, err := net.Listen("unix", dead+"2")
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	stuck := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	badHome := withContext(t, "x", "")
	brokenHome := t.TempDir()
	if err := os.MkdirAll(brokenHome+"/.docker", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(brokenHome+"/.docker/config.json", []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		e      environment
		reason string
		remedy string
	}{
		"nothing":          {at(t.TempDir(), nil, none), "No Docker engine was found", "Install Docker"},
		"no such socket":   {at("", map[string]string{"DOCKER_HOST": "unix://" + none}), "There is no Docker engine at unix://" + none + ", which DOCKER_HOST names", "Start it"},
		"not running":      {at("", nil, none, dead+"2"), "does not run", "Start it"},
		"TCP, not running": {at("", map[string]string{"DOCKER_HOST": "tcp://127.0.0.1:1"}), "does not run", "Start it"},
		"stuck":            {at("", nil, stuck), "does not answer", "docker info"},
		"Windows":          {at("", nil, listen(t, engine(t, "windows"))), "runs windows containers", "Switch"},
		"SSH":              {at("", map[string]string{"DOCKER_HOST": "ssh://somewhere"}), "reached by SSH", "Forward"},
		"nonsense":         {at("", map[string]string{"DOCKER_HOST": "nonsense"}), "can't be used", "Correct it"},
		"empty context":    {at(badHome, nil), "names no engine", "DOCKER_HOST"},
		"missing context":  {at(badHome, map[string]string{"DOCKER_CONTEXT": "nowhere"}), "\"nowhere\" can't be read", "DOCKER_HOST"},
		"broken settings":  {at(brokenHome, nil), "config.json", "DOCKER_HOST"},
		"not an engine":    {at("", nil, listen(t, http.NotFoundHandler())), "can't be used", "docker info"},
	} {
		t.Run(what, func(t *testing.T) {
			began := time.Now()
			got := c.e.probe(t.Context())
			if got.OK || !strings.Contains(got.Reason, c.reason) || !strings.Contains(got.Remedy, c.remedy) {
				t.Errorf("%+v, want a reason with %q and a remedy with %q", got, c.reason, c.remedy)
			}
			if took := time.Since(began); took > probeTime+2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestRefusedForLackOfRights(t *testing.T) {
	socket := listen(t, engine(t, "linux"))
	err := &net.OpError{Op: "dial", Net: "unix", Err: &os.SyscallError{Syscall: "connect", Err: syscall.EACCES}}
	got, there := endpoint{host: "unix://" + socket}.refused(t.Context(), err)
	if !there || got.OK || !strings.Contains(got.Reason, "may not use") || !strings.Contains(got.Remedy, "usermod -aG docker") {
		t.Errorf("%+v, %v", got, there)
	}
}
