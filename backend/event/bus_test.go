package event

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

func delta(session, item string, attempt, offset int, text string) protocol.Event {
	return protocol.Event{Type: protocol.EventDelta, SessionID: session, Delta: &protocol.Delta{
		Turn: session + ".1", Item: item, Attempt: attempt, Channel: protocol.ChannelText, Offset: offset, Text: text,
	}}
}

func output(session, item string, offset int64, text string) protocol.Event {
	return protocol.Event{Type: protocol.EventOutput, SessionID: session, Output: &protocol.Output{Item: item, Offset: offset, Text: text}}
}

func item(session, id string) protocol.Event {
	return protocol.Event{Type: protocol.EventItem, SessionID: session, Item: &protocol.Item{ID: id, Kind: protocol.KindNotice}}
}

// show writes an event in a few characters.
func show(ev protocol.Event) string {
	switch ev.Type {
	case protocol.EventDelta:
		return fmt.Sprintf("%s:%s#%d@%d=%s", ev.SessionID, ev.Delta.Item, ev.Delta.Attempt, ev.Delta.Offset, ev.Delta.Text)
	case protocol.EventOutput:
		return fmt.Sprintf("%s:%s@%d=%s", ev.SessionID, ev.Output.Item, ev.Output.Offset, ev.Output.Text)
	case protocol.EventItem:
		return fmt.Sprintf("%s:%s", ev.SessionID, ev.Item.ID)
	default:
		return string(ev.Type)
	}
}

func showAll(evs []protocol.Event) string {
	var out []string
	for _, ev := range evs {
		out = append(out, show(ev))
	}
	return strings.Join(out, " ")
}

func next(t *testing.T, c <-chan []protocol.Event) []protocol.Event {
	t.Helper()
	select {
	case batch, ok := <-c:
		if !ok {
			t.Fatal("the channel is closed")
		}
		return batch
	case <-time.After(5 * time.Second):
		t.Fatal("no batch came")
		return nil
	}
}

func TestMerging(t *testing.T) {
	for name, c := range map[string]struct {
		in   []protocol.Event
		want string
	}{
		"contiguous": {
			[]protocol.Event{delta("s", "a", 1, 0, "one "), delta("s", "a", 1, 4, "two "), delta("s", "a", 1, 8, "three")},
			"s:a#1@0=one two three",
		},
		"a hole": {
			[]protocol.Event{delta("s", "a", 1, 0, "one"), delta("s", "a", 1, 5, "two")},
			"s:a#1@0=one s:a#1@5=two",
		},
		"twice the same": {
			[]protocol.Event{delta("s", "a", 1, 0, "one"), delta("s", "a", 1, 0, "one")},
			"s:a#1@0=one s:a#1@0=one",
		},
		"another attempt": {
			[]protocol.Event{delta("s", "a", 1, 0, "one"), delta("s", "a", 2, 0, "new"), delta("s", "a", 1, 3, "old"), delta("s", "a", 2, 3, "er")},
			"s:a#1@0=oneold s:a#2@0=newer",
		},
		"two sessions and outputs": {
			[]protocol.Event{
				delta("s", "a", 1, 0, "1"), delta("t", "a", 1, 0, "x"), output("s", "b", 0, "out"),
				delta("s", "a", 1, 1, "2"), delta("t", "a", 1, 1, "y"), output("s", "b", 3, "put"),
			},
			"s:a#1@0=12 t:a#1@0=xy s:b@0=output",
		},
		"not to before another event of the session": {
			[]protocol.Event{delta("s", "a", 1, 0, "1"), delta("t", "a", 1, 0, "x"), item("s", "i"), delta("s", "a", 1, 1, "2"), delta("t", "a", 1, 1, "y")},
			"s:a#1@0=1 t:a#1@0=xy s:i s:a#1@1=2",
		},
		"other channel": {
			[]protocol.Event{delta("s", "a", 1, 0, "1"), {Type: protocol.EventDelta, SessionID: "s", Delta: &protocol.Delta{
				Item: "a", Attempt: 1, Channel: protocol.ChannelReasoning, Offset: 1, Text: "r",
			}}},
			"s:a#1@0=1 s:a#1@1=r",
		},
	} {
		var q queue
		for _, ev := range c.in {
			q.put(ev)
		}
		if got := showAll(q.take()); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		if len(q.take()) != 0 {
			t.Errorf("%s: taken twice", name)
		}
	}
}

// What was published is shared by all subscribers and stays as it was.
func TestPublishedEventIsNotChanged(t *testing.T) {
	var q queue
	first := delta("s", "a", 1, 0, "one")
	q.put(first)
	q.put(delta("s", "a", 1, 3, "two"))
	if q.take()[0].Delta.Text != "onetwo" || first.Delta.Text != "one" {
		t.Errorf("the published event became %+v", first.Delta)
	}
}

func TestPiecesWaitOthersDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // with a clock that only waiting moves
		var bus Bus
		c := bus.Subscribe(t.Context(), Filter{})
		begin := time.Now()
		bus.Publish(delta("s", "a", 1, 0, "x"))
		bus.Publish(delta("s", "a", 1, 1, "y"))
		if got := showAll(next(t, c)); got != "s:a#1@0=xy" {
			t.Errorf("pieces: %s", got)
		}
		if took := time.Since(begin); took != mergeFor {
			t.Errorf("pieces came after %v, want %v, in which more could be merged", took, mergeFor)
		}
		bus.Publish(delta("s", "a", 1, 2, "z"))
		begin = time.Now()
		bus.Publish(item("s", "i"))
		if got := showAll(next(t, c)); got != "s:a#1@2=z s:i" {
			t.Errorf("an item flushes: %s", got)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("an item waited for %v", took)
		}
	})
}

