package llm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/responses"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

func TestResponsesBody(t *testing.T) {
	for name, c := range map[string]struct {
		model string
		leave leave
		req   Request
	}{
		"responses_reasoning.json": {DefaultModel, leave{}, conversation(ProviderOpenAI)},
		"responses_plain.json":     {"gpt-4.1", leave{}, conversation(ProviderOpenAI)},
		"responses_less.json": {DefaultModel, leave{
			raw: true, summary: true, encrypted: true, images: true, cacheKey: true,
		}, conversation(ProviderOpenAI)},
		"responses_smallest.json": {"fake-model", leave{}, ask("hi")},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := responsesBody(c.req, ProviderOpenAI, c.model, known(c.model), c.leave)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, body)
			// The client library reads it as its own, with nothing unknown in it.
			var params responses.ResponseNewParams
			if err := json.Unmarshal(body, &params); err != nil {
				t.Fatalf("the library can't read it: %v", err)
			}
			if got := len(params.Input.OfInputItemList); got == 0 || len(params.Tools) != len(c.req.Tools) {
				t.Errorf("the library sees %d items and %d tools", got, len(params.Tools))
			}
		})
	}
}

// What the provider gave us goes back byte for byte.
func TestResponsesRawIsVerbatim(t *testing.T) {
	raw := `{"id":"rs_9", "type":"reasoning","summary":[],"encrypted_content":"<b>&\u00e9"}`
	body, err := responsesBody(Request{Input: []Entry{
		{Kind: EntryUser, Text: "a"},
		{Kind: EntryReasoning, Raw: json.RawMessage(raw), Provider: ProviderOpenAI},
	}}, ProviderOpenAI, DefaultModel, known(DefaultModel), leave{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(body, []byte(raw)) {
		t.Errorf("not verbatim: %s", body)
	}
}

func TestResponsesStream(t *testing.T) {
	s := llmtest.New(t)
	s.Push(llmtest.Answer{
		Items: []llmtest.Item{
			{Reasoning: "First I look.\n\nThen I act.", Encrypted: "b3BhcXVl"},
			{Text: "I run it — now.", Phase: "commentary"},
			{Call: "exec_command", Args: `{"cmd":"echo \"hi there\" && ls -la"}`, CallID: "call_a"},
			{Call: "read_file", Args: `{}`, CallID: "call_b"},
		},
		Usage: &llmtest.Usage{Input: 1000, Cached: 400, Output: 50, Reasoning: 20},
	})
	m := openAIAt(s, Timeouts{}).Open(DefaultModel)
	out := stream(t, m, ask("go"))

	reasoning, message := out.Output[0].Raw, out.Output[1].Raw
	want := Response{
		Output: []Entry{
			{Kind: EntryReasoning, Text: "First I look.\n\nThen I act.", Raw: reasoning, Provider: ProviderOpenAI},
			{Kind: EntryAssistant, Text: "I run it — now.", Raw: message, Provider: ProviderOpenAI},
			{Kind: EntryCall, CallID: "call_a", Name: "exec_command", Args: `{"cmd":"echo \"hi there\" && ls -la"}`, Provider: ProviderOpenAI},
			{Kind: EntryCall, CallID: "call_b", Name: "read_file", Args: `{}`, Provider: ProviderOpenAI},
		},
		// At another address than OpenAI's the price is not known.
		Usage:         protocol.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 50, ReasoningTokens: 20, Unpriced: true},
		ContextTokens: 1050,
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for what, raw := range map[string]json.RawMessage{`"encrypted_content":"b3BhcXVl"`: reasoning, `"phase":"commentary"`: message} {
		if !bytes.Contains(raw, []byte(what)) {
			t.Errorf("raw %s lacks %s", raw, what)
		}
	}
	// The second step sends the reasoning and the message as they came.
	s.Push(llmtest.Text("done"))
	next := Request{Input: append([]Entry{{Kind: EntryUser, Text: "go"}}, out.Output...)}
	stream(t, m, next)
	for _, raw := range []json.RawMessage{reasoning, message} {
		if !bytes.Contains(s.Last().Body, raw) {
			t.Errorf("the next request lacks %s", raw)
		}
	}
	h := s.Last().Header
	if h.Get("Authorization") != "Bearer "+testKey || h.Get("Content-Type") != "application/json" || h.Get("Accept") != "text/event-stream" {
		t.Errorf("header %v", h)
	}
}

// A text without anything else about it is kept once, not twice.
func TestResponsesKeepsNoRawForPlainText(t *testing.T) {
	s := llmtest.New(t)
	out := stream(t, openAIAt(s, Timeouts{}).Open(DefaultModel), ask("go"))
	if len(out.Output) != 1 || out.Output[0].Text != "ok" || out.Output[0].Raw != nil {
		t.Errorf("got %+v", out.Output)
	}
}

func TestResponsesEmptyFinalOutput(t *testing.T) {
	s := llmtest.New(t)
	s.Push(llmtest.Answer{EmptyOutput: true, Items: []llmtest.Item{
		{Reasoning: "hm", Encrypted: "eA"}, {Text: "Two words"}, {Call: "now", Args: `{"a":1}`, CallID: "call_x"},
	}})
	out := stream(t, openAIAt(s, Timeouts{}).Open(DefaultModel), ask("go"))
	if len(out.Output) != 3 || out.Output[1].Text != "Two words" || out.Output[2].CallID != "call_x" || out.Output[2].Args != `{"a":1}` || len(out.Output[0].Raw) == 0 {
		t.Errorf("got %+v", out.Output)
	}
}

// Servers that send deltas only still make a whole answer.
func TestResponsesDeltasOnly(t *testing.T) {
	s := llmtest.New(t)
	s.Push(llmtest.Answer{ContentType: "text/event-stream", Body: strings.Join([]string{
		`data: {"type":"response.reasoning_text.delta","output_index":0,"delta":"hm"}`,
		`data: {"type":"response.output_text.delta","output_index":1,"delta":"Hi "}`,
		`data: {"type":"response.output_text.delta","output_index":1,"delta":"you"}`,
		`data: {"type":"response.output_item.added","output_index":2,"item":{"type":"web_search_call","id":"ws_1"}}`,
		`data: {"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","name":"now","arguments":""}}`,
		`data: {"type":"response.function_call_arguments.delta","output_index":3,"delta":"{}"}`,
		`data: {"type":"response.some_new_event","delta":{"what":"ever"}}`,
		`data: {"type":"response.completed","response":{"status":"completed","output":[]}}`,
		"",
	}, "\n\n")})
	out := stream(t, openAIAt(s, Timeouts{}).Open(DefaultModel), ask("go"))
	if len(out.Output) != 3 || out.Output[0].Text != "hm" || out.Output[1].Text != "Hi you" || out.Output[2].Name != "now" || out.Output[2].CallID == "" {
		t.Errorf("got %+v", out.Output)
	}
	if !out.Usage.Unpriced || out.ContextTokens != 0 {
		t.Errorf("usage %+v", out.Usage)
	}
}

func TestResponsesPrice(t *testing.T) {
	u := &responsesUsage{Input: 1_000_000, Output: 100_000}
	u.InputDetails.Cached = 600_000
	// 400,000 × $0.75 + 600,000 × $0.075 + 100,000 × $4.50, per million.
	got, context := u.usage(known(DefaultModel).price)
	if got.CostMicros != 795_000 || got.Unpriced || context != 1_100_000 {
		t.Errorf("got %+v, context %d", got, context)
	}
	u.InputDetails.Writes = 1
	if got, _ = u.usage(known(DefaultModel).price); !got.Unpriced || got.CostMicros != 0 {
		t.Errorf("cache writes have a price of their own: %+v", got)
	}
}

func TestResponsesEnds(t *testing.T) {
	for name, c := range map[string]struct {
		answer llmtest.Answer
		class  protocol.Class
		says   string
	}{
		"refusal":            {llmtest.Answer{Items: []llmtest.Item{{Refusal: "I can't help with that."}}}, protocol.ClassRefusal, "I can't help with that."},
		"refusal by deltas":  {llmtest.Answer{EmptyOutput: true, Items: []llmtest.Item{{Refusal: "No."}}}, protocol.ClassRefusal, "No."},
		"content filter":     {llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "content_filter"}, protocol.ClassRefusal, "filter"},
		"length":             {llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "max_output_tokens"}, protocol.ClassRequest, "length limit"},
		"other incomplete":   {llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "max_messages"}, protocol.ClassOverloaded, "max_messages"},
		"failed":             {llmtest.Answer{Fail: &llmtest.Error{Code: "server_error", Message: "The model had an error."}}, protocol.ClassOverloaded, "The model had an error."},
		"failed by rate":     {llmtest.Answer{Fail: &llmtest.Error{Code: "rate_limit_exceeded", Message: "Rate limit reached for gpt-5.4-mini. Please try again in 11.054s."}}, protocol.ClassRateLimit, "try again"},
		"failed by context":  {llmtest.Answer{Fail: &llmtest.Error{Code: "context_length_exceeded", Message: "Your input exceeds the context window of this model."}}, protocol.ClassContext, "context window"},
		"failed by quota":    {llmtest.Answer{Fail: &llmtest.Error{Code: "insufficient_quota", Message: "You exceeded your current quota."}}, protocol.ClassQuota, "quota"},
		"failed by policy":   {llmtest.Answer{Fail: &llmtest.Error{Code: "cyber_policy", Message: "This was blocked."}}, protocol.ClassRefusal, "blocked"},
		"error event":        {llmtest.Answer{BareError: true, Fail: &llmtest.Error{Code: "server_is_overloaded", Message: "Our servers are overloaded."}}, protocol.ClassOverloaded, "overloaded"},
		"error event, other": {llmtest.Answer{BareError: true, Fail: &llmtest.Error{Code: "model_not_found", Message: "The model does not exist."}}, protocol.ClassNoModel, "does not exist"},
		"nested error event": {llmtest.Answer{Inject: map[int]string{2: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"too_many_requests\",\"code\":\"slow_down\",\"message\":\"Slow down.\"}}\n\n"}}, protocol.ClassOverloaded, "Slow down"},
		"cut":                {llmtest.Answer{Items: []llmtest.Item{{Text: "a b c d e f"}}, CutAfter: 6}, protocol.ClassConnection, "EOF"},
		"half JSON":          {llmtest.Answer{Items: []llmtest.Item{{Text: "a b"}}, Inject: map[int]string{4: "data: {\"type\":\"response.output_te\n\n"}}, protocol.ClassConnection, "output_te"},
		"garbage":            {llmtest.Answer{ContentType: "text/event-stream", Body: "%$§!\n\n\x00\xff\n"}, protocol.ClassConnection, "ended before"},
		"nothing":            {llmtest.Answer{ContentType: "text/event-stream", Body: "\n"}, protocol.ClassConnection, "ended before"},
		"clean end too soon": {llmtest.Answer{ContentType: "text/event-stream", Body: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n"}, protocol.ClassConnection, "ended before"},
		"empty answer":       {llmtest.Answer{}, protocol.ClassRequest, "empty"},
		"final without body": {llmtest.Answer{ContentType: "text/event-stream", Body: "data: {\"type\":\"response.completed\"}\n\n"}, protocol.ClassConnection, "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			s.Push(c.answer)
			f := streamFault(t, openAIAt(s, Timeouts{}).Open(DefaultModel), c.class)
			if !strings.Contains(f.Detail, c.says) {
				t.Errorf("detail %q lacks %q", f.Detail, c.says)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests: nothing is retried here", n)
			}
			if name == "failed by rate" && f.RetryAfter != 11054*time.Millisecond {
				t.Errorf("retry after %v", f.RetryAfter)
			}
		})
	}
}

