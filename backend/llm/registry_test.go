package llm

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

func registryOf(t *testing.T, s Settings, targets ...Target) *Registry {
	t.Helper()
	if targets == nil {
		targets = []Target{}
	}
	r := NewRegistry(Config{Settings: func() Settings { return s }, Targets: targets, ProbeWait: testProbe})
	t.Cleanup(r.Close)
	return r
}

// deaf is an address where connections are counted and never answered.
func deaf(t *testing.T) (address string, count *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	count = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return "http://" + l.Addr().String(), count
}

func TestDefaultWithAKeyAsksNobody(t *testing.T) {
	address, count := deaf(t)
	s := Settings{OpenAI: OpenAISettings{Key: testKey, BaseURL: address}}
	r := registryOf(t, s, Target{"ollama", "Ollama", address, FlavorOllama})
	within(t, 5*time.Second, func() {
		provider, model, err := r.Resolve(t.Context(), "", "")
		if provider != ProviderOpenAI || model != "gpt-5.4-mini" || err != nil {
			t.Errorf("got %s %s %v", provider, model, err)
		}
		if m, err := r.Open(provider, model); err != nil || m.Info().Window != 272_000 {
			t.Errorf("got %+v, %v", m, err)
		}
	})
	if count.Load() != 0 {
		t.Error("somebody was asked")
	}
}

