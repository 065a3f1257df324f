package backend_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"temporal-sandbox-agent/backend/config"
	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
)

// A compatible server that wants a key gets it, and nothing else does.
func TestEndpointWithAKey(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // no keyring
	p := start(t, stickyCache())
	const secret = "key-of-the-gateway-0123456789"
	gateway := llmtest.New(t)
	gateway.SetModels("big")
	gateway.RequireKey(secret)
	gateway.Handle(func(llmtest.Request) llmtest.Answer {
		return llmtest.Text("Hello from the gateway.")
	})

	endpoint := protocol.Endpoint{Name: "gateway", URL: gateway.URL}
	settings, err := p.SaveSettings(t.Context(), protocol.Settings{Endpoints: []protocol.Endpoint{endpoint}})
	p.must(err)
	if result := p.TestProvider(t.Context(), "gateway"); result.OK {
		t.Errorf("without the key: %+v", result)
	}
	name := keyOf(t, p, "gateway").Name
	p.must(p.SetKey(t.Context(), name, secret))
	if result := p.TestProvider(t.Context(), "gateway"); !result.OK {
		t.Errorf("with the key: %+v", result)
	}
	if key := keyOf(t, p, "gateway"); !key.Set || key.Value != "" || key.Where != "file" || !key.Secret {
		t.Errorf("the settings page is told %+v", key)
	}
	s, err := p.Sessions.Create(t.Context(), protocol.CreateRequest{
		Workspace: p.workspace, Options: protocol.Options{Provider: "gateway"},
		First: &protocol.SendRequest{ID: session.NewID(), Text: "hello"},
	})
	p.must(err)
	p.until(s.ID, "the answer", idle(1))
	if got := gateway.Last(); got.API != "chat" || got.Header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("the gateway was asked by %s with %q", got.API, got.Header.Get("Authorization"))
	}
	for _, r := range p.model.Requests() {
		if r.Header.Get("Authorization") == "Bearer "+secret {
			t.Error("OpenAI was given the key of the gateway")
		}
	}

	// A server of the same name elsewhere, and one that is added again, have none.
	moved := llmtest.New(t)
	settings.Endpoints = []protocol.Endpoint{{Name: "gateway", URL: moved.URL}}
	settings, err = p.SaveSettings(t.Context(), settings)
	p.must(err)
	if key := keyOf(t, p, "gateway"); key.Set {
		t.Errorf("the key went along to another server: %+v", key)
	}
	settings.Endpoints = []protocol.Endpoint{endpoint}
	_, err = p.SaveSettings(t.Context(), settings)
	p.must(err)
	if key := keyOf(t, p, "gateway"); key.Set {
		t.Errorf("the key outlived its server: %+v", key)
	}

	// While it is set it is in one file, and in no other.
	p.must(p.SetKey(t.Context(), name, secret))
	p.close()
	for _, path := range filesWith(t, p.data, secret) {
		if info, err := os.Stat(path); filepath.Base(path) != "keys.json" || err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key is in %s (%v)", path, err)
		}
	}
	p.open()
	p.must(p.DeleteKey(t.Context(), config.EndpointKey(endpoint)))
	if left := filesWith(t, p.data, secret); len(left) != 0 {
		t.Errorf("deleted, the key is still in %q", left)
	}
}

func keyOf(t *testing.T, p *product, endpoint string) protocol.KeyInfo {
	t.Helper()
	for _, key := range p.Keys(t.Context()) {
		if key.Endpoint == endpoint {
			return key
		}
	}
	t.Fatalf("there is no key of %s", endpoint)
	return protocol.KeyInfo{}
}

// filesWith are the files below a folder that hold a text.
func filesWith(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
