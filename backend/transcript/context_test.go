package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

func reasoning(seq int, provider string) protocol.Item {
	return protocol.Item{Seq: seq, Kind: protocol.KindReasoning, Reasoning: &protocol.ReasoningItem{
		Summary: fmt.Sprint("thought ", seq), Provider: provider, Raw: json.RawMessage(`{"type":"reasoning"}`),
	}}
}

func call(seq, step int, status protocol.ToolStatus, output string) protocol.Item {
	i := toolItem(seq, status, output)
	i.Tool.Step = step
	i.Tool.Raw = json.RawMessage(`{"type":"function_call"}`)
	return i
}

func turnEnd(seq int, provider string) protocol.Item {
	return protocol.Item{Seq: seq, Kind: protocol.KindTurnEnd, TurnEnd: &protocol.TurnEndItem{Provider: provider}}
}

func inTurn(turn string, items ...protocol.Item) []protocol.Item {
	for i := range items {
		items[i].Turn, items[i].ID = turn, ItemID(turn, items[i].Seq)
	}
	return items
}

// outline writes entries one a line.
func outline(entries []llm.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		kind := [...]string{"user", "assistant", "reasoning", "call", "result"}[e.Kind]
		raw := ""
		if e.Raw != nil {
			raw = " raw:" + e.Provider
		}
		images := ""
		if len(e.Images) > 0 {
			images = fmt.Sprintf(" images:%d", len(e.Images))
		}
		text := e.Text
		if e.Kind == llm.EntryCall {
			text = e.Name + e.Args
		}
		fmt.Fprintf(&b, "%s %s%q%s%s\n", kind, e.CallID, text, raw, images)
	}
	return b.String()
}

