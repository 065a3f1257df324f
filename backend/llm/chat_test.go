package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

func TestChatBody(t *testing.T) {
	calls := Request{Input: []Entry{
		{Kind: EntryUser, Text: "go"},
		{Kind: EntryCall, CallID: "c1", Name: "now", Args: "", Provider: "box", Raw: json.RawMessage(`{"google":{"thought_signature":"c2ln"}}`)},
		{Kind: EntryResult, CallID: "c1", Text: ""},
		{Kind: EntryAssistant, Text: "one"},
		{Kind: EntryAssistant, Text: "two"},
		{Kind: EntryCall, CallID: "c2", Name: "now", Args: `[1]`},
		{Kind: EntryResult, CallID: "c2", Text: "12"},
	}}
	for name, c := range map[string]struct {
		model string
		leave leave
		req   Request
	}{
		"chat_whole.json": {"some-model", leave{}, conversation("box")},
		"chat_less.json":  {"gpt-oss:20b", leave{usage: true, images: true, raw: true}, conversation("box")},
		"chat_calls.json": {"some-model", leave{}, calls},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := chatBody(c.req, "box", c.model, known(c.model), c.leave)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, body)
		})
	}
}

func TestChatStream(t *testing.T) {
	s := llmtest.New(t)
	s.Push(llmtest.Answer{
		Items: []llmtest.Item{
			{Reasoning: "Let me see."},
			{Text: "I run two — now."},
			{Call: "exec_command", Args: `{"cmd":"echo \"hi there\" && ls -la"}`},
			{Call: "read_file", Args: `{"path":"a b"}`},
		},
		Usage: &llmtest.Usage{Input: 100, Cached: 40, Output: 7, Reasoning: 3},
	})
	m := chatAt(s, Timeouts{}).Open("some-model")
	out := stream(t, m, ask("go"))
	want := Response{
		Output: []Entry{
			{Kind: EntryReasoning, Text: "Let me see.", Raw: json.RawMessage(`"reasoning_content"`), Provider: "box"},
			{Kind: EntryAssistant, Text: "I run two — now.", Provider: "box"},
			{Kind: EntryCall, Name: "exec_command", Args: `{"cmd":"echo \"hi there\" && ls -la"}`, Provider: "box"},
			{Kind: EntryCall, Name: "read_file", Args: `{"path":"a b"}`, Provider: "box"},
		},
		Usage:         protocol.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 7, ReasoningTokens: 3, Unpriced: true},
		ContextTokens: 107,
	}
	if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(Entry{}, "CallID")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Last().Header.Get("Authorization") != "Bearer "+testKey {
		t.Errorf("header %v", s.Last().Header)
	}
}

