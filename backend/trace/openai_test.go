package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// item is what the ingestion takes, read strictly.
type item struct {
	Object       string          `json:"object"`
	ID           string          `json:"id"`
	WorkflowName string          `json:"workflow_name"`
	GroupID      string          `json:"group_id"`
	Metadata     json.RawMessage `json:"metadata"`
	TraceID      string          `json:"trace_id"`
	ParentID     *string         `json:"parent_id"`
	StartedAt    string          `json:"started_at"`
	EndedAt      string          `json:"ended_at"`
	SpanData     json.RawMessage `json:"span_data"`
	Error        *struct {
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

func (i item) data(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	var d map[string]json.RawMessage
	if err := json.Unmarshal(i.SpanData, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (i item) text(t *testing.T, field string) string {
	t.Helper()
	var s string
	_ = json.Unmarshal(i.data(t)[field], &s)
	return s
}

// name is what a span is called: its type, or what a custom one is of.
func (i item) name(t *testing.T) string {
	t.Helper()
	kind := i.text(t, "type")
	if kind != "custom" {
		return kind
	}
	var d struct {
		SDKSpanType string `json:"sdk_span_type"`
	}
	_ = json.Unmarshal(i.data(t)["data"], &d)
	if d.SDKSpanType != "" {
		return d.SDKSpanType
	}
	return i.text(t, "name")
}

// ingestion stands for OpenAI's.
type ingestion struct {
	*httptest.Server
	mu      sync.Mutex
	batches [][]item
	headers []http.Header
	calls   int
	// answer decides about the call with this number, from 1; nil takes all.
	answer func(call int) int
}

func ingest(t *testing.T, answer func(call int) int) *ingestion {
	t.Helper()
	in := &ingestion{answer: answer}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/traces/ingest" {
			http.Error(w, "not here", http.StatusNotFound)
			return
		}
		in.mu.Lock()
		in.calls++
		call := in.calls
		in.mu.Unlock()
		if in.answer != nil {
			if status := in.answer(call); status != 0 {
				w.WriteHeader(status)
				return
			}
		}
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client gave up
		}
		var body struct {
			Data []item `json:"data"`
		}
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&body); err != nil {
			t.Errorf("a body that would be refused: %v", err)
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.batches = append(in.batches, body.Data)
		in.headers = append(in.headers, r.Header)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(in.Close)
	return in
}

func (in *ingestion) all() []item {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Concat(in.batches...)
}

func (in *ingestion) count() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.calls
}

// log collects warnings.
type log struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

func quick() timing {
	return timing{flush: 20 * time.Millisecond, first: 5 * time.Millisecond, most: 20 * time.Millisecond}
}

func open(t *testing.T, mode Mode, base, key string, l *log) Tracer {
	t.Helper()
	return openWith(t, mode, base, key, l, quick())
}

func openWith(t *testing.T, mode Mode, base, key string, l *log, times timing) Tracer {
	t.Helper()
	c := Config{
		Mode: func() Mode { return mode },
		Credentials: func(context.Context) Credentials {
			return Credentials{Key: key, BaseURL: base, Organization: "org-1", Project: "proj-1"}
		},
		timing: times,
	}
	if l != nil {
		c.Log = slog.New(slog.NewTextHandler(l, nil))
	}
	tracer, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

func shut(t *testing.T, tracer Tracer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

var begun = time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.FixedZone("", 7200))

func at(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }

// work tells of a turn of two steps: a failed and a good attempt with two
// calls, then the answer.
func work(tr Tracer, turn string) {
	model := ModelSpan{SessionID: "s", TurnID: turn, Step: 1, Attempt: 1, Provider: "openai", Model: "gpt-x", Started: at(0), Ended: at(100)}
	model.Err = &protocol.Fault{Class: protocol.ClassOverloaded, Happened: "The service is overloaded", Detail: "503"}
	tr.Model(model)
	model.Err, model.Attempt, model.Started, model.Ended = nil, 2, at(150), at(300)
	model.InputTokens, model.OutputTokens = 120, 30
	model.Input, model.Output = []Message{{"user", "build it"}}, []Message{{"assistant", "ok"}}
	tr.Model(model)
	tr.Tool(ToolSpan{SessionID: "s", TurnID: turn, CallID: "c1", Step: 1, Name: "exec_command", Input: `{"cmd":"make"}`, Output: "built", Started: at(310), Ended: at(500)})
	tr.Tool(ToolSpan{SessionID: "s", TurnID: turn, CallID: "c2", Name: "exec_command", Input: `{`, Started: at(310), Ended: at(400), Err: errors.New("no such tool")})
	tr.Model(ModelSpan{SessionID: "s", TurnID: turn, Step: 2, Attempt: 1, Provider: "openai", Model: "gpt-x", Started: at(510), Ended: at(700)})
	tr.Turn(TurnSpan{SessionID: "s", TurnID: turn, Index: 3, Ended: at(710), DurationMs: 720, Outcome: "done", Tools: []string{"exec_command"}})
}

// tree writes the spans below a parent, in the order of their beginning.
func tree(t *testing.T, items []item, parent *string, indent string) string {
	t.Helper()
	var below []item
	for _, i := range items {
		if i.Object == "trace.span" && (parent == nil && i.ParentID == nil || parent != nil && i.ParentID != nil && *i.ParentID == *parent) {
			below = append(below, i)
		}
	}
	slices.SortStableFunc(below, func(a, b item) int { return strings.Compare(a.StartedAt+a.name(t), b.StartedAt+b.name(t)) })
	var out strings.Builder
	for _, i := range below {
		failed := ""
		if i.Error != nil {
			failed = " failed: " + i.Error.Message
		}
		fmt.Fprintf(&out, "%s%s %s-%s%s\n%s", indent, i.name(t), i.StartedAt[17:23], i.EndedAt[17:23], failed, tree(t, items, &i.ID, indent+"  "))
	}
	return out.String()
}

const wantTree = `task 01.113-01.833
  agent 01.113-01.833
    turn 01.123-01.623
      generation 01.123-01.223 failed: The service is overloaded
      generation 01.273-01.423
      function 01.433-01.623
    function 01.433-01.523 failed: no such tool
    turn 01.633-01.823
      generation 01.633-01.823
`

func TestTurnOnTheWire(t *testing.T) {
	in := ingest(t, nil)
	tr := open(t, ModeOpenAI, in.URL+"/v1/", "test-key", nil)
	work(tr, "s.3")
	shut(t, tr)

	for _, h := range in.headers {
		for name, want := range map[string]string{
			"Authorization": "Bearer test-key", "Content-Type": "application/json", "OpenAI-Beta": "traces=v1",
			"OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("header %s is %q, want %q", name, got, want)
			}
		}
	}
	items := in.all()
	traces := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.Object != "trace" })
	if len(traces) != 1 || traces[0].WorkflowName == "" || items[0].Object != "trace" {
		t.Fatalf("traces: %+v", traces)
	}
	forms := map[string]*regexp.Regexp{
		"trace": regexp.MustCompile(`^trace_[0-9a-f]{32}$`),
		"span":  regexp.MustCompile(`^span_[0-9a-f]{24}$`),
		"group": regexp.MustCompile(`^group_[0-9a-f]{24}$`),
		"time":  regexp.MustCompile(`^2026-05-04T01:02:0\d\.\d{6}\+00:00$`),
	}
	if !forms["trace"].MatchString(traces[0].ID) || !forms["group"].MatchString(traces[0].GroupID) {
		t.Errorf("trace %q of group %q", traces[0].ID, traces[0].GroupID)
	}
	seen := map[string]bool{}
	for _, i := range items[1:] {
		if !forms["span"].MatchString(i.ID) || i.TraceID != traces[0].ID || !forms["time"].MatchString(i.StartedAt) || !forms["time"].MatchString(i.EndedAt) || seen[i.ID] {
			t.Errorf("span %+v", i)
		}
		seen[i.ID] = true
	}
	if got := tree(t, items, nil, ""); got != wantTree {
		t.Errorf("spans:\n%s\nwant:\n%s", got, wantTree)
	}
}

