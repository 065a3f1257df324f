package llm

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"temporal-sandbox-agent/backend/protocol"
)

// ProviderOpenAI is the name of the OpenAI provider.
const ProviderOpenAI = "openai"

const openAIBase = "https://api.openai.com/v1"

// listWait bounds the listing of models.
const listWait = 5 * time.Second

// OpenAISettings say how to reach OpenAI.
type OpenAISettings struct {
	Key string
	// BaseURL is another address that speaks the Responses API; empty is
	// OpenAI's own.
	BaseURL      string
	Organization string
	Project      string
	// Model is the model that the environment wants of OpenAI; empty is
	// DefaultModel.
	Model string
}

func (s OpenAISettings) base() string {
	if b := strings.TrimSpace(s.BaseURL); b != "" {
		return b
	}
	return openAIBase
}

// official tells whether it is OpenAI itself: there a key is needed, prices are
// known, and the list holds models that can't chat.
func (s OpenAISettings) official() bool {
	u, err := url.Parse(s.base())
	return err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".api.openai.com"))
}

// label names who answers: at another address it is not OpenAI.
func (s OpenAISettings) label() string {
	if u, err := url.Parse(s.base()); err == nil && u.Host != "" && !s.official() {
		return u.Host
	}
	return "OpenAI"
}

// openAI is the provider that speaks the Responses API.
type openAI struct {
	settings OpenAISettings
	client   *http.Client
	times    Timeouts
	mem      *memory
}

func (p openAI) service(model string) service {
	return service{label: p.settings.label(), baseURL: shownURL(p.settings.base()), model: model, key: p.settings.Key}
}

func (p openAI) Info(context.Context) protocol.ProviderInfo {
	info := protocol.ProviderInfo{
		Name: ProviderOpenAI, Label: "OpenAI", Kind: "openai", BaseURL: shownURL(p.settings.base()),
		Available: p.settings.Key != "" || !p.settings.official(), Default: p.defaultModel(), Models: p.mem.list(p.settings.base()),
	}
	if info.Models == nil && p.settings.official() {
		info.Models = usable()
	}
	if !info.Available {
		info.Reason, info.Remedy = "No key is set", "Add your OpenAI key in the settings, or set OPENAI_API_KEY."
	}
	return info
}

// defaultModel is what the environment wants, else the default unless the
// endpoint is known to lack it. It asks nobody: the first request must not wait
// for a list.
func (p openAI) defaultModel() string {
	if p.settings.Model != "" {
		return p.settings.Model
	}
	list := p.mem.list(p.settings.base())
	if len(list) == 0 {
		return DefaultModel
	}
	if _, ok := p.mem.model(p.settings.base(), DefaultModel); ok {
		return DefaultModel
	}
	return list[0].ID
}

func (p openAI) Models(ctx context.Context) ([]protocol.ModelInfo, error) {
	s := p.service("")
	if err := p.needKey(s); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	r := p.remote()
	body, err := r.get(limited, r.url("models"))
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	all, err := parseModels(body)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	if p.settings.official() {
		all = forAgents(all)
	}
	out := make([]protocol.ModelInfo, 0, len(all))
	for _, m := range all {
		out = append(out, m.info(modelInfo(m.ID)))
	}
	p.mem.setList(p.settings.base(), out)
	return out, nil
}

func (p openAI) Open(model string) Model { return openAIModel{p, model} }

func (p openAI) needKey(s service) error {
	if p.settings.Key == "" && p.settings.official() {
		return s.apiFault(apiError{Code: "invalid_api_key"}, 0, nil)
	}
	return nil
}

func (p openAI) remote() remote {
	h := http.Header{}
	if o := p.settings.Organization; o != "" {
		h.Set("OpenAI-Organization", o)
	}
	if o := p.settings.Project; o != "" {
		h.Set("OpenAI-Project", o)
	}
	return remote{client: p.client, base: p.settings.base(), key: p.settings.Key, header: h}
}

// openAIModel is one model of the Responses API.
type openAIModel struct {
	p  openAI
	id string
}

func (m openAIModel) Info() protocol.ModelInfo {
	if info, ok := m.p.mem.model(m.p.settings.base(), m.id); ok {
		return info
	}
	return modelInfo(m.id)
}