// Whatever a server does with its tool calls, the same two come out, with ids
// of their own.
func TestChatCallQuirks(t *testing.T) {
	two := []llmtest.Item{{Call: "exec_command", Args: `{"cmd":"a  b"}`}, {Call: "exec_command", Args: `{"cmd":"c"}`}}
	for name, c := range map[string]struct {
		q     llmtest.ChatQuirks
		items []llmtest.Item
	}{
		"as it should be":             {},
		"whole calls":                 {q: llmtest.ChatQuirks{WholeCalls: true}},
		"whole, no index":             {q: llmtest.ChatQuirks{WholeCalls: true, NoIndex: true}},
		"whole, no index, no id":      {q: llmtest.ChatQuirks{WholeCalls: true, NoIndex: true, NoID: true}},
		"whole, all at index 0":       {q: llmtest.ChatQuirks{WholeCalls: true, ZeroIndex: true}},
		"whole, at 0, no id":          {q: llmtest.ChatQuirks{WholeCalls: true, ZeroIndex: true, NoID: true}},
		"whole, at 0, same id":        {q: llmtest.ChatQuirks{WholeCalls: true, ZeroIndex: true, SameID: "call_0"}},
		"whole, no index, same id":    {q: llmtest.ChatQuirks{WholeCalls: true, NoIndex: true, SameID: "0"}},
		"objects":                     {q: llmtest.ChatQuirks{ObjectArgs: true}},
		"objects, no index, no id":    {q: llmtest.ChatQuirks{ObjectArgs: true, NoIndex: true, NoID: true}},
		"no id":                       {q: llmtest.ChatQuirks{NoID: true}},
		"same id":                     {q: llmtest.ChatQuirks{SameID: "call_0"}},
		"no index":                    {q: llmtest.ChatQuirks{NoIndex: true}},
		"id and name in each chunk":   {q: llmtest.ChatQuirks{RepeatID: true}},
		"the same, without index":     {q: llmtest.ChatQuirks{RepeatID: true, NoIndex: true}},
		"the same, all at index 0":    {q: llmtest.ChatQuirks{RepeatID: true, ZeroIndex: true}},
		"finish stop":                 {q: llmtest.ChatQuirks{Finish: "stop"}},
		"finish function_call":        {q: llmtest.ChatQuirks{Finish: "function_call"}},
		"no finish":                   {q: llmtest.ChatQuirks{Finish: "-"}},
		"no done":                     {q: llmtest.ChatQuirks{NoDone: true}},
		"error null, comments":        {q: llmtest.ChatQuirks{NullError: true, Comments: true}},
		"arguments quoted twice":      {items: []llmtest.Item{{Call: "exec_command", Args: `"{\"cmd\":\"a  b\"}"`}, two[1]}, q: llmtest.ChatQuirks{WholeCalls: true}},
		"whole, a space before their": {items: []llmtest.Item{{Call: "exec_command", Args: ` {"cmd":"a  b"}`}, {Call: "exec_command", Args: ` {"cmd":"c"}`}}, q: llmtest.ChatQuirks{WholeCalls: true, ZeroIndex: true, NoID: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			items := c.items
			if items == nil {
				items = two
			}
			s.Push(llmtest.Answer{Items: items, Chat: c.q})
			var r recorder
			out, err := chatAt(s, Timeouts{}).Open("m").Stream(t.Context(), ask("go"), r.sink)
			if err != nil {
				t.Fatal(err)
			}
			if name != "arguments quoted twice" {
				r.sameAsStreamed(t, out)
			}
			if len(out.Output) != 2 {
				t.Fatalf("%d entries: %+v", len(out.Output), out.Output)
			}
			for i, cmd := range []string{"a  b", "c"} {
				e := out.Output[i]
				var args struct{ Cmd string }
				if err := json.Unmarshal([]byte(e.Args), &args); err != nil || args.Cmd != cmd || e.Name != "exec_command" || e.Kind != EntryCall {
					t.Errorf("call %d: %+v (%v)", i, e, err)
				}
				if len(e.CallID) != 9 || strings.Trim(strings.ToLower(e.CallID), "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
					t.Errorf("id %q is not nine letters and digits", e.CallID)
				}
			}
			if out.Output[0].CallID == out.Output[1].CallID {
				t.Error("both calls have one id")
			}
		})
	}
}

func TestChatEmptyArguments(t *testing.T) {
	s := llmtest.New(t)
	s.Push(llmtest.Call("now", ""))
	if out := stream2(t, s); out.Output[0].Args != "{}" {
		t.Errorf("args %q", out.Output[0].Args)
	}
	s.Push(llmtest.Answer{ContentType: "text/event-stream", Body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"now\",\"arguments\":null}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"})
	if out := stream2(t, s); out.Output[0].Args != "{}" {
		t.Errorf("args %q", out.Output[0].Args)
	}
	// What is malformed is for the tool to refuse, with words for the model.
	s.Push(llmtest.Call("now", `{"a":`))
	if out := stream2(t, s); out.Output[0].Args != `{"a":` {
		t.Errorf("args %q", out.Output[0].Args)
	}
}

