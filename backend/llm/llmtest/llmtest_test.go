package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func client(s *Server, key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey(key), option.WithMaxRetries(0))
}

// The client library of the real API reads what the server sends in Chat
// Completions. (The Responses API is held against it in package llm.)
func TestChatIsTheRealWire(t *testing.T) {
	s := New(t)
	s.Push(Answer{
		Items: []Item{{Text: "Hello you"}, {Call: "now", Args: `{"zone":"UTC"}`}, {Call: "later", Args: `{}`}},
		Usage: &Usage{Input: 9, Cached: 3, Output: 4, Reasoning: 2},
	})
	params := openai.ChatCompletionNewParams{
		Model:         "m",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	c := client(s, "k")
	stream := c.Chat.Completions.NewStreaming(t.Context(), params)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Errorf("the library does not take %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	m := acc.Choices[0].Message
	if m.Content != "Hello you" || len(m.ToolCalls) != 2 || m.ToolCalls[0].Function.Arguments != `{"zone":"UTC"}` || m.ToolCalls[1].Function.Name != "later" ||
		acc.Choices[0].FinishReason != "tool_calls" || acc.Usage.PromptTokensDetails.CachedTokens != 3 || acc.Usage.TotalTokens != 13 {
		t.Errorf("read as %+v, usage %+v", m, acc.Usage)
	}
}

func TestErrorsAreTheRealWire(t *testing.T) {
	s := New(t)
	s.RequireKey("right")
	wrong := client(s, "wrong")
	_, err := wrong.Models.List(t.Context())
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusUnauthorized || e.Code != "invalid_api_key" {
		t.Errorf("got %v", err)
	}
	right := client(s, "right")
	list, err := right.Models.List(t.Context())
	if err != nil || len(list.Data) != 1 || list.Data[0].ID != "gpt-5.4-mini" {
		t.Errorf("got %+v, %v", list, err)
	}
	s.Push(Failure(429, Error{Code: "rate_limit_exceeded", Message: "slower"}))
	_, err = right.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "m"})
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusTooManyRequests || e.Message != "slower" {
		t.Errorf("got %v", err)
	}
}

func TestScriptThenHandlerThenOK(t *testing.T) {
	s := New(t)
	said := func() string {
		res, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c1","content":"r"}],"tools":[{"type":"function","function":{"name":"now"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for line := range strings.Lines(string(b)) {
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
	s.SetModels("a", "b")
	res, err := http.Get(s.Root + "/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", res.StatusCode)
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