// The service refuses fields that it does not know.
func TestSpanData(t *testing.T) {
	in := ingest(t, nil)
	tr := open(t, ModeTemporal, in.URL+"/v1", "test-key", nil)
	work(tr, "s.3")
	shut(t, tr)
	fields := map[string][]string{
		"agent":      {"handoffs", "name", "output_type", "tools", "type"},
		"generation": {"input", "model", "model_config", "output", "type", "usage"},
		"function":   {"input", "mcp_data", "name", "output", "type"},
		"custom":     {"data", "name", "type"},
	}
	usages := 0
	for _, i := range in.all() {
		if i.Object != "trace.span" {
			continue
		}
		d := i.data(t)
		kind := i.text(t, "type")
		if got := slices.Sorted(maps.Keys(d)); !slices.Equal(got, fields[kind]) {
			t.Errorf("a %s has %q", kind, got)
		}
		if kind == "generation" && string(d["usage"]) != "null" {
			usages++
			if string(d["usage"]) != `{"input_tokens":120,"output_tokens":30}` || string(d["input"]) != `[{"role":"user","content":"build it"}]` {
				t.Errorf("generation: %s", i.SpanData)
			}
		}
		if kind == "function" && i.Error == nil && (i.text(t, "input") != `{"cmd":"make"}` || i.text(t, "output") != "built") {
			t.Errorf("function: %s", i.SpanData)
		}
	}
	if usages != 1 {
		t.Errorf("%d generations with usage", usages)
	}
}