// After tools have done the work, a model may have nothing to add.
func TestSilenceAfterToolsIsAnAnswer(t *testing.T) {
	both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
		s.Push(llmtest.Answer{})
		out := stream(t, m, Request{Input: []Entry{
			{Kind: EntryUser, Text: "go"},
			{Kind: EntryCall, CallID: "c", Name: "now", Args: "{}"},
			{Kind: EntryResult, CallID: "c", Text: "12:00"},
		}})
		if len(out.Output) > 0 && strings.TrimSpace(out.Output[0].Text) != "" {
			t.Errorf("got %+v", out.Output)
		}
	})
}

// What an answer can do without is left out when it is refused, and remembered.
func TestResponsesConcessions(t *testing.T) {
	refuse := func(code, param, message string) llmtest.Answer {
		return llmtest.Failure(400, llmtest.Error{Code: code, Param: param, Type: "invalid_request_error", Message: message})
	}
	for name, c := range map[string]struct {
		refusal  llmtest.Answer
		gone     string
		lasting  bool
		untilNow string
	}{
		"summary needs a verified account": {
			refuse("unsupported_value", "reasoning.summary", "Your organization must be verified to generate reasoning summaries."),
			`"summary":"auto"`, true, `"effort":"high"`,
		},
		"reasoning of another account": {
			refuse("invalid_encrypted_content", "", "The encrypted content b3Bh could not be verified."),
			`encrypted_content":"b3Bh`, false, `"call_id":"call_1"`,
		},
		"encrypted reasoning not known": {
			refuse("", "include", "Unknown parameter: 'include'."),
			`reasoning.encrypted_content`, true, `"summary":"auto"`,
		},
		"effort not known": {
			refuse("unsupported_value", "reasoning.effort", "Unsupported value: 'high'."),
			`"reasoning":{`, true, `"call_id":"call_1"`,
		},
		"no images": {
			refuse("", "", "This model does not support image inputs."),
			`data:image/png`, true, unseen[:20],
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			m := openAIAt(s, Timeouts{}).Open(DefaultModel)
			s.Push(c.refusal)
			if out := stream(t, m, conversation(ProviderOpenAI)); out.Output[0].Text != "ok" {
				t.Errorf("got %+v", out)
			}
			r := s.Requests()
			if len(r) != 2 {
				t.Fatalf("%d requests", len(r))
			}
			if !bytes.Contains(r[0].Body, []byte(c.gone)) || bytes.Contains(r[1].Body, []byte(c.gone)) || !bytes.Contains(r[1].Body, []byte(c.untilNow)) {
				t.Errorf("first:\n%s\nsecond:\n%s", r[0].Body, r[1].Body)
			}
			stream(t, m, conversation(ProviderOpenAI))
			if again := bytes.Contains(s.Last().Body, []byte(c.gone)); again == c.lasting {
				t.Errorf("remembered: %v, want %v", !again, c.lasting)
			}
		})
	}
	t.Run("ends", func(t *testing.T) {
		s := llmtest.New(t)
		s.Handle(func(llmtest.Request) llmtest.Answer { return refuse("", "reasoning.summary", "no summary") })
		streamFault(t, openAIAt(s, Timeouts{}).Open(DefaultModel), protocol.ClassRequest)
		if n := len(s.Requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// The scripted server must frame what the real one does: the library's own
// types read all its events.
func TestScriptedServerSpeaksTheRealWire(t *testing.T) {
	s := llmtest.New(t)
	s.Push(llmtest.Answer{
		Items: []llmtest.Item{
			{Reasoning: "a\n\nb", Encrypted: "eA"},
			{Text: "Hello", Phase: "final_answer"},
			{Call: "now", Args: `{"a":1}`},
			{Refusal: "no"},
		},
		Usage: &llmtest.Usage{Input: 9, Cached: 3, Output: 4, Reasoning: 2},
	})
	svc := responses.NewResponseService(openAIAt(s, Timeouts{}).libraryOptions(nil)...)
	st := svc.NewStreaming(t.Context(), responses.ResponseNewParams{Model: DefaultModel})
	var kinds []string
	sequence := int64(0)
	for st.Next() {
		e := st.Current()
		if e.SequenceNumber != sequence {
			t.Errorf("event %s has number %d, want %d", e.Type, e.SequenceNumber, sequence)
		}
		sequence++
		if e.AsAny() == nil {
			t.Errorf("the library does not know %s", e.Type)
		}
		if !slices.Contains(kinds, e.Type) {
			kinds = append(kinds, e.Type)
		}
		if e.Type == "response.completed" {
			r := e.AsResponseCompleted().Response
			if r.Usage.InputTokens != 9 || r.Usage.InputTokensDetails.CachedTokens != 3 || len(r.Output) != 4 || r.Output[0].AsReasoning().EncryptedContent != "eA" ||
				r.Output[1].AsMessage().Content[0].AsOutputText().Text != "Hello" || r.Output[2].AsFunctionCall().Name != "now" {
				t.Errorf("read as %s", r.RawJSON())
			}
		}
	}
	if err := st.Err(); err != nil {
		t.Fatal(err)
	}
	if len(kinds) != 17 {
		t.Errorf("%d kinds of events: %v", len(kinds), kinds)
	}
}
