package llm

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"temporal-sandbox-agent/backend/protocol"
)

// testProbe is generous: these machines may be busy.
const testProbe = 10 * time.Second

// box serves fixed documents by path, as one of the local servers does.
func box(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if r.URL.Path == "/api/show" {
			var ask struct{ Model string }
			_ = json.NewDecoder(r.Body).Decode(&ask)
			body, ok = pages["show "+ask.Model]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func ollamaPages() map[string]string {
	return map[string]string{
		"/v1/models":    `{"object":"list","data":[{"id":"nomic-embed-text:latest","object":"model","created":1,"owned_by":"library"},{"id":"gemma:2b","object":"model"},{"id":"bge:latest","object":"model"},{"id":"qwen3:8b","object":"model"},{"id":"llava:7b","object":"model"}]}`,
		"/api/version":  `{"version":"0.17.7"}`,
		"/api/ps":       `{"models":[{"name":"qwen3:8b","model":"qwen3:8b","context_length":8192}]}`,
		"show gemma:2b": `{"capabilities":["completion"]}`, "show bge:latest": `{"capabilities":["embedding"]}`,
		"show qwen3:8b": `{"capabilities":["completion","tools","thinking"]}`, "show llava:7b": `{"capabilities":["completion","vision","tools"]}`,
	}
}

func TestDiscover(t *testing.T) {
	none, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + none.Addr().String()
	_ = none.Close()
	lmStudio := box(t, map[string]string{
		"/v1/models":     `{"object":"list","data":[{"id":"qwen/qwen3-8b"},{"id":"vl"},{"id":"text-embedding-nomic"}]}`,
		"/api/v0/models": `{"object":"list","data":[{"id":"qwen/qwen3-8b","type":"llm","state":"loaded","max_context_length":32768,"loaded_context_length":4096},{"id":"vl","type":"vlm","max_context_length":8192},{"id":"text-embedding-nomic","type":"embeddings"}]}`,
	})
	llama := box(t, map[string]string{
		"/v1/models": `{"object":"list","data":[{"id":"/models/q.gguf","object":"model","created":1700000000,"owned_by":"llamacpp","meta":{"n_ctx_train":40960}}]}`,
		"/props":     `{"default_generation_settings":{"n_ctx":16384},"modalities":{"vision":true}}`,
	})
	vllm := box(t, map[string]string{
		"/v1/models": `{"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm","max_model_len":4096}]}`,
	})
	other := box(t, map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gpt-5"}]}`})
	empty := box(t, map[string]string{"/v1/models": `{"object":"list","data":null}`, "/api/version": `{"version":"0.1"}`})
	website := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html><title>My site</title></html>")
	}))
	defer website.Close()
	otherAPI := box(t, map[string]string{"/v1/models": `{"cars":[1,2]}`})
	port := func(s *httptest.Server) string { return s.URL[strings.LastIndex(s.URL, ":")+1:] }

	targets := []Target{
		{"ollama", "Ollama", box(t, ollamaPages()).URL, FlavorOllama},
		{"none", "None", nobody, ""},
		{"lmstudio", "LM Studio", lmStudio.URL, FlavorLMStudio},
		{"llamacpp", "llama.cpp", llama.URL, FlavorLlamaCpp},
		{"vllm", "vLLM", vllm.URL, FlavorVLLM},
		{"a", "llama.cpp", other.URL, FlavorLlamaCpp},
		{"b", "vLLM", llama.URL, FlavorVLLM}, // another program on the usual port
		{"c", "Ollama", empty.URL, FlavorOllama},
		{"d", "", website.URL, ""},
		{"e", "", otherAPI.URL, ""},
	}
	type hit struct {
		Name, Label string
		Flavor      Flavor
		Models      []protocol.ModelInfo
	}
	var got []hit
	for _, f := range discover(t.Context(), newClient(nil), targets, testProbe) {
		if !f.endpoint.Local || !strings.HasSuffix(f.endpoint.BaseURL, "/v1") {
			t.Errorf("endpoint %+v", f.endpoint)
		}
		got = append(got, hit{f.endpoint.Name, f.endpoint.Label, f.endpoint.Flavor, f.models})
	}
	llamaModel := protocol.ModelInfo{ID: "/models/q.gguf", Window: 16384, Images: true}
	want := []hit{
		{"ollama", "Ollama", FlavorOllama, []protocol.ModelInfo{{ID: "qwen3:8b", Window: 8192}, {ID: "llava:7b", Images: true}, {ID: "gemma:2b"}}},
		{"lmstudio", "LM Studio", FlavorLMStudio, []protocol.ModelInfo{{ID: "qwen/qwen3-8b", Window: 4096}, {ID: "vl", Window: 8192, Images: true}}},
		{"llamacpp", "llama.cpp", FlavorLlamaCpp, []protocol.ModelInfo{llamaModel}},
		{"vllm", "vLLM", FlavorVLLM, []protocol.ModelInfo{{ID: "m", Window: 4096}}},
		{"a", "Local server on port " + port(other), "", []protocol.ModelInfo{{ID: "gpt-5", Efforts: []string{"minimal", "low", "medium", "high"}, Images: true}}},
		{"b", "llama.cpp", FlavorLlamaCpp, []protocol.ModelInfo{llamaModel}},
		{"c", "Ollama", FlavorOllama, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A program that takes the connection and says nothing holds nobody up.
func TestDiscoverDoesNotWait(t *testing.T) {
	address, asked := deaf(t)
	within(t, 10*time.Second, func() {
		if hits := discover(t.Context(), newClient(nil), []Target{{"f", "", address, ""}}, 50*time.Millisecond); len(hits) != 0 {
			t.Errorf("found %+v", hits)
		}
	})
	if asked.Load() == 0 {
		t.Error("it was not asked")
	}
}

func TestUsualTargetsAreLoopback(t *testing.T) {
	names := map[string]bool{ProviderOpenAI: true, ProviderDemo: true}
	for _, target := range UsualTargets() {
		if !strings.HasPrefix(target.Root, "http://127.0.0.1:") || names[target.Name] {
			t.Errorf("%+v", target)
		}
		names[target.Name] = true
	}
}

func TestParseModels(t *testing.T) {
	for in, want := range map[string]string{
		`{"data":[{"id":"a","created":"yesterday"},{"id":""},{"name":"b"}]}`: "a b",
		`{"models":[{"name":"m"}]}`: "m",
		`[{"id":"x"}]`:              "x",
		`{"data":[]}`:               "",
		`{"data":[{"id":"or/m","name":"Maker: M","context_length":131072,"architecture":{"input_modalities":["text","image"]},"created":1.7e9}]}`: "or/m",
	} {
		all, err := parseModels([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		var ids []string
		for _, m := range all {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
		if want == "or/m" {
			if info := all[0].info(modelInfo("or/m")); info.Label != "Maker: M" || info.Window != 131072 || !info.Images || all[0].made() != 1_700_000_000 {
				t.Errorf("%+v made %d", info, all[0].made())
			}
		}
	}
	for _, in := range []string{"", "<html>", `{"data":`, `"x"`} {
		if _, err := parseModels([]byte(in)); err == nil {
			t.Errorf("%q is read", in)
		}
	}
}

// newCounting stands before a server and counts the listings of models.
func newCounting(t *testing.T, target string, count *atomic.Int32) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			count.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