// Stream sends the conversation. A request that is refused for something that
// an answer can do without is sent again without it; that is no retry of a
// failure, which is the caller's.
func (m openAIModel) Stream(ctx context.Context, req Request, sink func(Delta)) (Response, error) {
	s := m.p.service(m.id)
	if err := m.p.needKey(s); err != nil {
		return Response{}, err
	}
	base := m.p.settings.base()
	return conceding(ctx, s, m.p.mem.leave(base, m.id), func(l leave) (Response, bool, error) {
		return m.attempt(ctx, req, l, sink)
	}, func(l leave) { m.p.mem.setLeave(base, m.id, l) })
}

func (m openAIModel) attempt(ctx context.Context, req Request, l leave, sink func(Delta)) (Response, bool, error) {
	f := known(m.id)
	body, err := responsesBody(req, ProviderOpenAI, m.id, f, l)
	if err != nil {
		return Response{}, false, err
	}
	st := newResponsesStream(ProviderOpenAI, sink)
	err = events{
		open:  func(ctx context.Context) (*http.Response, error) { return m.open(ctx, body) },
		each:  st.each,
		ended: func() bool { return false }, // only its last event ends an answer
		began: st.began,
	}.run(ctx, m.p.times)
	if err != nil {
		return Response{}, st.began(), err
	}
	out, err := st.response()
	if err != nil {
		return Response{}, true, err
	}
	if !m.p.settings.official() {
		f.price = nil
	}
	out.Usage, out.ContextTokens = st.final.Usage.usage(f.price)
	return out, true, checkEmpty(req, out)
}

// open sends the request through the client library.
func (m openAIModel) open(ctx context.Context, body []byte) (*http.Response, error) {
	var res *http.Response
	svc := responses.NewResponseService(m.p.libraryOptions(body)...)
	if _, err := svc.New(ctx, responses.ResponseNewParams{}, option.WithResponseBodyInto(&res)); err != nil {
		return nil, err
	}
	return res, nil
}

// libraryOptions tell the client library where to send a body, without its
// retries and without its defaults from the environment. Nil is the body that
// the library makes.
func (p openAI) libraryOptions(body []byte) []option.RequestOption {
	r := p.remote()
	opts := []option.RequestOption{
		option.WithBaseURL(r.base),
		option.WithHTTPClient(r.client),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
		option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			res, err := next(req)
			if err != nil {
				return nil, err
			}
			// The library knows one shape of errors; there are more.
			if err := refuse(res); err != nil {
				return nil, err
			}
			return res, nil
		}),
	}
	if body != nil {
		opts = append(opts, option.WithRequestBody("application/json", body))
	}
	if r.key != "" {
		opts = append(opts, option.WithAPIKey(r.key))
	}
	for k := range r.header {
		opts = append(opts, option.WithHeader(k, r.header.Get(k)))
	}
	return opts
}

// maxConcessions is how often one request is sent anew with less in it.
const maxConcessions = 4

// conceding runs attempts until one is taken as it is. An attempt also tells
// whether its answer had begun: from then on nothing is sent again.
func conceding(ctx context.Context, s service, l leave, attempt func(leave) (Response, bool, error), learn func(leave)) (Response, error) {
	for n := 0; ; n++ {
		out, began, err := attempt(l)
		if err == nil {
			if n > 0 {
				learn(l)
			}
			return out, nil
		}
		f := s.fault(ctx, err)
		api, refusedRequest := requestError(err)
		if began || !refusedRequest || f.Class != protocol.ClassRequest || n == maxConcessions {
			return Response{}, f
		}
		next, ok := l.concede(api)
		if !ok {
			return Response{}, f
		}
		l = next
	}
}

// requestError gives the service's own words for a request that it did not
// take.
func requestError(err error) (apiError, bool) {
	var bad *badAnswer
	if errors.As(err, &bad) && bad.Status >= 400 {
		return parseAPIError(bad.Body)
	}
	var api *apiError
	if errors.As(err, &api) {
		return *api, true
	}
	return apiError{}, false
}

// checkEmpty refuses an answer that says and does nothing, unless tools have
// done the work before it.
func checkEmpty(req Request, out Response) error {
	for _, e := range out.Output {
		if e.Kind == EntryCall || (e.Kind == EntryAssistant && strings.TrimSpace(e.Text) != "") {
			return nil
		}
	}
	if len(req.Input) > 0 && req.Input[len(req.Input)-1].Kind == EntryResult {
		return nil
	}
	return errEmpty
}