// stream2 streams without comparing deltas, where the arguments are mended.
func stream2(t *testing.T, s *llmtest.Server) Response {
	t.Helper()
	out, err := chatAt(s, Timeouts{}).Open("m").Stream(t.Context(), ask("go"), func(Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestChatOlderForms(t *testing.T) {
	for name, c := range map[string]struct{ body, text, call string }{
		"one message in one chunk": {`{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`, "Hi", ""},
		"content as parts":         {`{"choices":[{"delta":{"content":[{"type":"text","text":"H"},{"type":"text","text":"i"}]},"finish_reason":"stop"}]}`, "Hi", ""},
		"function_call":            {`{"choices":[{"delta":{"function_call":{"name":"now","arguments":"{}"}},"finish_reason":"function_call"}]}`, "", "now"},
		"other choices":            {`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`, "Hi", ""},
		"empty lines first":        {`{"choices":[{"delta":{"content":"\n\n"}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"content":"\nHi"},"finish_reason":"stop"}]}`, "Hi", ""},
		"carriage returns":         {"{\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\r", "Hi", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			s.Push(llmtest.Answer{ContentType: "text/event-stream", Body: "data: " + c.body + "\n\n"})
			out := stream(t, chatAt(s, Timeouts{}).Open("m"), ask("go"))
			if len(out.Output) != 1 || out.Output[0].Text != c.text || out.Output[0].Name != c.call {
				t.Errorf("got %+v", out.Output)
			}
		})
	}
}

func TestChatReasoning(t *testing.T) {
	for field, raw := range map[string]string{"reasoning_content": `"reasoning_content"`, "reasoning": `"reasoning"`, "think": ""} {
		t.Run(field, func(t *testing.T) {
			s := llmtest.New(t)
			s.Push(llmtest.Answer{Items: []llmtest.Item{{Reasoning: "a < b\n\nso </thin> what"}, {Text: "It is <think>."}}, Chat: llmtest.ChatQuirks{ReasoningField: field}})
			m := chatAt(s, Timeouts{}).Open("m")
			out := stream(t, m, ask("go"))
			if len(out.Output) != 2 || out.Output[0].Kind != EntryReasoning || out.Output[0].Text != "a < b\n\nso </thin> what" || out.Output[1].Text != "It is <think>." || string(out.Output[0].Raw) != raw {
				t.Fatalf("got %+v", out.Output)
			}
			// Within the turn it goes back under its name; a tag does not.
			stream(t, m, Request{Input: append(ask("go").Input, out.Output...)})
			var sent struct {
				Messages []map[string]json.RawMessage `json:"messages"`
			}
			if err := json.Unmarshal(s.Last().Body, &sent); err != nil {
				t.Fatal(err)
			}
			if _, ok := sent.Messages[1][field]; ok != (raw != "") {
				t.Errorf("sent %s", s.Last().Body)
			}
		})
	}
}

func TestThinkSplitterAtEveryCut(t *testing.T) {
	for _, c := range []struct{ in, thought, text string }{
		{"<think>\na\nb\n</think>\n\nHi <b> you", "a\nb", "Hi <b> you"},
		{"\n <think>x</think>y", "x", "y"},
		{"no <think>tag</think>", "", "no <think>tag</think>"},
		{"<thinking", "", "<thinking"},
		{"<think>never ends </thin", "never ends </thin", ""},
		{"<th", "", "<th"},
		{"plain", "", "plain"},
	} {
		for n := range len(c.in) {
			var s thinkSplitter
			var thought, text string
			for _, piece := range []string{c.in[:n], c.in[n:]} {
				a, b := s.split(piece)
				thought, text = thought+a, text+b
			}
			a, b := s.rest()
			thought, text = thought+a, text+b
			if thought != c.thought || strings.TrimLeft(text, "\n") != c.text {
				t.Errorf("%q cut at %d: %q, %q", c.in, n, thought, text)
			}
		}
	}
}

func TestChatEnds(t *testing.T) {
	for name, c := range map[string]struct {
		answer llmtest.Answer
		class  protocol.Class
		says   string
	}{
		"refusal":         {llmtest.Answer{Items: []llmtest.Item{{Refusal: "I can't."}}}, protocol.ClassRefusal, "I can't."},
		"content filter":  {llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "content_filter"}, protocol.ClassRefusal, "filter"},
		"length":          {llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "max_output_tokens"}, protocol.ClassRequest, "length"},
		"finish error":    {llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Chat: llmtest.ChatQuirks{Finish: "error"}}, protocol.ClassOverloaded, "error"},
		"error in stream": {llmtest.Answer{Fail: &llmtest.Error{Code: "429", Message: "Rate limit exceeded: free-models-per-min."}}, protocol.ClassRateLimit, "Rate limit"},
		"context":         {llmtest.Answer{Fail: &llmtest.Error{Code: "400", Type: "exceed_context_size_error", Message: "the request exceeds the available context size"}}, protocol.ClassContext, "context"},
		"cut":             {llmtest.Answer{Items: []llmtest.Item{{Text: "a b c d e f"}}, CutAfter: 4}, protocol.ClassConnection, "EOF"},
		"ends too soon":   {llmtest.Answer{Items: []llmtest.Item{{Text: "a b"}}, Chat: llmtest.ChatQuirks{Finish: "-", NoDone: true}}, protocol.ClassConnection, "ended before"},
		"half JSON":       {llmtest.Answer{Items: []llmtest.Item{{Text: "a b"}}, Inject: map[int]string{2: "data: {\"choices\":[{\"del\n\n"}}, protocol.ClassConnection, "choices"},
		"empty":           {llmtest.Answer{}, protocol.ClassRequest, "empty"},
		"spaces only":     {llmtest.Answer{Items: []llmtest.Item{{Text: " \n \n"}}}, protocol.ClassRequest, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			s.Push(c.answer)
			f := streamFault(t, chatAt(s, Timeouts{}).Open("m"), c.class)
			if !strings.Contains(f.Detail, c.says) {
				t.Errorf("detail %q lacks %q", f.Detail, c.says)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A local server that stops at the end of its window means: shorten.
func TestChatLengthAtTheWindowIsContext(t *testing.T) {
	s := llmtest.New(t)
	p := chatAt(s, Timeouts{})
	p.mem.setList(s.URL, []protocol.ModelInfo{{ID: "m", Window: 4096}})
	s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "max_output_tokens", Usage: &llmtest.Usage{Input: 4000, Output: 96}})
	streamFault(t, p.Open("m"), protocol.ClassContext)
	s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "half"}}, Incomplete: "max_output_tokens", Usage: &llmtest.Usage{Input: 1000, Output: 96}})
	streamFault(t, p.Open("m"), protocol.ClassRequest)
}