func entries(t testing.TB, tr *Transcript, items []protocol.Item, o ContextOptions) []llm.Entry {
	t.Helper()
	out, err := tr.Entries(t.Context(), items, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEntries(t *testing.T) {
	tr := newTranscript(t)
	partial := assistant(3, "half an ans")
	partial.Assistant.Partial = true
	emptyPartial := assistant(4, "")
	emptyPartial.Assistant.Partial = true
	fault := protocol.Item{Seq: 5, Kind: protocol.KindFault, Fault: &protocol.Fault{Happened: "failed"}}
	notice := protocol.Item{Seq: 2, Kind: protocol.KindNotice, Notice: &protocol.NoticeItem{Text: "retried"}}

	for name, c := range map[string]struct {
		items []protocol.Item
		o     ContextOptions
		want  string
	}{
		"a plain turn, for its maker": {
			slices.Concat(
				inTurn("s.1", user(0, "hi"), reasoning(1, "openai"), call(2, 1, protocol.ToolDone, "out"), assistant(3, "done"), turnEnd(4, "openai")),
				inTurn("s.2", user(0, "more"))),
			ContextOptions{Provider: "openai"},
			`user "hi"
reasoning "thought 1" raw:openai
call call2"exec_command{\"cmd\":\"make\"}" raw:openai
result call2"out"
assistant "done" raw:openai
user "more"
`,
		},
		"for another provider": {
			inTurn("s.1", user(0, "hi"), reasoning(1, "openai"), call(2, 1, protocol.ToolDone, "out"), assistant(3, "done"), turnEnd(4, "openai")),
			ContextOptions{Provider: "local"},
			`user "hi"
call call2"exec_command{\"cmd\":\"make\"}"
result call2"out"
assistant "done"
`,
		},
		"calls of one answer and of the next": {
			inTurn("s.1", user(0, "hi"), call(1, 1, protocol.ToolDone, "a"), call(2, 1, protocol.ToolDone, "b"), call(3, 2, protocol.ToolDone, "c")),
			ContextOptions{Provider: "x"},
			`user "hi"
call call1"exec_command{\"cmd\":\"make\"}" raw:x
call call2"exec_command{\"cmd\":\"make\"}" raw:x
result call1"a"
result call2"b"
call call3"exec_command{\"cmd\":\"make\"}" raw:x
result call3"c"
`,
		},
		"calls without a step": {
			inTurn("s.1", call(1, 0, protocol.ToolDone, "a"), call(2, 0, protocol.ToolDone, "b")),
			ContextOptions{Provider: "y"},
			`call call1"exec_command{\"cmd\":\"make\"}" raw:y
result call1"a"
call call2"exec_command{\"cmd\":\"make\"}" raw:y
result call2"b"
`,
		},
		"every call has a result": {
			inTurn("s.1",
				call(1, 1, protocol.ToolPending, ""), call(2, 2, protocol.ToolRunning, "some live text"), call(3, 3, protocol.ToolDenied, ""),
				call(4, 4, protocol.ToolDenied, "The user denied this: not on a Friday"), call(5, 5, protocol.ToolDone, ""), call(6, 6, protocol.ToolInterrupted, ""),
				call(7, 7, protocol.ToolInterrupted, "stopped after 3 s\nabc"), call(8, 8, protocol.ToolFailed, "")),
			ContextOptions{Provider: "z"},
			`call call1"exec_command{\"cmd\":\"make\"}" raw:z
result call1"Interrupted: the call was not run."
call call2"exec_command{\"cmd\":\"make\"}" raw:z
result call2"Interrupted: the call was begun and may be partly done. Look at the state of things before doing it again."
call call3"exec_command{\"cmd\":\"make\"}" raw:z
result call3"The user denied this call. It was not run."
call call4"exec_command{\"cmd\":\"make\"}" raw:z
result call4"The user denied this: not on a Friday"
call call5"exec_command{\"cmd\":\"make\"}" raw:z
result call5"(no output)"
call call6"exec_command{\"cmd\":\"make\"}" raw:z
result call6"Interrupted: the call was begun and may be partly done. Look at the state of things before doing it again."
call call7"exec_command{\"cmd\":\"make\"}" raw:z
result call7"stopped after 3 s\nabc"
call call8"exec_command{\"cmd\":\"make\"}" raw:z
result call8"The call failed without a message."
`,
		},
		"an interrupted answer, a fault, a notice, reasoning that led to nothing": {
			slices.Concat(
				inTurn("s.1", user(0, "hi"), reasoning(1, "openai"), notice, partial, emptyPartial, fault, turnEnd(6, "openai")),
				inTurn("s.2", user(0, "go on"), reasoning(1, "openai"), turnEnd(2, "openai")),
				inTurn("s.3", user(0, "and?"), reasoning(1, "openai"), notice, assistant(3, "now"))),
			ContextOptions{Provider: "openai"},
			`user "hi"
assistant "half an ans\n\n[This answer was cut off here.]"
user "go on"
user "and?"
reasoning "thought 1" raw:openai
assistant "now" raw:openai
`,
		},
		"a summary stands for all before it": {
			inTurn("s.1", user(0, "old"), summary(1, "first"), user(2, "newer"), summary(3, "second"), assistant(4, "on")),
			ContextOptions{Provider: "openai"},
			`user "[The conversation before this point was summarised:]\n\nsecond"
assistant "on" raw:openai
`,
		},
	} {
		if got := outline(entries(t, tr, c.items, c.o)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestAttachments(t *testing.T) {
	tr := newTranscript(t)
	picture := []byte("\x89PNG picture")
	id, err := tr.store.Put(t.Context(), picture)
	if err != nil {
		t.Fatal(err)
	}
	item := user(0, "look")
	item.User.Attachments = []protocol.Attachment{
		{Name: "a.png", MIME: "image/png", Size: 12, Object: string(id)},
		{Name: "data \"1\".csv", MIME: "text/csv", Size: 99, Object: "whatever"},
		{Name: "gone.png", MIME: "image/png", Size: 12, Object: string(store.Sum([]byte("never put")))},
		{Name: "drawing.svg", MIME: "image/svg+xml", Size: 5, Object: "x"},
	}
	got := entries(t, tr, inTurn("s.1", item), ContextOptions{Images: true})
	want := "look\n\n" +
		`[Attached file, written to the workspace as "data \"1\".csv" (text/csv, 99 bytes)]` + "\n\n" +
		`[An image "gone.png" can't be read any more.]` + "\n\n" +
		`[Attached file, written to the workspace as "drawing.svg" (image/svg+xml, 5 bytes)]`
	if len(got) != 1 || got[0].Text != want {
		t.Errorf("text %q\nwant %q", got[0].Text, want)
	}
	if !reflect.DeepEqual(got[0].Images, []llm.Image{{MIME: "image/png", Data: picture}}) {
		t.Errorf("images: %+v", got[0].Images)
	}
	blind := entries(t, tr, inTurn("s.1", item), ContextOptions{})
	if len(blind[0].Images) != 0 || !strings.Contains(blind[0].Text, `[An image "a.png" is not shown: this model takes no images.]`) {
		t.Errorf("for a model without images: %+v", blind[0])
	}
	// A tool's picture.
	view := toolItem(0, protocol.ToolDone, "a picture of 3 × 4")
	view.Tool.Result.Image, view.Tool.Result.ImageMIME = string(id), "image/png"
	shown := entries(t, tr, inTurn("s.1", view), ContextOptions{Images: true})
	if r := shown[1]; r.Kind != llm.EntryResult || len(r.Images) != 1 || !bytes.Equal(r.Images[0].Data, picture) {
		t.Errorf("a tool's picture: %+v", r)
	}
}

func TestOnlyLastImages(t *testing.T) {
	tr := newTranscript(t)
	var items []protocol.Item
	for n := range maxImages + 5 {
		id, err := tr.store.Put(t.Context(), fmt.Appendf(nil, "picture %d", n))
		if err != nil {
			t.Fatal(err)
		}
		item := user(n, fmt.Sprint("n", n))
		item.User.Attachments = []protocol.Attachment{{Name: "p.png", MIME: "image/png", Size: 10, Object: string(id)}}
		items = append(items, item)
	}
	got := entries(t, tr, inTurn("s.1", items...), ContextOptions{Images: true})
	for n, e := range got {
		if shown := len(e.Images) == 1; shown != (n >= 5) || shown == strings.Contains(e.Text, "older image") {
			t.Errorf("picture %d: shown %v, %q", n, shown, e.Text)
		}
	}
	// By size: two of 10 MB fit, a third and all older ones do not.
	for i := range items {
		items[i].User.Attachments[0].Size = 10 << 20
	}
	items[0].User.Attachments[0].Size = 1
	got = entries(t, tr, items, ContextOptions{Images: true})
	count := 0
	for _, e := range got {
		count += len(e.Images)
	}
	if last := len(got) - 1; count != 2 || len(got[last].Images) != 1 || len(got[last-1].Images) != 1 {
		t.Errorf("%d large pictures are shown", count)
	}
}

// script is a conversation of n calls with outputs of the given size.
func script(n, size int) []llm.Entry {
	out := []llm.Entry{{Kind: llm.EntryUser, Text: "go"}}
	for i := range n {
		id := fmt.Sprint("c", i)
		out = append(
			out,
			llm.Entry{Kind: llm.EntryCall, CallID: id, Name: "exec_command", Args: "{}"},
			llm.Entry{Kind: llm.EntryResult, CallID: id, Text: fmt.Sprintf("%d:", i) + strings.Repeat("é", size/2)},
		)
	}
	return out
}

func TestPrune(t *testing.T) {
	all := script(100, 8<<10)
	if got := prune(all, 0); !reflect.DeepEqual(got, all) {
		t.Error("pruned without a budget")
	}
	if got := prune(all[:21], 1_000_000); !reflect.DeepEqual(got, all[:21]) {
		t.Error("pruned within the budget")
	}
	const budget = 100_000 // about 49 outputs
	changes, widest := 0, int64(0)
	var before []llm.Entry
	for n := 1; n <= len(all); n += 2 {
		got := prune(all[:n], budget)
		if len(got) != n {
			t.Fatalf("%d entries became %d", n, len(got))
		}
		widest = max(widest, Estimate(got))
		if !reflect.DeepEqual(got[:len(before)], before) {
			changes++
		}
		before = got
		// The newest are whole.
		for i := max(0, n-20); i < n; i++ {
			if !reflect.DeepEqual(got[i], all[i]) {
				t.Fatalf("of %d entries, number %d was shortened", n, i)
			}
		}
	}
	if widest > budget {
		t.Errorf("up to %d tokens, the budget is %d", widest, budget)
	}
	if changes == 0 || changes > 8 {
		t.Errorf("the beginning changed %d times in 100 calls", changes)
	}
	first := before[2].Text
	if !strings.HasPrefix(first, "0:é") || !strings.Contains(first, "of older output left out") || strings.ContainsRune(first, '\uFFFD') || len(first) > 3<<10 {
		t.Errorf("a shortened output: %d bytes, %q…", len(first), first[:40])
	}
	if all[2].Text == first {
		t.Error("the caller's entries were changed")
	}
}

func TestCompaction(t *testing.T) {
	small := script(3, 100)
	whole := CompactionEntries(small, 0)
	if len(whole) != len(small)+1 || !reflect.DeepEqual(whole[:len(small)], small) || whole[len(small)].Text != compactionPrompt {
		t.Errorf("a conversation that fits: %s", outline(whole))
	}
	const budget = 20_000
	cut := CompactionEntries(script(300, 4000), budget)
	if len(cut) != 1 || Estimate(cut) > budget {
		t.Fatalf("a conversation that does not fit: %d entries, %d tokens", len(cut), Estimate(cut))
	}
	text := cut[0].Text
	for _, want := range []string{"USER: go", "RESULT: 0:", "RESULT: 299:", "bytes left out", compactionPrompt} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if Estimate(cut) < budget*3/4 {
		t.Errorf("only %d of %d tokens are used", Estimate(cut), budget)
	}
	tiny := CompactionEntries(script(300, 4000), 100)
	if len(tiny) != 1 || len(tiny[0].Text) > len(compactionPrompt)+500 {
		t.Errorf("a budget below the prompt itself gives %d bytes", len(tiny[0].Text))
	}
}

func TestSummaryText(t *testing.T) {
	items := []protocol.Item{user(0, "first"), user(1, "fix the build"), assistant(2, "ok")}
	if got := SummaryText("all is well", items); got != "all is well\n\n[The user's last message, word for word:]\n\nfix the build" {
		t.Errorf("%q", got)
	}
	long := SummaryText("x", []protocol.Item{user(0, strings.Repeat("long ", 10_000))})
	if len(long) > lastMessageBytes+200 {
		t.Errorf("a long message makes a summary of %d bytes", len(long))
	}
	if got := SummaryText("x", nil); got != "x" {
		t.Errorf("%q", got)
	}
}

func BenchmarkEntries500(b *testing.B) {
	tr := newTranscript(b)
	items := []protocol.Item{user(0, "go")}
	for i := range 500 {
		items = append(items, call(i+1, i+1, protocol.ToolDone, strings.Repeat("output ", 100)))
	}
	items = inTurn("s.1", items...)
	for b.Loop() {
		if got := entries(b, tr, items, ContextOptions{Provider: "openai", Budget: 200_000}); len(got) != 1001 {
			b.Fatal(len(got))
		}
	}
}