// With the engine's spans, the agent's own are all there, unchanged.
func TestTemporalSpansAreAdded(t *testing.T) {
	spans := map[Mode]map[string]string{}
	for _, mode := range []Mode{ModeOpenAI, ModeTemporal} {
		in := ingest(t, nil)
		tr := open(t, mode, in.URL+"/v1", "test-key", nil)
		work(tr, "s.3")
		shut(t, tr)
		spans[mode] = map[string]string{}
		for _, i := range in.all() {
			raw, err := json.Marshal(i)
			if err != nil {
				t.Fatal(err)
			}
			spans[mode][i.ID] = string(raw)
		}
	}
	var added []string
	for id, raw := range spans[ModeTemporal] {
		if own, ok := spans[ModeOpenAI][id]; ok {
			if own != raw {
				t.Errorf("changed: %s\nto %s", own, raw)
			}
			continue
		}
		var i item
		if err := json.Unmarshal([]byte(raw), &i); err != nil {
			t.Fatal(err)
		}
		added = append(added, i.name(t))
		if !strings.Contains(string(i.SpanData), `"workflow_id":"agent-s"`) {
			t.Errorf("%s", i.SpanData)
		}
	}
	slices.Sort(added)
	want := []string{
		"temporal:executeActivity:CallModel", "temporal:executeActivity:CallModel", "temporal:executeActivity:CallModel",
		"temporal:executeActivity:RunTool", "temporal:executeActivity:RunTool", "temporal:executeWorkflow:AgentWorkflow",
	}
	if len(spans[ModeTemporal]) != len(spans[ModeOpenAI])+len(want) || !slices.Equal(added, want) {
		t.Errorf("added: %q", added)
	}
}

// Told again by another process, a span has the same id.
func TestIDsAreStable(t *testing.T) {
	ids := func(turn string) []string {
		in := ingest(t, nil)
		tr := open(t, ModeTemporal, in.URL+"/v1", "test-key", nil)
		work(tr, turn)
		shut(t, tr)
		var out []string
		for _, i := range in.all() {
			out = append(out, i.ID)
		}
		slices.Sort(out)
		return out
	}
	first := ids("s.3")
	if again := ids("s.3"); !slices.Equal(first, again) {
		t.Errorf("%q\nthen %q", first, again)
	}
	for _, id := range ids("s.4") {
		if slices.Contains(first, id) {
			t.Errorf("two turns share %s", id)
		}
	}
	if got := slices.Compact(slices.Clone(first)); len(got) != len(first) {
		t.Errorf("two spans of a turn share an id: %q", first)
	}
}

// The steps of turns that go on are told when the app closes.
func TestOpenStepIsTold(t *testing.T) {
	in := ingest(t, nil)
	tr := open(t, ModeOpenAI, in.URL+"/v1", "test-key", nil)
	tr.Model(ModelSpan{SessionID: "s", TurnID: "s.1", Step: 1, Attempt: 1, Started: at(0), Ended: at(10)})
	shut(t, tr)
	var names []string
	for _, i := range in.all()[1:] {
		names = append(names, i.name(t))
	}
	if !slices.Equal(names, []string{"generation", "turn"}) {
		t.Errorf("%q", names)
	}
}

func TestNothingIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		mode Mode
		key  string
		warn int
	}{
		"mode none": {ModeNone, "test-key", 0},
		"no mode":   {"", "test-key", 0},
		"no key":    {ModeOpenAI, "", 1},
	} {
		in, l := ingest(t, nil), &log{}
		tr := open(t, c.mode, in.URL+"/v1", c.key, l)
		for n := range 3 {
			work(tr, fmt.Sprint("s.", n))
			time.Sleep(30 * time.Millisecond)
		}
		shut(t, tr)
		if in.count() != 0 || strings.Count(l.String(), "WARN") != c.warn {
			t.Errorf("%s: %d calls, log %s", name, in.count(), l)
		}
	}
	if tr, err := Open(t.Context(), Config{}); err != nil || tr != (Off{}) {
		t.Errorf("an empty configuration: %T, %v", tr, err)
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{ModeNone, ModeOpenAI, ModeTemporal} {
		if got, err := ParseMode(string(m)); got != m || err != nil {
			t.Errorf("%q: %q, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "OpenAI", "all"} {
		_, err := ParseMode(s)
		if err == nil {
			t.Fatalf("%q is a mode", s)
		}
		for _, m := range []Mode{ModeNone, ModeOpenAI, ModeTemporal} {
			if !strings.Contains(err.Error(), string(m)) {
				t.Errorf("%q: the error does not name %s: %v", s, m, err)
			}
		}
	}
}

func TestURL(t *testing.T) {
	for base, want := range map[string]string{
		"":                          "https://api.openai.com/v1/traces/ingest",
		"http://127.0.0.1:9/v1":     "http://127.0.0.1:9/v1/traces/ingest",
		"https://eu.example.org/x/": "https://eu.example.org/x/traces/ingest",
	} {
		if got := (Credentials{BaseURL: base}).url(); got != want {
			t.Errorf("%q: %q, want %q", base, got, want)
		}
	}
}
