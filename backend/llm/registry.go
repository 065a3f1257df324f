package llm

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// Settings are what the user chose. They are read anew for each use, so that a
// new key works at once.
type Settings struct {
	OpenAI OpenAISettings
	// Provider and Model are the wanted defaults; empty chooses.
	Provider string
	Model    string
	// Endpoints are further compatible servers.
	Endpoints []Endpoint
}

// Config is what a Registry is made of.
type Config struct {
	// Settings must be quick and safe to call from anywhere.
	Settings func() Settings
	// Targets are searched for local servers; nil is UsualTargets, an empty
	// list is none.
	Targets []Target
	// ProbeWait is how long each of them is given; 0 is 300 ms.
	ProbeWait time.Duration
	Times     Timeouts
	// DemoPace is the demo's wait after each word; 0 is none.
	DemoPace time.Duration
	// Proxy chooses the proxy of a request; nil is that of the environment.
	Proxy func(*http.Request) (*url.URL, error)
}

// foundFor is how long found servers are believed in.
const foundFor = 5 * time.Second

// Registry knows the providers. Making one costs nothing and asks nobody.
type Registry struct {
	config Config
	client *http.Client
	mem    *memory

	mu      sync.Mutex
	found   []found
	foundAt time.Time
}

// NewRegistry makes the registry that the whole app shares.
func NewRegistry(c Config) *Registry {
	if c.Targets == nil {
		c.Targets = UsualTargets()
	}
	if c.ProbeWait <= 0 {
		c.ProbeWait = defaultProbeWait
	}
	return &Registry{config: c, client: newClient(c.Proxy), mem: newMemory()}
}

// Close gives up the open connections.
func (r *Registry) Close() { r.client.CloseIdleConnections() }

// Providers tells of all providers: OpenAI, the user's endpoints, the servers
// found on this machine, and the demo. It takes at most about 5 seconds.
func (r *Registry) Providers(ctx context.Context) []protocol.ProviderInfo {
	s := r.config.Settings()
	out := make([]protocol.ProviderInfo, 1+len(s.Endpoints), 8)
	var local []found
	var wg sync.WaitGroup
	for i, ep := range s.Endpoints {
		wg.Go(func() { out[1+i] = r.compatible(ep).Info(ctx) })
	}
	wg.Go(func() { local = r.discover(ctx) })
	out[0] = r.openAI(s).Info(ctx)
	wg.Wait()
	for _, f := range local {
		if !taken(s, f.endpoint) {
			out = append(out, f.info())
		}
	}
	return append(out, r.demo().Info(ctx))
}

// taken tells whether the user has made the same server an endpoint of theirs.
func taken(s Settings, ep Endpoint) bool {
	return slices.ContainsFunc(s.Endpoints, func(e Endpoint) bool {
		return e.Name == ep.Name || strings.TrimRight(e.BaseURL, "/") == ep.BaseURL
	})
}

func (f found) info() protocol.ProviderInfo {
	info := protocol.ProviderInfo{
		Name: f.endpoint.Name, Label: f.endpoint.Label, Kind: "compatible", BaseURL: f.endpoint.BaseURL,
		Local: true, Available: len(f.models) > 0, Models: f.models,
	}
	if info.Available {
		info.Default = f.models[0].ID
	} else {
		info.Reason, info.Remedy = info.Label+" has no model loaded", "Load a model in "+info.Label+"."
	}
	return info
}

// Provider returns a provider by its name, without asking it anything. The
// error is a *protocol.Fault.
func (r *Registry) Provider(name string) (Provider, error) {
	s := r.config.Settings()
	switch name {
	case ProviderOpenAI:
		return r.openAI(s), nil
	case ProviderDemo:
		return r.demo(), nil
	}
	for _, ep := range s.Endpoints {
		if ep.Name == name {
			return r.compatible(ep), nil
		}
	}
	for _, f := range r.lastFound() {
		if f.endpoint.Name == name {
			return r.compatible(f.endpoint), nil
		}
	}
	for _, t := range r.config.Targets {
		if t.Name == name {
			return r.compatible(t.endpoint()), nil
		}
	}
	return nil, &protocol.Fault{
		Class: protocol.ClassNotFound, Happened: "There is no provider " + quoted(name) + " any more",
		Remedy: "Choose another model.",
	}
}

// Open returns a model without asking anybody. The error is a *protocol.Fault.
func (r *Registry) Open(provider, model string) (Model, error) {
	p, err := r.Provider(provider)
	if err != nil {
		return nil, err
	}
	return p.Open(model), nil
}

