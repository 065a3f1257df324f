package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(call int) int
		calls  int
		taken  bool
		warn   string
	}{
		"taken":              {func(int) int { return 0 }, 1, true, ""},
		"two failures":       {func(n int) int { return map[bool]int{true: 503}[n < 3] }, 3, true, ""},
		"only failures":      {func(int) int { return 500 }, 3, false, "500"},
		"refused":            {func(int) int { return 400 }, 1, false, "400"},
		"a wrong key":        {func(int) int { return 401 }, 1, false, "401"},
		"too many":           {func(int) int { return 429 }, 1, false, "429"},
		"failed, then wrong": {func(n int) int { return map[int]int{1: 502, 2: 403}[n] }, 2, false, "403"},
	} {
		in, l := ingest(t, c.answer), &log{}
		tr := open(t, ModeOpenAI, in.URL+"/v1", "test-key", l)
		tr.Turn(TurnSpan{SessionID: "s", TurnID: "s.1", Ended: at(10)})
		shut(t, tr)
		if in.count() != c.calls || (len(in.all()) > 0) != c.taken {
			t.Errorf("%s: %d calls, %d items taken", name, in.count(), len(in.all()))
		}
		if got := l.String(); strings.Count(got, "WARN") != map[bool]int{true: 1}[c.warn != ""] || !strings.Contains(got, c.warn) || strings.Contains(got, "test-key") {
			t.Errorf("%s: log %s", name, got)
		}
	}
}