func TestDefault(t *testing.T) {
	cloud := llmtest.New(t)
	cloud.SetModels("big", "small")
	full, bare := box(t, ollamaPages()), box(t, map[string]string{"/v1/models": `{"object":"list","data":[]}`})
	ollama := Target{"ollama", "Ollama", full.URL, FlavorOllama}
	nothing := Target{"empty", "Empty", bare.URL, FlavorVLLM}
	key := OpenAISettings{Key: testKey}
	wished := OpenAISettings{Key: testKey, Model: "gpt-x"}
	own := Endpoint{Name: "own", BaseURL: cloud.URL}
	for name, c := range map[string]struct {
		s               Settings
		targets         []Target
		provider, model string
	}{
		"nothing at all":               {Settings{}, nil, "demo", "demo"},
		"nothing, a model wished for":  {Settings{Model: "gpt-5"}, nil, "demo", "demo"},
		"a key":                        {Settings{OpenAI: key}, []Target{ollama}, "openai", "gpt-5.4-mini"},
		"a key and a model":            {Settings{OpenAI: key, Model: "gpt-5"}, []Target{ollama}, "openai", "gpt-5"},
		"a local server":               {Settings{}, []Target{nothing, ollama}, "ollama", "qwen3:8b"},
		"a local server and its model": {Settings{Model: "gemma:2b"}, []Target{ollama}, "ollama", "gemma:2b"},
		"a local server, other model":  {Settings{Model: "gpt-5"}, []Target{ollama}, "ollama", "qwen3:8b"},
		"a local server without any":   {Settings{}, []Target{nothing}, "demo", "demo"},
		"an endpoint of one's own":     {Settings{Endpoints: []Endpoint{own}}, []Target{ollama}, "own", "big"},
		"its model":                    {Settings{Endpoints: []Endpoint{own}, Model: "small"}, []Target{ollama}, "own", "small"},
		"a choice":                     {Settings{OpenAI: key, Provider: "own", Endpoints: []Endpoint{own}}, nil, "own", "big"},
		"a choice with a model":        {Settings{OpenAI: key, Provider: "own", Model: "any", Endpoints: []Endpoint{own}}, nil, "own", "any"},
		"the demo chosen":              {Settings{OpenAI: key, Provider: "demo", Model: "gpt-5"}, nil, "demo", "demo"},
		"the environment's model":      {Settings{OpenAI: wished, Model: "gpt-5"}, []Target{ollama}, "openai", "gpt-x"},
		"the same, openai chosen":      {Settings{OpenAI: wished, Provider: "openai", Model: "gpt-5"}, nil, "openai", "gpt-x"},
		"the same, another chosen":     {Settings{OpenAI: wished, Provider: "own", Endpoints: []Endpoint{own}}, nil, "own", "big"},
		"the same, its model chosen":   {Settings{OpenAI: wished, Provider: "own", Model: "small", Endpoints: []Endpoint{own}}, nil, "own", "small"},
		"the same, no key":             {Settings{OpenAI: OpenAISettings{Model: "gemma:2b"}}, []Target{ollama}, "ollama", "gemma:2b"},
		"the same, not there":          {Settings{OpenAI: OpenAISettings{Model: "gpt-x"}}, []Target{ollama}, "ollama", "qwen3:8b"},
		"the same, only the demo":      {Settings{OpenAI: OpenAISettings{Model: "gpt-x"}}, nil, "demo", "demo"},
		"openai chosen without a key":  {Settings{Provider: "openai"}, nil, "openai", "gpt-5.4-mini"},
		"a choice that is gone":        {Settings{OpenAI: key, Provider: "gone"}, nil, "openai", "gpt-5.4-mini"},
		"a choice that is down":        {Settings{OpenAI: key, Provider: "own", Endpoints: []Endpoint{{Name: "own", BaseURL: "http://127.0.0.1:1"}}}, nil, "openai", "gpt-5.4-mini"},
	} {
		t.Run(name, func(t *testing.T) {
			provider, model := registryOf(t, c.s, c.targets...).Default(t.Context())
			if provider != c.provider || model != c.model {
				t.Errorf("got %s %s, want %s %s", provider, model, c.provider, c.model)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	cloud := llmtest.New(t)
	cloud.SetModels("big")
	bare := box(t, map[string]string{"/v1/models": `{"object":"list","data":[]}`})
	s := Settings{Endpoints: []Endpoint{{Name: "own", BaseURL: cloud.URL}, {Name: "bare", Label: "Bare", BaseURL: bare.URL + "/v1"}}, Provider: "demo"}
	r := registryOf(t, s)
	wished := registryOf(t, Settings{OpenAI: OpenAISettings{Model: "gpt-x"}, Endpoints: s.Endpoints})
	for provider, want := range map[string]string{"openai": "gpt-x", "own": "big", "demo": "demo"} {
		if _, model, err := wished.Resolve(t.Context(), provider, ""); model != want || err != nil {
			t.Errorf("the environment's model: %s answers with %s, %v", provider, model, err)
		}
	}
	for _, c := range []struct {
		provider, model         string
		wantProvider, wantModel string
		class                   protocol.Class
	}{
		{"", "", "demo", "demo", ""},
		{"", "demo", "demo", "demo", ""},
		{"own", "", "own", "big", ""},
		{"own", "other", "own", "other", ""},
		{"openai", "", "openai", "gpt-5.4-mini", ""},
		{"", "gpt-5", "openai", "gpt-5", ""}, // whose first request says that a key is needed
		{"", "no-such", "", "", protocol.ClassNoModel},
		{"gone", "x", "", "", protocol.ClassNotFound},
		{"bare", "", "", "", protocol.ClassNoModel},
	} {
		provider, model, err := r.Resolve(t.Context(), c.provider, c.model)
		if c.class != "" {
			faultOf(t, err, c.class)
			continue
		}
		if provider != c.wantProvider || model != c.wantModel || err != nil {
			t.Errorf("%q %q: %s %s %v", c.provider, c.model, provider, model, err)
		}
	}
}

// The default follows what the endpoint is known to have.
func TestDefaultModelFollowsTheList(t *testing.T) {
	s := llmtest.New(t)
	s.SetModels("proxy-large", "proxy-small")
	r := registryOf(t, Settings{OpenAI: OpenAISettings{Key: testKey, BaseURL: s.URL}})
	p, err := r.Provider(ProviderOpenAI)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Info(t.Context()); got.Default != DefaultModel || got.Models != nil {
		t.Errorf("before the list: %+v", got)
	}
	models, err := p.Models(t.Context())
	if err != nil || len(models) != 2 {
		t.Fatalf("got %+v, %v", models, err)
	}
	if _, model := r.Default(t.Context()); model != "proxy-large" {
		t.Errorf("default %s", model)
	}
	s.SetModels("proxy-large", DefaultModel)
	if _, err := p.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, model := r.Default(t.Context()); model != DefaultModel {
		t.Errorf("default %s", model)
	}
}

func TestProviders(t *testing.T) {
	near := llmtest.New(t)
	ollama := Target{"ollama", "Ollama", box(t, ollamaPages()).URL, FlavorOllama}
	bare := Target{"lmstudio", "LM Studio", box(t, map[string]string{"/v1/models": `{"object":"list","data":[]}`, "/api/v0/models": `{"data":[]}`}).URL, FlavorLMStudio}
	s := Settings{Endpoints: []Endpoint{
		{Name: "own", Label: "Own", BaseURL: "http://no-such-host.invalid/v1", Key: testKey},
		{Name: "near", BaseURL: near.URL},
		{Name: "down", BaseURL: "http://127.0.0.1:1/v1"},
	}}
	r := registryOf(t, s, ollama, bare)
	var names []string
	for _, p := range r.Providers(t.Context()) {
		names = append(names, p.Name)
		switch p.Name {
		case "openai":
			if p.Kind != "openai" || p.Available || p.Reason != "No key is set" || p.Local || len(p.Models) < 3 || p.BaseURL != openAIBase {
				t.Errorf("%+v", p)
			}
		case "own":
			if p.Kind != "compatible" || !p.Available || p.Label != "Own" || p.Local {
				t.Errorf("%+v", p) // not asked: that is not cheap there
			}
		case "near":
			if !p.Available || !p.Local || p.Label != "near" || p.Default != DefaultModel || len(p.Models) != 1 {
				t.Errorf("%+v", p)
			}
		case "down":
			if p.Available || p.Reason != "down isn't running" || p.Remedy == "" {
				t.Errorf("%+v", p)
			}
		case "ollama":
			if p.Kind != "compatible" || !p.Available || !p.Local || p.Default != "qwen3:8b" || len(p.Models) != 3 {
				t.Errorf("%+v", p)
			}
		case "lmstudio":
			if p.Available || p.Reason != "LM Studio has no model loaded" || p.Remedy == "" {
				t.Errorf("%+v", p)
			}
		case "demo":
			if p.Kind != "demo" || !p.Available || !strings.Contains(p.Label, "no AI") || p.Default != "demo" {
				t.Errorf("%+v", p)
			}
		}
	}
	if want := []string{"openai", "own", "near", "down", "ollama", "lmstudio", "demo"}; !slices.Equal(names, want) {
		t.Errorf("names %v", names)
	}
	// A found server works under its name, with what was found of its models.
	m, err := r.Open("ollama", "qwen3:8b")
	if err != nil || m.Info().Window != 8192 {
		t.Errorf("got %+v, %v", m, err)
	}
}

// A server that the user has added is not offered twice.
func TestFoundServersGiveWay(t *testing.T) {
	ollama := Target{"ollama", "Ollama", box(t, ollamaPages()).URL, FlavorOllama}
	r := registryOf(t, Settings{Endpoints: []Endpoint{{Name: "mine", BaseURL: ollama.Root + "/v1/"}}}, ollama)
	for _, p := range r.Providers(t.Context()) {
		if p.Name == "ollama" {
			t.Errorf("offered: %+v", p)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080/v1": true, "http://localhost:1234": true, "http://[::1]:8000/v1": true, "http://127.9.9.9": true,
		"https://api.openai.com/v1": false, "http://10.0.0.1": false, "http://localhost.example": false, "::": false, "": false,
	} {
		if got := isLoopback(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// After a restart a session's provider is known without a search.
func TestProviderWithoutDiscovery(t *testing.T) {
	r := NewRegistry(Config{Settings: func() Settings { return Settings{} }})
	for _, target := range UsualTargets() {
		if _, err := r.Open(target.Name, "m"); err != nil {
			t.Errorf("%s: %v", target.Name, err)
		}
	}
	_, err := r.Provider("gone")
	faultOf(t, err, protocol.ClassNotFound)
}

func TestNewSettingsTakeEffectAtOnce(t *testing.T) {
	s := llmtest.New(t)
	s.RequireKey("second")
	var key atomic.Value
	key.Store("first")
	r := NewRegistry(Config{Targets: []Target{}, Settings: func() Settings {
		return Settings{OpenAI: OpenAISettings{Key: key.Load().(string), BaseURL: s.URL}}
	}})
	defer r.Close()
	open := func() Model {
		m, err := r.Open(ProviderOpenAI, DefaultModel)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	_, err := open().Stream(t.Context(), ask("hi"), func(Delta) {})
	faultOf(t, err, protocol.ClassBadKey)
	key.Store("second")
	stream(t, open(), ask("hi"))
}

func TestProxyIsHonoured(t *testing.T) {
	proxy := llmtest.New(t)
	r := NewRegistry(Config{
		Settings: func() Settings {
			return Settings{OpenAI: OpenAISettings{Key: testKey, BaseURL: "http://models.example/v1"}}
		},
		Targets: []Target{},
		Proxy:   func(*http.Request) (*url.URL, error) { return url.Parse(proxy.Root) },
	})
	defer r.Close()
	m, err := r.Open(ProviderOpenAI, DefaultModel)
	if err != nil {
		t.Fatal(err)
	}
	stream(t, m, ask("hi"))
	if len(proxy.Requests()) != 1 {
		t.Errorf("%d requests at the proxy", len(proxy.Requests()))
	}
}

// Discovery is shared by those who ask at once, and believed for a moment.
func TestDiscoveryIsCached(t *testing.T) {
	var asked atomic.Int32
	pages := ollamaPages()
	s := box(t, pages)
	front := newCounting(t, s.URL, &asked)
	r := registryOf(t, Settings{}, Target{"ollama", "Ollama", front, FlavorOllama})
	for range 5 {
		r.Default(t.Context())
	}
	r.Providers(t.Context())
	if n := asked.Load(); n != 2 { // once by the probe, once by its listing
		t.Errorf("%d listings", n)
	}
	// One that was cut short is not kept.
	r2 := registryOf(t, Settings{}, Target{"ollama", "Ollama", s.URL, FlavorOllama})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if p, _ := r2.Default(ended); p != ProviderDemo {
		t.Errorf("got %s", p)
	}
	if p, _ := r2.Default(t.Context()); p != "ollama" {
		t.Errorf("got %s", p)
	}
}
