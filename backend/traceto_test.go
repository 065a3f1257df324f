package backend_test

import (
	"testing"

	"temporal-sandbox-agent/backend"
)

// The window must not say that OpenAI gets traces that go elsewhere, and asks
// only where there is a dashboard to look at.
func TestWhoGetsTraces(t *testing.T) {
	for _, c := range []struct {
		base, to string
		ask      bool
	}{
		{"", "OpenAI", true},
		{"https://api.openai.com/v1", "OpenAI", true},
		{"https://gateway.example:8443/v1", "gateway.example:8443", false},
		{"http://localhost:1/v1", "localhost:1", false},
	} {
		t.Setenv("OPENAI_API_KEY", "not-a-key")
		t.Setenv("OPENAI_BASE_URL", c.base)
		t.Setenv("EXAMPLES_TEMPORAL_TRACE", "")
		b, err := backend.New(t.Context(), backend.Config{DataDir: t.TempDir(), Version: "test", StoreOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		boot, err := b.Boot(t.Context())
		if err != nil || boot.TraceTo != c.to || boot.AskTrace != c.ask {
			t.Errorf("%q: to %q, asked %v, %v", c.base, boot.TraceTo, boot.AskTrace, err)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