func TestChatWithoutStreamOptions(t *testing.T) {
	s := llmtest.New(t)
	m := chatAt(s, Timeouts{}).Open("m")
	s.Push(llmtest.Failure(http.StatusBadRequest, llmtest.Error{Message: "Unrecognized request argument supplied: stream_options"}))
	out := stream(t, m, ask("go"))
	if out.Output[0].Text != "ok" || out.ContextTokens != 0 || !out.Usage.Unpriced {
		t.Errorf("got %+v", out)
	}
	stream(t, m, ask("go"))
	for i, r := range s.Requests() {
		if has := bytes.Contains(r.Body, []byte("stream_options")); has != (i == 0) {
			t.Errorf("request %d asks for usage: %v", i, has)
		}
	}
}

func TestChatModelsWithoutTools(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		remedy string
	}{
		{400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}`, "Choose a model that can use tools."},
		{400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`, "Choose a model that can use tools."},
		{500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, "Start llama.cpp with --jinja, which lets models use tools."},
		{400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`, "Choose a model that can use tools."},
		{404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, "Choose a model that can use tools."},
	} {
		s := llmtest.New(t)
		s.Push(llmtest.Answer{Status: c.status, Body: c.body})
		f := streamFault(t, chatAt(s, Timeouts{}).Open("m"), protocol.ClassRequest)
		if f.Happened != "The model m can't use tools, which the agent needs" || f.Remedy != c.remedy {
			t.Errorf("%s: %s | %s", c.body, f.Happened, f.Remedy)
		}
	}
}

// What a server attached to a call goes back with it.
func TestChatCallExtra(t *testing.T) {
	s := llmtest.New(t)
	extra := json.RawMessage(`{"google":{"thought_signature":"c2ln"}}`)
	s.Push(llmtest.Answer{Items: []llmtest.Item{{Call: "now", Args: "{}"}}, Chat: llmtest.ChatQuirks{Extra: extra}})
	m := chatAt(s, Timeouts{}).Open("m")
	out := stream(t, m, ask("go"))
	stream(t, m, Request{Input: append(append(ask("go").Input, out.Output...), Entry{Kind: EntryResult, CallID: out.Output[0].CallID, Text: "x"})})
	if !bytes.Contains(s.Last().Body, []byte(`"extra_content":`+string(extra))) {
		t.Errorf("sent %s", s.Last().Body)
	}
	if r := s.Last().Results; len(r) != 1 || r[0].CallID != out.Output[0].CallID || r[0].Output != "x" {
		t.Errorf("results %+v", r)
	}
}
