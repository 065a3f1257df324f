package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares JSON with a file, whatever its spacing.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, got)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// testKey has the form of nothing real.
const testKey = "test-key-1234"

func openAIAt(s *llmtest.Server, t Timeouts) openAI {
	return openAI{settings: OpenAISettings{Key: testKey, BaseURL: s.URL}, client: newClient(nil), times: t, mem: newMemory()}
}

func chatAt(s *llmtest.Server, t Timeouts) compatible {
	return compatible{ep: Endpoint{Name: "box", Label: "Box", BaseURL: s.URL, Key: testKey}, client: newClient(nil), times: t, mem: newMemory()}
}

// both runs a test with a model of each API.
func both(t *testing.T, times Timeouts, f func(t *testing.T, s *llmtest.Server, m Model)) {
	t.Helper()
	for _, api := range []string{"responses", "chat"} {
		t.Run(api, func(t *testing.T) {
			s := llmtest.New(t)
			var p Provider = openAIAt(s, times)
			if api == "chat" {
				p = chatAt(s, times)
			}
			f(t, s, p.Open(DefaultModel))
		})
	}
}

func ask(text string) Request { return Request{Input: []Entry{{Kind: EntryUser, Text: text}}} }

// recorder keeps what was streamed, by entry and channel.
type recorder struct {
	deltas []Delta
	cancel func()
}

func (r *recorder) sink(d Delta) {
	r.deltas = append(r.deltas, d)
	if r.cancel != nil {
		r.cancel()
	}
}

func (r *recorder) text(index int, ch protocol.Channel) string {
	var b strings.Builder
	for _, d := range r.deltas {
		if d.Index == index && d.Channel == ch {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// sameAsStreamed checks that the deltas of each entry add up to the entry.
func (r *recorder) sameAsStreamed(t *testing.T, out Response) {
	t.Helper()
	for i, e := range out.Output {
		ch, want := protocol.ChannelText, e.Text
		switch e.Kind {
		case EntryReasoning:
			ch = protocol.ChannelReasoning
		case EntryCall:
			ch, want = protocol.ChannelArgs, e.Args
			named := false
			for _, d := range r.deltas {
				if d.Index == i && d.Channel == ch {
					named = named || d.Tool != ""
					if d.Tool != "" && d.Tool != e.Name {
						t.Errorf("entry %d streamed for tool %q, is %q", i, d.Tool, e.Name)
					}
				}
			}
			if !named {
				t.Errorf("entry %d streamed without the tool's name", i)
			}
		}
		if got := r.text(i, ch); got != want {
			t.Errorf("entry %d streamed %q, is %q", i, got, want)
		}
	}
}

func stream(t *testing.T, m Model, req Request) Response {
	t.Helper()
	var r recorder
	out, err := m.Stream(t.Context(), req, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.sameAsStreamed(t, out)
	return out
}

// faultOf wants an error to be a fault of a class.
func faultOf(t *testing.T, err error, class protocol.Class) *protocol.Fault {
	t.Helper()
	f, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		t.Fatalf("got %v (%T), want a fault", err, err)
	}
	if f.Class != class {
		t.Errorf("class %s, want %s: %s | %s", f.Class, class, f.Happened, f.Detail)
	}
	if f.Happened == "" || strings.HasSuffix(f.Happened, ".") {
		t.Errorf("happened: %q", f.Happened)
	}
	if strings.Contains(f.Happened+f.Remedy+f.Detail, testKey) {
		t.Errorf("the fault tells the key: %+v", f)
	}
	return f
}

func streamFault(t *testing.T, m Model, class protocol.Class) *protocol.Fault {
	t.Helper()
	_, err := m.Stream(t.Context(), ask("hi"), func(Delta) {})
	return faultOf(t, err, class)
}

// within fails a test that hangs.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("takes longer than %v", limit)
	}
}

func withContext(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// conversation has every kind of entry, with what is awkward about each.
func conversation(provider string) Request {
	reasoning, message := json.RawMessage(`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"b3BhcXVl<&>"}`), json.RawMessage(`{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]}`)
	if provider != ProviderOpenAI {
		reasoning, message = json.RawMessage(`"reasoning_content"`), nil
	}
	return Request{
		Instructions: "Be brief & <exact>.",
		Effort:       "high",
		CacheKey:     "session-1",
		Tools: []ToolSpec{
			{Name: "exec_command", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}`)},
			{Name: "now"},
		},
		Input: []Entry{
			{Kind: EntryUser, Text: "Earlier"},
			{Kind: EntryReasoning, Text: "of another turn", Raw: reasoning, Provider: provider},
			{Kind: EntryAssistant, Text: "An answer", Provider: "other", Raw: json.RawMessage(`{"foreign":true}`)},
			{Kind: EntryUser, Text: "What is in <this> picture?\n\u2028", Images: []Image{{"image/png", []byte{1, 2, 3}}}},
			{Kind: EntryReasoning, Text: "I should look", Raw: reasoning, Provider: provider},
			{Kind: EntryReasoning, Text: "foreign", Raw: json.RawMessage(`{"id":"x"}`), Provider: "other"},
			{Kind: EntryAssistant, Text: "I look.", Raw: message, Provider: provider},
			{Kind: EntryCall, CallID: "call_1", Name: "exec_command", Args: `{"cmd":"ls"}`, Provider: provider},
			{Kind: EntryCall, CallID: "call_2", Name: "view_image", Args: `{"path": broken`, Provider: provider},
			{Kind: EntryResult, CallID: "call_1", Text: "a\nb"},
			{Kind: EntryResult, CallID: "call_2", Text: "The image:", Images: []Image{{"image/jpeg", []byte("jpeg")}}},
			{Kind: EntryAssistant, Text: "Two files."},
			{Kind: EntryUser, Text: "Thanks"},
		},
	}
}
