package llm

import (
	"context"
	"errors"
	"net/http"

	"temporal-sandbox-agent/backend/protocol"
)

// Endpoint is a server that speaks Chat Completions as OpenAI defined them.
type Endpoint struct {
	// Name is the provider's name: unique, kept in sessions.
	Name string
	// Label is shown; empty is Name.
	Label string
	// BaseURL usually ends in /v1.
	BaseURL string
	Key     string
	// Local is true for servers on this machine: their tokens cost nothing. A
	// loopback address always is.
	Local bool
	// Flavor names the software, "" when it is not known.
	Flavor Flavor
}

// Flavor is the software of a server, where it tells more than the common API.
type Flavor string

// The flavors that are recognized.
const (
	FlavorOllama   Flavor = "ollama"
	FlavorLMStudio Flavor = "lmstudio"
	FlavorLlamaCpp Flavor = "llamacpp"
	FlavorVLLM     Flavor = "vllm"
)

// compatible is the provider that speaks Chat Completions.
type compatible struct {
	ep     Endpoint
	client *http.Client
	times  Timeouts
	mem    *memory
}

func (p compatible) label() string {
	if p.ep.Label != "" {
		return p.ep.Label
	}
	return p.ep.Name
}

func (p compatible) service(model string) service {
	return service{label: p.label(), baseURL: shownURL(p.ep.BaseURL), model: model, key: p.ep.Key, local: p.ep.Local}
}

func (p compatible) remote() remote {
	return remote{client: p.client, base: p.ep.BaseURL, key: p.ep.Key}
}

// Info lists the models only of servers on this machine; a list that was read
// before is told for others.
func (p compatible) Info(ctx context.Context) protocol.ProviderInfo {
	info := protocol.ProviderInfo{
		Name: p.ep.Name, Label: p.label(), Kind: "compatible", BaseURL: shownURL(p.ep.BaseURL),
		Local: p.ep.Local, Available: true, Models: p.mem.list(p.ep.BaseURL),
	}
	if p.ep.Local {
		models, err := p.Models(ctx)
		if err != nil {
			f := p.service("").fault(ctx, err)
			info.Available, info.Reason, info.Remedy, info.Models = false, f.Happened, f.Remedy, nil
		} else if info.Models = models; len(models) == 0 {
			info.Available, info.Reason, info.Remedy = false, p.label()+" has no model loaded", "Load a model in "+p.label()+"."
		}
	}
	if len(info.Models) > 0 {
		info.Default = info.Models[0].ID
	}
	return info
}

func (p compatible) Models(ctx context.Context) ([]protocol.ModelInfo, error) {
	limited, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	models, err := p.list(limited)
	if err != nil {
		return nil, p.service("").fault(ctx, err)
	}
	p.mem.setList(p.ep.BaseURL, models)
	return models, nil
}

func (p compatible) Open(model string) Model { return chatModel{p, model} }

// chatModel is one model of a compatible server.
type chatModel struct {
	p  compatible
	id string
}

func (m chatModel) Info() protocol.ModelInfo {
	if info, ok := m.p.mem.model(m.p.ep.BaseURL, m.id); ok {
		return info
	}
	info := modelInfo(m.id)
	if !m.p.ep.Local {
		return info
	}
	// A local server decides itself how much of a model's window it gives.
	info.Window = 0
	return info
}

func (m chatModel) Stream(ctx context.Context, req Request, sink func(Delta)) (Response, error) {
	base := m.p.ep.BaseURL
	return conceding(ctx, m.p.service(m.id), m.p.mem.leave(base, m.id), func(l leave) (Response, bool, error) {
		return m.attempt(ctx, req, l, sink)
	}, func(l leave) { m.p.mem.setLeave(base, m.id, l) })
}

func (m chatModel) attempt(ctx context.Context, req Request, l leave, sink func(Delta)) (Response, bool, error) {
	body, err := chatBody(req, m.p.ep.Name, m.id, known(m.id), l)
	if err != nil {
		return Response{}, false, err
	}
	st := newChatStream(m.p.ep.Name, sink)
	r := m.p.remote()
	err = events{
		open:  func(ctx context.Context) (*http.Response, error) { return r.post(ctx, "chat/completions", body) },
		each:  st.each,
		ended: st.ended,
		began: st.began,
	}.run(ctx, m.p.times)
	if err != nil {
		return Response{}, st.began(), err
	}
	var p *price
	if m.p.ep.Local {
		p = &price{} // no tokens are paid for
	}
	out, err := st.response(p)
	if err != nil {
		return Response{}, true, m.full(err, out)
	}
	return out, true, checkEmpty(req, out)
}

// full tells an answer that was cut by its length from one that was cut because
// the window is full, which calls for a summary.
func (m chatModel) full(err error, out Response) error {
	w := m.Info().Window
	if errors.Is(err, errLength) && w > 0 && out.ContextTokens >= w-w/50 {
		return &apiError{Code: "context_length_exceeded", Message: "The window is full."}
	}
	return err
}
