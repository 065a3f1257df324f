package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// post sends a body as a client does and returns the whole answer.
func post(t *testing.T, s *Server, path, key, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// Chat Completions as OpenAI documents its stream: chunk by chunk, the usage in
// a chunk without choices, [DONE] at the end. (The Responses API is held
// against the client library's types in package llm.)
func TestChatIsTheDocumentedWire(t *testing.T) {
	s := New(t)
	s.Push(Answer{
		Items: []Item{{Text: "Hello you"}, {Call: "now", Args: `{"a":1}`, CallID: "call_1"}},
		Usage: &Usage{Input: 9, Cached: 3, Output: 4, Reasoning: 2},
	})
	_, got := post(t, s, "/chat/completions", "k", `{"model":"m","stream_options":{"include_usage":true}}`)
	chunk := func(rest string) string {
		return `data: {"id":"chatcmpl-0001","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":` + rest + "}\n\n"
	}
	said := func(delta string) string { return chunk(`[{"index":0,"delta":` + delta + `,"finish_reason":null}]`) }
	want := said(`{"role":"assistant","content":""}`) +
		said(`{"content":"Hello "}`) + said(`{"content":"you"}`) +
		said(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"now","arguments":""}}]}`) +
		said(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}`) +
		chunk(`[{"index":0,"delta":{},"finish_reason":"tool_calls"}]`) +
		chunk(`[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}`) +
		"data: [DONE]\n\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestErrorsAreTheDocumentedWire(t *testing.T) {
	s := New(t)
	s.RequireKey("right")
	s.Push(Failure(http.StatusTooManyRequests, Error{Code: "rate_limit_exceeded", Message: "slower"}))
	for _, c := range []struct {
		key    string
		status int
		body   string
	}{
		{"wrong", http.StatusUnauthorized, `{"error":{"code":"invalid_api_key","type":"invalid_request_error","message":"Incorrect API key provided: wrong. You can find your API key at https://platform.openai.com/account/api-keys."}}`},
		{"right", http.StatusTooManyRequests, `{"error":{"code":"rate_limit_exceeded","message":"slower"}}`},
	} {
		if status, body := post(t, s, "/responses", c.key, "{}"); status != c.status || body != c.body {
			t.Errorf("%s: %d %s", c.key, status, body)
		}
	}
}

func TestScriptThenHandlerThenOK(t *testing.T) {
	s := New(t)
	said := func() string {
		_, body := post(t, s, "/chat/completions", "", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c1","content":"r"}],"tools":[{"type":"function","function":{"name":"now"}}]}`)
		text := ""
		for line := range strings.Lines(body) {
			var c chunk
			if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &c) == nil && len(c.Choices) > 0 && c.Choices[0].Delta.Content != nil {
				text += *c.Choices[0].Delta.Content
			}
		}
		return text
	}
	if got := said(); got != "ok" {
		t.Errorf("without a script: %q", got)
	}
	s.Push(Text("one"), Text("two"))
	s.Handle(func(r Request) Answer {
		return Text(r.LastUser + r.Results[0].CallID + r.Results[0].Output + r.Tools[0])
	})
	if got := said() + " " + said() + " " + said(); got != "one two ac1rnow" {
		t.Errorf("got %q", got)
	}
	if r := s.Last(); len(s.Requests()) != 4 || r.Number != 4 || r.API != "chat" || r.Model != "m" {
		t.Errorf("got %+v", r)
	}
	if status, _ := post(t, s, "/nowhere", "", ""); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

func TestCutEndsTheConnection(t *testing.T) {
	s := New(t)
	s.Push(Answer{Items: []Item{{Text: "a b c"}}, CutAfter: 2})
	res, err := http.Post(s.URL+"/responses", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(string(b), "event: ") != 2 {
		t.Errorf("read %q, %v", b, err)
	}
}