// Resolve fills in what is empty: the default provider, and a provider's
// default model. The error is a *protocol.Fault.
func (r *Registry) Resolve(ctx context.Context, provider, model string) (string, string, error) {
	if provider == "" {
		defaultProvider, defaultModel := r.Default(ctx)
		switch {
		case model == "" || model == defaultModel:
			return defaultProvider, defaultModel, nil
		case defaultProvider != ProviderDemo:
			return defaultProvider, model, nil
		case chatName().MatchString(model):
			provider = ProviderOpenAI // which says that it needs a key
		default:
			return "", "", &protocol.Fault{
				Class: protocol.ClassNoModel, Happened: "There is no model " + quoted(model) + " here",
				Remedy: "Add a key or a server of models in the settings, or choose the demo.",
			}
		}
	}
	p, err := r.Provider(provider)
	if err != nil || model != "" {
		return provider, model, err
	}
	if model = r.firstModel(ctx, p); model == "" {
		info := p.Info(ctx)
		if info.Reason == "" {
			info.Reason, info.Remedy = info.Label+" lists no models", "Choose a model by its name."
		}
		return provider, "", &protocol.Fault{Class: protocol.ClassNoModel, Happened: info.Reason, Remedy: info.Remedy}
	}
	return provider, model, nil
}

// Default chooses who answers: the user's choice, else OpenAI when a key is
// set, else the user's own endpoints, else the first server on this machine
// that has a model, else the demo. With a choice or a key it asks nobody.
//
// The model that the environment wants is OpenAI's; another provider's default
// is not replaced by it unless nobody was chosen and its list has it.
func (r *Registry) Default(ctx context.Context) (provider, model string) {
	s := r.config.Settings()
	if p, err := r.Provider(s.Provider); err == nil {
		if s.Model != "" && s.Provider != ProviderDemo && (s.Provider != ProviderOpenAI || s.OpenAI.Model == "") {
			return s.Provider, s.Model
		}
		if m := r.firstModel(ctx, p); m != "" {
			return s.Provider, m
		}
	}
	if s.OpenAI.Key != "" {
		if s.Model != "" && s.OpenAI.Model == "" {
			return ProviderOpenAI, s.Model
		}
		return ProviderOpenAI, r.openAI(s).defaultModel()
	}
	for _, ep := range s.Endpoints {
		if m := r.firstModel(ctx, r.compatible(ep)); m != "" {
			return ep.Name, prefer(s, r.mem.list(ep.BaseURL), m)
		}
	}
	for _, f := range r.discover(ctx) {
		if len(f.models) > 0 {
			return f.endpoint.Name, prefer(s, f.models, f.models[0].ID)
		}
	}
	return ProviderDemo, DemoModel
}

// prefer is a wanted model where the list has it.
func prefer(s Settings, list []protocol.ModelInfo, otherwise string) string {
	for _, want := range []string{s.OpenAI.Model, s.Model} {
		if slices.ContainsFunc(list, func(m protocol.ModelInfo) bool { return m.ID == want }) {
			return want
		}
	}
	return otherwise
}

// firstModel is a provider's default, listing its models if it must; empty
// when it has none or does not answer.
func (r *Registry) firstModel(ctx context.Context, p Provider) string {
	var c compatible
	switch p := p.(type) {
	case openAI:
		return p.defaultModel()
	case demo:
		return DemoModel
	case compatible:
		c = p
	default:
		return ""
	}
	if list := r.mem.list(c.ep.BaseURL); len(list) > 0 {
		return list[0].ID
	}
	if list, err := p.Models(ctx); err == nil && len(list) > 0 {
		return list[0].ID
	}
	return ""
}

func (r *Registry) openAI(s Settings) openAI {
	return openAI{settings: s.OpenAI, client: r.client, times: r.config.Times, mem: r.mem}
}

func (r *Registry) compatible(ep Endpoint) compatible {
	ep.Local = ep.Local || isLoopback(ep.BaseURL)
	return compatible{ep: ep, client: r.client, times: r.config.Times, mem: r.mem}
}

// isLoopback tells whether an address is this machine's own.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func (r *Registry) demo() demo { return demo{pace: r.config.DemoPace} }

// discover finds the servers on this machine, or tells what was found a moment
// ago.
func (r *Registry) discover(ctx context.Context) []found {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.foundAt.IsZero() && time.Since(r.foundAt) < foundFor {
		return slices.Clone(r.found)
	}
	hits := discover(ctx, r.client, r.config.Targets, r.config.ProbeWait)
	if ctx.Err() != nil {
		return hits // cut short: not worth keeping
	}
	r.found, r.foundAt = hits, time.Now()
	for _, f := range hits {
		r.mem.setList(f.endpoint.BaseURL, f.models)
	}
	return slices.Clone(hits)
}

func (r *Registry) lastFound() []found {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.found)
}
