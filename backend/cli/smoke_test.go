package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// openAI is a model with a collector of traces beside it, as OpenAI has both.
type openAI struct {
	model *llmtest.Server
	url   string

	mu      sync.Mutex
	items   []map[string]any
	headers []http.Header
}

func newOpenAI(t *testing.T) *openAI {
	t.Helper()
	o := &openAI{model: llmtest.New(t)}
	to, err := url.Parse(strings.TrimSuffix(o.model.URL, "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	model := httputil.NewSingleHostReverseProxy(to)
	model.FlushInterval = -1
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces/ingest", o.ingest)
	mux.Handle("/", model)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	o.url = server.URL + "/v1"
	return o
}

func (o *openAI) ingest(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch struct {
		Data []map[string]any `json:"data"`
	}
	if err != nil || json.Unmarshal(body, &batch) != nil {
		http.Error(w, "not a batch", http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.items = append(o.items, batch.Data...)
	o.headers = append(o.headers, r.Header.Clone())
	w.WriteHeader(http.StatusNoContent)
}

// kinds are the kinds of the items that were sent, each once, in order.
func (o *openAI) kinds() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, item := range o.items {
		kind, _ := item["object"].(string)
		if data, ok := item["span_data"].(map[string]any); ok {
			kind, _ = data["type"].(string)
			if custom, ok := data["data"].(map[string]any); ok && kind == "custom" {
				kind, _ = custom["sdk_span_type"].(string)
				if kind == "" {
					name, _ := data["name"].(string)
					kind, _, _ = strings.Cut(name, ":") // of the engine
				}
			}
		}
		out = append(out, kind)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (o *openAI) env(trace ...string) []string {
	return append([]string{"OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL=" + o.url, "EXAMPLES_TEMPORAL_MODEL=gpt-5.4-mini"}, trace...)
}

func TestSmoke(t *testing.T) {
	greets := func(llmtest.Request) llmtest.Answer {
		answer := llmtest.Text("Hello there!")
		answer.Usage = &llmtest.Usage{Input: 12, Output: 3}
		return answer
	}
	own := []string{"agent", "generation", "task", "trace", "turn"}
	for name, c := range map[string]struct {
		trace []string
		kinds []string
	}{
		"traces by default":        {nil, own},
		"traces":                   {[]string{"EXAMPLES_TEMPORAL_TRACE=openai"}, own},
		"traces with the engine's": {[]string{"EXAMPLES_TEMPORAL_TRACE=openai_with_temporal_spans"}, []string{"agent", "generation", "task", "temporal", "trace", "turn"}},
		"no traces":                {[]string{"EXAMPLES_TEMPORAL_TRACE=none"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOpenAI(t)
			o.model.Handle(greets)
			a := newApp(t)
			a.without("EXAMPLES_TEMPORAL_TRACE")
			a.env = append(a.env, o.env(c.trace...)...)
			out := a.ok("smoke")
			if !strings.Contains(out, "Hello there!") || !strings.Contains(out, "model (openai) and local sandbox work together") {
				t.Errorf("it printed:\n%s", out)
			}
			if requests := o.model.Requests(); len(requests) != 1 || requests[0].API != "responses" || requests[0].Model != "gpt-5.4-mini" {
				t.Errorf("the model was asked %d times: %+v", len(requests), requests)
			}
			if got := o.kinds(); !slices.Equal(got, c.kinds) {
				t.Errorf("sent were %q, want %q", got, c.kinds)
			}
			for _, h := range o.headers {
				if h.Get("Authorization") != "Bearer not-a-key" || h.Get("OpenAI-Beta") != "traces=v1" {
					t.Errorf("headers %v", h)
				}
			}
			if c.kinds != nil && !o.counted() {
				t.Error("no generation tells its tokens")
			}
			if left := a.sessions(); len(left) != 0 {
				t.Errorf("it left sessions: %+v", left)
			}
		})
	}
}

// counted tells whether a generation, and nothing else, has its tokens.
func (o *openAI) counted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := false
	for _, item := range o.items {
		data, _ := item["span_data"].(map[string]any)
		usage, ok := data["usage"].(map[string]any)
		if !ok {
			continue
		}
		if data["type"] != "generation" || len(usage) != 2 || usage["input_tokens"] == nil || usage["output_tokens"] == nil {
			return false
		}
		found = true
	}
	return found
}

func TestSmokeThatFails(t *testing.T) {
	t.Run("an unknown way to trace", func(t *testing.T) {
		a := newApp(t)
		a.without("EXAMPLES_TEMPORAL_TRACE")
		a.env = append(a.env, "EXAMPLES_TEMPORAL_TRACE=all")
		r := a.run("smoke")
		for _, mode := range []string{"none", "openai", "openai_with_temporal_spans"} {
			if r.code != 2 || !strings.Contains(r.err, mode) {
				t.Errorf("%d %s, want %s named", r.code, r.err, mode)
			}
		}
	})
	t.Run("no greeting", func(t *testing.T) {
		o := newOpenAI(t)
		o.model.Handle(func(llmtest.Request) llmtest.Answer { return llmtest.Text("Good bye.") })
		a := newApp(t, o.env()...)
		if r := a.run("smoke"); r.code != 1 || !strings.Contains(r.err, "did not greet") {
			t.Errorf("%d %s", r.code, r.err)
		}
	})
	t.Run("a refused key", func(t *testing.T) {
		o := newOpenAI(t)
		o.model.RequireKey("another")
		a := newApp(t, o.env()...)
		if r := a.run("smoke"); r.code == 0 || !strings.Contains(r.err, "refused the key") || strings.Contains(r.err+r.out, "not-a-key") {
			t.Errorf("%d %s", r.code, r.err)
		}
	})
	t.Run("traces that nobody takes", func(t *testing.T) {
		model := llmtest.New(t) // which knows no traces
		model.Handle(func(llmtest.Request) llmtest.Answer { return llmtest.Text("Hello.") })
		a := newApp(t, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+model.URL)
		a.without("EXAMPLES_TEMPORAL_TRACE")
		a.ok("smoke")
	})
	t.Run("no key", func(t *testing.T) {
		if out := newApp(t).ok("smoke"); !strings.Contains(out, "model (demo)") {
			t.Errorf("it printed:\n%s", out)
		}
	})
}

func TestDoctor(t *testing.T) {
	o := newOpenAI(t)
	a := newApp(t, o.env()...)
	a.without("DISPLAY", "WAYLAND_DISPLAY")
	a.env = append(a.env, "DISPLAY=:64001")
	checks := func() map[string]protocol.Check {
		t.Helper()
		var list []protocol.Check
		if err := json.Unmarshal([]byte(a.ok("doctor", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		byName := map[string]protocol.Check{}
		for _, c := range list {
			if c.Text == "" {
				t.Errorf("%s says nothing", c.Name)
			}
			byName[c.Name] = c
		}
		return byName
	}
	got := checks()
	for _, name := range []string{"engine", "store", "shell", "backend local"} {
		if c := got[name]; !c.OK || !c.Needed {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, name := range []string{"model openai", "model demo", "data folder"} {
		if !got[name].OK {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	if c := got["window"]; c.OK || c.Needed || !strings.Contains(c.Text, ":64001") || c.Remedy == "" {
		t.Errorf("a dead display: %+v", c)
	}
	if c := got["backend docker"]; c.OK {
		t.Errorf("docker is not there yet: %+v", c)
	}

	a.without("OPENAI_API_KEY", "OPENAI_BASE_URL")
	if c := checks()["model openai"]; c.OK || c.Remedy == "" {
		t.Errorf("without a key: %+v", c)
	}
	if out := a.ok("doctor"); !strings.Contains(out, "ok  engine") || !strings.Contains(out, "--  window") || strings.Contains(out, "BAD") {
		t.Errorf("it printed:\n%s", out)
	}
}
