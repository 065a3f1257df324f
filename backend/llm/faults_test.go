package llm

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// What services really answer, and what it means.
func TestAnswersThatAreErrors(t *testing.T) {
	body := func(message, kind, code string) string {
		q := strings.NewReplacer("%m", message, "%t", kind, "%c", code)
		return q.Replace(`{"error":{"message":"%m","type":"%t","param":null,"code":"%c"}}`)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		class  protocol.Class
		says   string // part of the detail
	}{
		"bad key":                {401, body("Incorrect API key provided: sk-abc***wxyz.", "invalid_request_error", "invalid_api_key"), protocol.ClassBadKey, "Incorrect API key"},
		"bad key, no body":       {401, "", protocol.ClassBadKey, "401"},
		"forbidden":              {403, body("You have insufficient permissions for this operation.", "invalid_request_error", ""), protocol.ClassBadKey, "permissions"},
		"bad key as 400":         {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, protocol.ClassBadKey, "not valid"},
		"region":                 {403, body("Country, region, or territory not supported", "request_forbidden", "unsupported_country_region_territory"), protocol.ClassRequest, "region"},
		"no model":               {404, body("The model `gpt-9` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"), protocol.ClassNoModel, "gpt-9"},
		"no model, Ollama":       {404, `{"error":{"message":"model \"qwen9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, protocol.ClassNoModel, "pulling"},
		"no model, vLLM":         {404, `{"object":"error","message":"The model ` + "`m`" + ` does not exist.","type":"NotFoundError","param":null,"code":404}`, protocol.ClassNoModel, "does not exist"},
		"no model, OpenRouter":   {400, `{"error":{"message":"foo/bar is not a valid model ID","code":400}}`, protocol.ClassNoModel, "valid model"},
		"no model, LM Studio":    {400, `{"error":"No models loaded. Please load a model in the developer page."}`, protocol.ClassNoModel, "No models loaded"},
		"no access":              {403, body("Project proj_x does not have access to model gpt-5.4", "invalid_request_error", "model_not_found"), protocol.ClassNoModel, "access"},
		"no access, only words":  {403, body("Project `p` does not have access to model `gpt-5.4`", "invalid_request_error", ""), protocol.ClassNoModel, "access"},
		"wrong path":             {404, `{"detail":"Not Found"}`, protocol.ClassRequest, "Not Found"},
		"wrong path, web page":   {404, "<html><head><title>404 Not Found</title></head><body><h1>nginx</h1></body></html>", protocol.ClassRequest, "404 Not Found"},
		"rate limit":             {429, body("Rate limit reached for gpt-5.4-mini in organization org-x on tokens per min (TPM): Limit 200000, Used 190000. Please try again in 1.2s.", "tokens", "rate_limit_exceeded"), protocol.ClassRateLimit, "tokens per min"},
		"rate limit, no body":    {429, "", protocol.ClassRateLimit, "429"},
		"rate limit, model word": {429, `{"error":{"message":"The model is not available right now: too many requests","code":429}}`, protocol.ClassRateLimit, "too many"},
		"rate limit, router":     {429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"m is temporarily rate-limited upstream","provider_name":"P"}}}`, protocol.ClassRateLimit, "upstream"},
		"never fits the minute":  {429, body("Request too large for gpt-5.4 in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000.", "tokens", "rate_limit_exceeded"), protocol.ClassContext, "too large"},
		"quota":                  {429, body("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota"), protocol.ClassQuota, "quota"},
		"quota, payment":         {402, `{"error":{"message":"Insufficient credits. Add more.","code":402}}`, protocol.ClassQuota, "credits"},
		"quota, DeepSeek":        {402, body("Insufficient Balance", "unknown_error", "invalid_request_error"), protocol.ClassQuota, "Balance"},
		"context":                {400, body("Your input exceeds the context window of this model. Please adjust your input and try again.", "invalid_request_error", "context_length_exceeded"), protocol.ClassContext, "context window"},
		"context, older":         {400, body("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "invalid_request_error", ""), protocol.ClassContext, "8192"},
		"context, vLLM":          {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, protocol.ClassContext, "4096"},
		"context, vLLM newer":    {400, `{"error":{"message":"The prompt (plus max_tokens) is too long: the decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that max_model_len is no smaller","type":"BadRequestError","param":null,"code":400}}`, protocol.ClassContext, "4096"},
		"context, llama.cpp":     {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`, protocol.ClassContext, "available context"},
		"context, llama.cpp old": {500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}`, protocol.ClassContext, "available context"},
		"context, Ollama":        {500, `{"error":{"message":"the input length exceeds the context length","type":"api_error","param":null,"code":null}}`, protocol.ClassContext, "context length"},
		"context, LM Studio":     {400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough"}`, protocol.ClassContext, "4096"},
		"context, Anthropic":     {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, protocol.ClassContext, "too long"},
		"context, Gemini":        {400, `[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, protocol.ClassContext, "1048576"},
		"context, one string":    {400, body("Invalid 'input[3].output': string too long. Expected a string with maximum length 10485760.", "invalid_request_error", "string_above_max_length"), protocol.ClassContext, "string too long"},
		"too large to send":      {413, "<html><title>413 Request Entity Too Large</title></html>", protocol.ClassContext, "Too Large"},
		"overloaded 500":         {500, body("The server had an error while processing your request.", "server_error", "server_error"), protocol.ClassOverloaded, "had an error"},
		"overloaded 503":         {503, body("That model is currently overloaded with other requests.", "server_error", "server_is_overloaded"), protocol.ClassOverloaded, "overloaded"},
		"slow down":              {503, body("Slow down", "server_error", "slow_down"), protocol.ClassOverloaded, "Slow down"},
		"gateway":                {502, "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>", protocol.ClassOverloaded, "Bad Gateway"},
		"gateway timeout":        {504, "", protocol.ClassOverloaded, "504"},
		"529":                    {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, protocol.ClassOverloaded, "Overloaded"},
		"loading":                {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, protocol.ClassOverloaded, "Loading model"},
		"conflict":               {409, "{}", protocol.ClassOverloaded, "409"},
		"request timeout":        {408, "", protocol.ClassConnection, "408"},
		"policy":                 {400, body("Your request was flagged as potentially violating our usage policy.", "invalid_request_error", "content_policy_violation"), protocol.ClassRefusal, "flagged"},
		"Azure filter":           {400, body("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "", "content_filter"), protocol.ClassRefusal, "filter"},
		"bad request":            {400, body("Invalid schema for function 'x': array schema missing items.", "invalid_request_error", "invalid_function_parameters"), protocol.ClassRequest, "array schema"},
		"parameter of a model":   {400, body("With the model gpt-5.4 the parameter 'foo' is not supported; see unknown parameters.", "invalid_request_error", "unsupported_parameter"), protocol.ClassRequest, "foo"},
		"unprocessable":          {422, `{"detail":[{"loc":["body","messages",0],"msg":"field required","type":"value_error"}]}`, protocol.ClassRequest, "body.messages.0 field required"},
		"proxy password":         {407, "<html><title>Proxy Authentication Required</title></html>", protocol.ClassRequest, "Proxy"},
		"half JSON":              {400, `{"error":{"message":"The mod`, protocol.ClassRequest, "The mod"},
		"half JSON, 500":         {500, `{"error":`, protocol.ClassOverloaded, "500"},
		"not UTF-8":              {500, "\xff\xfe oh", protocol.ClassOverloaded, "oh"},
		"not a stream: page":     {200, "<!doctype html><title>Welcome</title>", protocol.ClassRequest, "Welcome"},
		"not a stream: JSON":     {200, `{"hello":"world"}`, protocol.ClassRequest, "hello"},
		"error with status 200":  {200, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, protocol.ClassContext, "context size"},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
				a := llmtest.Answer{Status: c.status, Body: c.body}
				if strings.HasPrefix(c.body, "<") {
					a.ContentType = "text/html; charset=utf-8"
				}
				if c.status == 200 {
					a.Status = 0
				}
				s.Push(a)
				f := streamFault(t, m, c.class)
				if !strings.Contains(f.Detail, c.says) {
					t.Errorf("detail %q lacks %q", f.Detail, c.says)
				}
				if strings.Contains(f.Detail, "<") {
					t.Errorf("detail has markup: %q", f.Detail)
				}
				if f.Remedy == "" {
					t.Error("no remedy")
				}
			})
		})
	}
}

func TestFaultWords(t *testing.T) {
	s := service{label: "OpenAI", baseURL: openAIBase, model: "gpt-9", key: testKey}
	local := service{label: "Ollama", baseURL: "http://127.0.0.1:11434/v1", model: "qwen9", local: true}
	for _, c := range []struct {
		s                service
		e                apiError
		status           int
		happened, remedy string
	}{
		{s, apiError{Code: "invalid_api_key"}, 401, "OpenAI refused the key", "Check the key in the settings, or make a new one."},
		{service{label: "OpenAI"}, apiError{}, 401, "OpenAI needs a key", "Add the key in the settings."},
		{s, apiError{Code: "model_not_found"}, 404, "OpenAI has no model “gpt-9”, or your account may not use it", "Choose another model."},
		{local, apiError{Message: "model 'qwen9' not found"}, 404, "Ollama has no model “qwen9”", "Choose another model, or load this one in Ollama."},
		{s, apiError{Code: "insufficient_quota"}, 429, "The credit of your OpenAI account is used up", "Add credit or raise the limit at OpenAI, or choose another provider."},
		{s, apiError{}, 429, "OpenAI gets too many requests from your account", "It is tried again after a wait."},
		{s, apiError{}, 503, "OpenAI is overloaded or failing", "It is tried again after a wait."},
		{local, apiError{Message: "Loading model"}, 503, "Ollama is still loading the model", "It is tried again after a wait."},
		{s, apiError{Code: "context_length_exceeded"}, 400, "The conversation is longer than gpt-9 can take", "It is shortened to a summary; or begin a new session."},
		{s, apiError{Message: "x"}, 404, "OpenAI has nothing at this address", "Check the base URL (https://api.openai.com/v1); it usually ends in /v1."},
		{s, apiError{Message: "This model does not support image inputs"}, 400, "The model gpt-9 can't read images", "Choose a model that takes images, or send the message without them."},
		{s, apiError{Message: "bad"}, 400, "OpenAI did not take the request", "See the detail; another model may take it."},
	} {
		f := c.s.apiFault(c.e, c.status, nil)
		if f.Happened != c.happened || f.Remedy != c.remedy {
			t.Errorf("%+v %d:\n  %s | %s\nwant\n  %s | %s", c.e, c.status, f.Happened, f.Remedy, c.happened, c.remedy)
		}
	}
}

func TestKeysAreNeverTold(t *testing.T) {
	s := llmtest.New(t)
	s.RequireKey("another")
	p := openAIAt(s, Timeouts{})
	f := streamFault(t, p.Open("m"), protocol.ClassBadKey)
	if !strings.Contains(f.Detail, "[key]") {
		t.Errorf("the server told the key, the detail is %q", f.Detail)
	}
	_, err := p.Models(t.Context())
	faultOf(t, err, protocol.ClassBadKey)
	for in, want := range map[string]string{
		"Authorization: Bearer abc.def-123, x": "Authorization: Bearer [key], x",
		"key sk-" + "AAAAbbbbCCCC in use":      "key [key] in use",
		"provided: sk-" + "pr***wxyz.":         "provided: [key]",
		"my own-secret here":                   "my [key] here",
		"risk-free task":                       "risk-free task",
	} {
		if got := redact(in, "own-secret"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNoKey(t *testing.T) {
	p := openAI{client: newClient(nil), mem: newMemory()}
	if info := p.Info(t.Context()); info.Available || info.Reason != "No key is set" || info.Remedy == "" {
		t.Errorf("info %+v", info)
	}
	// Without a key nobody is asked.
	streamFault(t, p.Open("m"), protocol.ClassNoKey)
	_, err := p.Models(t.Context())
	faultOf(t, err, protocol.ClassNoKey)
	// Another address may do without; if not, it says so.
	s := llmtest.New(t)
	p.settings.BaseURL = s.URL
	stream(t, p.Open("m"), ask("hi"))
	s.RequireKey("k")
	streamFault(t, p.Open("m"), protocol.ClassNoKey)
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		h    http.Header
		text string
		want time.Duration
	}{
		"nothing":             {nil, "", 0},
		"seconds":             {header("Retry-After", "20"), "", 20 * time.Second},
		"parts of a second":   {header("Retry-After", "1.5"), "", 1500 * time.Millisecond},
		"date":                {header("Retry-After", "Mon, 04 May 2026 12:01:30 GMT"), "", 90 * time.Second},
		"date in the past":    {header("Retry-After", "Mon, 04 May 2026 11:00:00 GMT"), "", 0},
		"milliseconds first":  {header("Retry-After-Ms", "250", "Retry-After", "20"), "", 250 * time.Millisecond},
		"nonsense":            {header("Retry-After", "soon"), "", 0},
		"negative":            {header("Retry-After", "-5"), "", 0},
		"endless":             {header("Retry-After", "1e300"), "", maxRetryAfter},
		"header before text":  {header("Retry-After", "3"), "try again in 20s", 3 * time.Second},
		"text, seconds":       {nil, "Please try again in 1.2s.", 1200 * time.Millisecond},
		"text, milliseconds":  {nil, "Please try again in 35ms. Visit", 35 * time.Millisecond},
		"text, both":          {nil, "Please try again in 6m0s.", 6 * time.Minute},
		"text, hours":         {nil, "try again in 1h2m3s", time.Hour + 2*time.Minute + 3*time.Second},
		"text, words":         {nil, "Retry after 20 seconds", 20 * time.Second},
		"text, minutes":       {nil, "try again in 5 minutes", 5 * time.Minute},
		"text, other numbers": {nil, "Limit 3, used 3", 0},
		"text before reset":   {header("X-Ratelimit-Reset-Tokens", "6m0s"), "try again in 2s", 2 * time.Second},
		"reset, requests":     {header("X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "8.64s", "X-Ratelimit-Remaining-Tokens", "100", "X-Ratelimit-Reset-Tokens", "6m0s"), "", 8640 * time.Millisecond},
		"reset, the longer":   {header("X-Ratelimit-Reset-Requests", "120ms", "X-Ratelimit-Reset-Tokens", "1s"), "", time.Second},
		"reset, plain":        {header("X-Ratelimit-Reset-Tokens", "12"), "", 12 * time.Second},
		"reset, point, ms":    {header("X-Ratelimit-Reset", "1777896030000"), "", 30 * time.Second},
		"reset, point, s":     {header("X-Ratelimit-Reset", "1777896045"), "", 45 * time.Second},
	} {
		if got := retryAfter(c.h, c.text, now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// It reaches the fault, for those that wait.
	both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
		for status, class := range map[int]protocol.Class{429: protocol.ClassRateLimit, 503: protocol.ClassOverloaded} {
			s.Push(llmtest.Answer{Status: status, Header: header("Retry-After", "7")})
			if f := streamFault(t, m, class); f.RetryAfter != 7*time.Second {
				t.Errorf("%d: %v", status, f.RetryAfter)
			}
		}
	})
}
