package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// Target is an address on this machine where a server of models usually is.
type Target struct {
	// Name is the name of the provider that is found there.
	Name string
	// Label is what it is called when the server does not show what it is.
	Label string
	// Root is the address without a path ("http://127.0.0.1:11434").
	Root string
	// Flavor is what usually serves there.
	Flavor Flavor
}

func (t Target) endpoint() Endpoint {
	return Endpoint{Name: t.Name, Label: t.Label, BaseURL: t.Root + "/v1", Local: true, Flavor: t.Flavor}
}

// UsualTargets are the addresses that the known servers listen on unless they
// are told otherwise.
func UsualTargets() []Target {
	return []Target{
		{"ollama", "Ollama", "http://127.0.0.1:11434", FlavorOllama},
		{"lmstudio", "LM Studio", "http://127.0.0.1:1234", FlavorLMStudio},
		{"llamacpp", "llama.cpp", "http://127.0.0.1:8080", FlavorLlamaCpp},
		{"vllm", "vLLM", "http://127.0.0.1:8000", FlavorVLLM},
	}
}

// defaultProbeWait is how long each address is given; on loopback a server
// that is there answers within milliseconds.
const defaultProbeWait = 300 * time.Millisecond

// found is a server that was found.
type found struct {
	endpoint Endpoint
	models   []protocol.ModelInfo
}

// discover asks all targets at once and returns those that serve models, in
// the order of the targets. It takes no longer than wait.
func discover(ctx context.Context, client *http.Client, targets []Target, wait time.Duration) []found {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	hits := make([]*found, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			if f, ok := probe(ctx, client, t); ok {
				hits[i] = &f
			}
		})
	}
	wg.Wait()
	var out []found
	for _, h := range hits {
		if h != nil {
			out = append(out, *h)
		}
	}
	return out
}

// probe tells whether a server of models is at a target. Other programs use
// these ports too: only a proper list of models counts.
func probe(ctx context.Context, client *http.Client, t Target) (found, bool) {
	ep := t.endpoint()
	r := remote{client: client, base: ep.BaseURL}
	body, err := r.get(ctx, r.url("models"))
	if err != nil || !looksLikeModels(body) {
		return found{}, false
	}
	ep.Flavor = identify(ctx, r, t, body)
	if ep.Flavor != t.Flavor {
		u, err := url.Parse(t.Root)
		if err != nil {
			return found{}, false
		}
		ep.Label = flavorLabel(ep.Flavor, u.Port())
	}
	models, err := compatible{ep: ep, client: client}.list(ctx)
	if err != nil {
		return found{}, false
	}
	return found{ep, models}, true
}

func looksLikeModels(body []byte) bool {
	var l struct {
		Object string          `json:"object"`
		Data   json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &l) != nil {
		return false
	}
	data := bytes.TrimSpace(l.Data)
	// Ollama without models says null.
	return l.Object == "list" || (len(data) > 0 && data[0] == '[')
}

// identify tells the software by what only it answers.
func identify(ctx context.Context, r remote, t Target, models []byte) Flavor {
	switch {
	case bytes.Contains(models, []byte(`"owned_by":"llamacpp"`)):
		return FlavorLlamaCpp
	case bytes.Contains(models, []byte(`"max_model_len"`)), bytes.Contains(models, []byte(`"owned_by":"vllm"`)):
		return FlavorVLLM
	}
	if body, err := r.get(ctx, t.Root+"/api/version"); err == nil && bytes.Contains(body, []byte(`"version"`)) {
		return FlavorOllama
	}
	if body, err := r.get(ctx, t.Root+"/api/v0/models"); err == nil && looksLikeModels(body) {
		return FlavorLMStudio
	}
	if body, err := r.get(ctx, t.Root+"/props"); err == nil && bytes.Contains(body, []byte(`"default_generation_settings"`)) {
		return FlavorLlamaCpp
	}
	return ""
}

func flavorLabel(f Flavor, port string) string {
	switch f {
	case FlavorOllama:
		return "Ollama"
	case FlavorLMStudio:
		return "LM Studio"
	case FlavorLlamaCpp:
		return "llama.cpp"
	case FlavorVLLM:
		return "vLLM"
	default:
		return "Local server on port " + port
	}
}

// list reads the models of a server, with what its own interface adds to the
// common one.
func (p compatible) list(ctx context.Context) ([]protocol.ModelInfo, error) {
	r := p.remote()
	root := strings.TrimSuffix(strings.TrimRight(p.ep.BaseURL, "/"), "/v1")
	if p.ep.Flavor == FlavorLMStudio {
		// Its own list knows windows, images, and which models only embed.
		if body, err := r.get(ctx, root+"/api/v0/models"); err == nil && looksLikeModels(body) {
			return p.infos(body)
		}
	}
	body, err := r.get(ctx, r.url("models"))
	if err != nil {
		return nil, err
	}
	infos, err := p.infos(body)
	if err != nil {
		return nil, err
	}
	switch p.ep.Flavor {
	case FlavorOllama:
		return ollamaDetails(ctx, r, root, infos), nil
	case FlavorLlamaCpp:
		return llamaDetails(ctx, r, root, infos), nil
	default:
		return infos, nil
	}
}

func (p compatible) infos(body []byte) ([]protocol.ModelInfo, error) {
	all, err := parseModels(body)
	if err != nil {
		return nil, err
	}
	if p.ep.Local {
		all = forChat(all)
	}
	out := make([]protocol.ModelInfo, 0, len(all))
	for _, m := range all {
		k := modelInfo(m.ID)
		if p.ep.Local {
			k.Window = 0 // the server decides how much of it it gives
		}
		out = append(out, m.info(k))
	}
	return out, nil
}

// llamaDetails asks llama.cpp what its one model was started with.
func llamaDetails(ctx context.Context, r remote, root string, models []protocol.ModelInfo) []protocol.ModelInfo {
	var props struct {
		Settings struct {
			Ctx int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	body, err := r.get(ctx, root+"/props")
	if err != nil || json.Unmarshal(body, &props) != nil || len(models) != 1 {
		return models
	}
	models[0].Window = props.Settings.Ctx
	models[0].Images = models[0].Images || props.Modalities.Vision
	return models
}