func TestFilterAndEnd(t *testing.T) {
	var bus Bus
	ctx, cancel := context.WithCancel(t.Context())
	c := bus.Subscribe(ctx, Filter{Session: "s"})
	bus.Publish(item("t", "other"))
	bus.Publish(protocol.Event{Type: protocol.EventEngine, Engine: &protocol.EngineStatus{State: "running"}})
	bus.Publish(item("s", "mine"))
	got := showAll(next(t, c))
	if !strings.HasSuffix(got, "s:mine") {
		got += " " + showAll(next(t, c))
	}
	if got != "engine s:mine" {
		t.Errorf("filtered: %s", got)
	}
	cancel()
	for range c { // until it is closed
	}
	bus.mu.Lock()
	defer bus.mu.Unlock()
	if len(bus.subs) != 0 {
		t.Error("the ended subscription is still there")
	}
}

// A subscriber that does not read holds nobody up, costs little memory, and is
// told that it missed something.
func TestSlowSubscriber(t *testing.T) {
	var bus Bus
	c := bus.Subscribe(t.Context(), Filter{})
	bus.Publish(protocol.Event{Type: protocol.EventEngine, Engine: &protocol.EngineStatus{State: "running"}})
	time.Sleep(2 * mergeFor) // it is being delivered now
	bus.Publish(protocol.Event{Type: protocol.EventEngine, Engine: &protocol.EngineStatus{State: "failed"}})

	chunk := strings.Repeat("x", 32<<10)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	// Nobody reads: a Publish that waited would wait for ever.
	const total = 100 << 20
	for offset := int64(0); offset < total; offset += int64(len(chunk)) {
		bus.Publish(output("s", "a", offset, chunk))
	}
	bus.Publish(item("s", "end"))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 12<<20 {
		t.Errorf("100 MB of output take %d MB of memory", grown>>20)
	}
	if got := showAll(next(t, c)); got != "engine" {
		t.Fatalf("first: %s", got)
	}
	batch := next(t, c)
	if batch[0].Type != protocol.EventGap || batch[1].Engine == nil || batch[1].Engine.State != "failed" || show(batch[len(batch)-1]) != "s:end" {
		t.Errorf("after the flood: %s … %s", showAll(batch[:2]), show(batch[len(batch)-1]))
	}
	gaps := 0
	at := int64(-1)
	for _, ev := range batch {
		switch {
		case ev.Type == protocol.EventGap:
			gaps++
		case ev.Output != nil:
			if at >= 0 && ev.Output.Offset != at {
				t.Errorf("a hole after the gap: %d, want %d", ev.Output.Offset, at)
			}
			at = ev.Output.Offset + int64(len(ev.Output.Text))
		}
	}
	if gaps != 1 || at != total {
		t.Errorf("%d gaps, output up to %d of %d", gaps, at, total)
	}
}

func TestTooManyEvents(t *testing.T) {
	var q queue
	for i := range maxWaiting + 10 {
		q.put(item("s", fmt.Sprint(i)))
	}
	batch := q.take()
	if len(batch) != 11 || batch[0].Type != protocol.EventGap || show(batch[10]) != fmt.Sprint("s:", maxWaiting+9) {
		t.Errorf("%d events: %s", len(batch), showAll(batch))
	}
}

// TestOrderOfManyPublishers checks that each session's stream arrives whole
// and in order, whoever else publishes.
func TestOrderOfManyPublishers(t *testing.T) {
	const sessions, pieces = 8, 400
	var bus Bus
	var watchers sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for range 3 {
		c := bus.Subscribe(ctx, Filter{})
		watchers.Go(func() {
			got := map[string]string{}
			ended := 0
			for ended < sessions {
				batch, ok := <-c
				if !ok {
					t.Error("timed out")
					return
				}
				for _, ev := range batch {
					switch ev.Type {
					case protocol.EventDelta:
						if ev.Delta.Offset != len(got[ev.SessionID]) {
							t.Errorf("offset %d, have %d", ev.Delta.Offset, len(got[ev.SessionID]))
						}
						got[ev.SessionID] += ev.Delta.Text
					case protocol.EventItem:
						ended++
						if n := len(got[ev.SessionID]); n != pieces*3 {
							t.Errorf("the end of %s came after %d bytes", ev.SessionID, n)
						}
					case protocol.EventGap:
						t.Error("a gap without an overflow")
					}
				}
			}
		})
	}
	for n := range sessions {
		go func() {
			s := fmt.Sprint("s", n)
			for i := range pieces {
				bus.Publish(delta(s, "a", 1, i*3, "abc"))
			}
			bus.Publish(item(s, "end"))
		}()
	}
	watchers.Wait()
}

func BenchmarkPublishDelta(b *testing.B) {
	var bus Bus
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	c := bus.Subscribe(ctx, Filter{})
	go func() {
		for range c { // a watcher that keeps up
		}
	}()
	offset := 0
	for b.Loop() {
		bus.Publish(delta("s", "a", 1, offset, "word "))
		offset += 5
	}
}