// A failing service is told once, and what comes later is tried again.
func TestServiceComesBack(t *testing.T) {
	in, l := ingest(t, func(n int) int { return map[bool]int{true: 400}[n <= 3] }), &log{}
	tr := open(t, ModeOpenAI, in.URL+"/v1", "test-key", l)
	for n := 1; len(in.all()) == 0; n++ {
		if n > 500 {
			t.Fatal("nothing was taken")
		}
		tr.Turn(TurnSpan{SessionID: "s", TurnID: fmt.Sprint("s.", n), Ended: at(10)})
		time.Sleep(20 * time.Millisecond)
	}
	shut(t, tr)
	if strings.Count(l.String(), "WARN") != 1 {
		t.Errorf("log %s", l)
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	l := &log{}
	tr := open(t, ModeOpenAI, "http://"+address+"/v1", "test-key", l)
	work(tr, "s.1")
	shut(t, tr)
	if strings.Count(l.String(), "WARN") != 1 {
		t.Errorf("log %s", l)
	}
}

// A service that does not answer holds up neither a turn nor, beyond its
// deadline, the closing.
func TestSlowService(t *testing.T) {
	release := make(chan struct{})
	in := ingest(t, func(int) int { <-release; return 0 })
	defer close(release)
	tr := open(t, ModeOpenAI, in.URL+"/v1", "test-key", nil)
	work(tr, "s.0")
	for in.count() == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	begin := time.Now()
	const turns = 300
	for n := range turns {
		work(tr, fmt.Sprint("s.", n+1))
	}
	if each := time.Since(begin) / turns; each > 20*time.Millisecond {
		t.Errorf("telling of a turn took %v", each)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	begin = time.Now()
	if err := tr.Close(ctx); err == nil {
		t.Error("what was not sent is not reported")
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
	tr.Turn(TurnSpan{SessionID: "s", TurnID: "late"}) // after the closing: nothing happens
}

func TestFullQueue(t *testing.T) {
	release := make(chan struct{})
	in, l := ingest(t, func(int) int { <-release; return 0 }), &log{}
	tr := open(t, ModeOpenAI, in.URL+"/v1", "test-key", l)
	tr.Model(ModelSpan{SessionID: "s", TurnID: "s.1", Step: 1, Attempt: 1})
	for in.count() == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	for n := range maxQueue + 500 {
		tr.Tool(ToolSpan{SessionID: "s", TurnID: "s.1", CallID: fmt.Sprint(n)})
	}
	close(release)
	shut(t, tr)
	if got := len(in.all()); got < maxQueue || got > maxQueue+10 { // and what the first request carried
		t.Errorf("%d items were sent, the queue holds %d", got, maxQueue)
	}
	for _, batch := range in.batches {
		if len(batch) > maxBatch {
			t.Errorf("a batch of %d", len(batch))
		}
	}
	if !strings.Contains(l.String(), "dropped") {
		t.Errorf("log %s", l)
	}
}

// A queue that fills is sent before its time, and large items make small
// batches.
func TestFillingQueueIsSent(t *testing.T) {
	in := ingest(t, nil)
	tr := openWith(t, ModeOpenAI, in.URL+"/v1", "test-key", nil, timing{flush: time.Hour, first: time.Millisecond, most: time.Millisecond})
	large := strings.Repeat("x", 90_000)
	for n := range 140 { // 12.6 MB of the 11.2 MB that are 70 % of the bytes
		tr.Tool(ToolSpan{SessionID: "s", TurnID: "s.1", CallID: fmt.Sprint(n), Output: large})
	}
	for deadline := time.Now().Add(20 * time.Second); len(in.all()) < 100; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d items were sent", len(in.all()))
		}
	}
	shut(t, tr)
	if got := len(in.all()); got != 141 {
		t.Errorf("%d items", got)
	}
	for _, batch := range in.batches {
		if len(batch) > maxBatchBytes/90_000+1 { // the trace itself is small
			t.Errorf("a batch of %d large items", len(batch))
		}
	}
}

func TestCutting(t *testing.T) {
	for name, text := range map[string]string{
		"plain": strings.Repeat("a", 300_000), "wide": strings.Repeat("日本語", 50_000), "quotes": strings.Repeat(`"\`+"\n", 50_000),
		"markup": strings.Repeat("<a&b>", 30_000), "control": strings.Repeat("\x01", 60_000), "not text": strings.Repeat("\xff\xfe", 60_000),
		"lines": strings.Repeat("\u2028", 60_000), "emoji": strings.Repeat("🙂", 60_000),
	} {
		cut := cutText(text, maxFieldBytes)
		raw, err := json.Marshal(cut)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > maxFieldBytes || len(raw) < maxFieldBytes-20 || !strings.HasSuffix(cut, cutMark) || !strings.HasPrefix(text, strings.TrimSuffix(cut, cutMark)) {
			t.Errorf("%s: %d bytes of JSON", name, len(raw))
		}
		if name != "not text" && !utf8.ValidString(cut) {
			t.Errorf("%s: cut in a character", name)
		}
		if jsonBytes(cut) != len(raw) {
			t.Errorf("%s: counted %d, is %d", name, jsonBytes(cut), len(raw))
		}
	}
	fits := strings.Repeat("b", maxFieldBytes-2)
	if cutText(fits, maxFieldBytes) != fits {
		t.Error("what fits is cut")
	}

	var messages []Message
	for n := range 50 {
		messages = append(messages, Message{"user", fmt.Sprint(n) + strings.Repeat("<", 1500)})
	}
	cut := cutMessages(messages)
	raw, err := json.Marshal(cut)
	if err != nil {
		t.Fatal(err)
	}
	last := len(cut) - 1
	if len(raw) > maxFieldBytes || len(raw) < maxFieldBytes-200 || cut[last] != messages[49] || !strings.HasSuffix(cut[0].Content, cutMark) {
		t.Errorf("%d messages in %d bytes", len(cut), len(raw))
	}
	if messages[49-last].Content == cut[0].Content {
		t.Error("the caller's messages were changed")
	}
	if got := cutMessages(messages[:3]); len(got) != 3 || got[0] != messages[0] {
		t.Errorf("what fits: %d", len(got))
	}
	if got := cutMessages(nil); got != nil {
		t.Errorf("nothing became %v", got)
	}
}

func BenchmarkTool(b *testing.B) {
	tr, err := Open(b.Context(), Config{
		Mode:        func() Mode { return ModeOpenAI },
		Credentials: func(context.Context) Credentials { return Credentials{} },
	})
	if err != nil {
		b.Fatal(err)
	}
	span := ToolSpan{SessionID: "s", TurnID: "s.1", CallID: "c", Name: "exec_command", Output: strings.Repeat("line\n", 1000)}
	for b.Loop() {
		tr.Tool(span)
	}
	_ = tr.Close(b.Context())
}
