package transcript

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

func TestOpenTurn(t *testing.T) {
	tr := newTranscript(t)
	turn := ref("s", 1, "")
	write(t, tr, turn, user(0, "hello"))
	write(t, tr, turn, assistant(1, "hi"), toolItem(2, protocol.ToolRunning, ""))
	write(t, tr, turn, toolItem(2, protocol.ToolDone, "built"))
	items := load(t, tr, "", turn.TurnID)
	if got := ids(items); !slices.Equal(got, []string{"s.1/000000", "s.1/000001", "s.1/000002"}) {
		t.Fatalf("items: %q", got)
	}
	if last := items[2].Tool; last.Status != protocol.ToolDone || last.Result.Output != "built" {
		t.Errorf("the item written again: %+v", last)
	}
	// A turn whose id begins alike is another.
	write(t, tr, ref("s", 10, ""), user(0, "other"))
	if got := len(load(t, tr, "", "s.1")); got != 3 {
		t.Errorf("%d items with another turn beside", got)
	}
	for name, bad := range map[string]protocol.Item{
		"of another turn":  {ID: "s.2/000003", Seq: 3},
		"of another place": {ID: "s.1/000004", Seq: 3},
		"negative":         {Seq: -1},
	} {
		if err := tr.Write(t.Context(), turn, bad); err == nil {
			t.Errorf("an item %s is taken", name)
		}
	}
}

// Another process works on the same turn: each sees what the other wrote.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	a, b := New(openStore(t, dir)), New(openStore(t, dir))
	turn := ref("s", 1, "")
	write(t, a, turn, user(0, "hello"), toolItem(1, protocol.ToolRunning, ""))
	if got := len(load(t, b, "", turn.TurnID)); got != 2 {
		t.Fatalf("b sees %d items", got)
	}
	write(t, b, turn, toolItem(1, protocol.ToolDone, "by b"), assistant(2, "done"))
	items := load(t, a, "", turn.TurnID)
	if len(items) != 3 || items[1].Tool.Result.Output != "by b" {
		t.Fatalf("a sees %d items: %+v", len(items), items)
	}
	head := commit(t, b, turn)
	if again := commit(t, a, turn); again != head {
		t.Errorf("committed again by the other: %s, want %s", again, head)
	}
	session := protocol.Session{ID: "s", Turn: &protocol.OpenTurn{ID: turn.TurnID}}
	page, err := a.Page(t.Context(), session, "", 0)
	if err != nil || len(page.Items) != 4 {
		t.Errorf("a's page after b's commit has %d items, %v", len(page.Items), err)
	}
}

func TestWriteAfterCommit(t *testing.T) {
	tr := newTranscript(t)
	turn := ref("s", 1, "")
	write(t, tr, turn, user(0, "hello"))
	head := commit(t, tr, turn)
	if err := tr.Write(t.Context(), turn, assistant(1, "late")); !errors.Is(err, ErrCommitted) {
		t.Errorf("write after the commit: %v", err)
	}
	if got := len(load(t, tr, head, "")); got != 2 {
		t.Errorf("%d items, want 2", got)
	}
}

func TestCommit(t *testing.T) {
	tr := newTranscript(t)
	first := talk(t, tr, "s", "", 1, 1)
	turn := ref("s", 2, first)
	write(t, tr, turn, user(0, "again"), toolItem(1, protocol.ToolDone, "ok"))
	before := load(t, tr, "", turn.TurnID)
	in := end(turn)
	in.End.Snapshot = "abc"
	head, err := tr.Commit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tr.GetCommit(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	want := Commit{
		Version: 1, Parent: first, Skip: first, SkipIndex: 1, Index: 2, Turn: "s.2", Turns: 2, Chunks: c.Chunks, Items: 3,
		Snapshot: "abc", Usage: in.End.Usage, Provider: "demo", Model: "demo-1", Backend: "local",
		Outcome: protocol.OutcomeDone, Time: in.Time,
	}
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("commit %+v\nwant   %+v", *c, want)
	}
	// Read afresh, nothing has changed.
	fresh := New(tr.store)
	items, err := fresh.CommitItems(t.Context(), c)
	if err != nil || len(items) != 3 || !reflect.DeepEqual(items[:2], before) {
		t.Errorf("items of the commit: %+v, %v", items, err)
	}
	if e := items[2]; e.Kind != protocol.KindTurnEnd || e.Seq != 2 || e.TurnEnd.Snapshot != "abc" || !e.Time.Equal(in.Time) {
		t.Errorf("end of the turn: %+v", e)
	}
	if left, err := tr.store.List(t.Context(), "turn/", 0, 0); err != nil || len(left) != 0 {
		t.Errorf("records left behind: %d, %v", len(left), err)
	}
	again := in
	again.Time = again.Time.Add(time.Hour)
	if id, err := tr.Commit(t.Context(), again); err != nil || id != head {
		t.Errorf("the same turn again: %s, %v; want %s", id, err, head)
	}
}

// A turn end that is written already is not written twice.
func TestCommitKeepsTheEndWritten(t *testing.T) {
	tr := newTranscript(t)
	turn := ref("s", 1, "")
	in := end(turn)
	write(t, tr, turn, user(0, "hello"), protocol.Item{Seq: 1, Kind: protocol.KindTurnEnd, Time: epoch, TurnEnd: &in.End})
	head, err := tr.Commit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(load(t, tr, head, "")); !slices.Equal(got, []string{"s.1/000000", "s.1/000001"}) {
		t.Errorf("items: %q", got)
	}
}

// TestCommitCutOff cuts a commit off at each of its writes and does it again
// in a new process: nothing is lost or doubled, and the id stays.
func TestCommitCutOff(t *testing.T) {
	for cut := int64(1); ; cut++ {
		s := openStore(t, t.TempDir())
		failing := &spy{Store: s}
		tr := New(failing)
		first := talk(t, tr, "s", "", 1, 1)
		turn := ref("s", 2, first)
		big := strings.Repeat("x", 300<<10)
		write(t, tr, turn, user(0, "go"), toolItem(1, protocol.ToolDone, big), toolItem(2, protocol.ToolDone, big), assistant(3, "done"))
		failing.failAt.Store(failing.writes.Load() + cut)
		_, err := tr.Commit(t.Context(), end(turn))
		if err == nil {
			if cut < 6 {
				t.Fatalf("a commit had %d writes only", cut-1)
			}
			return
		}
		if !errors.Is(err, errSpy) {
			t.Fatal(err)
		}
		fresh := New(s)
		head := commit(t, fresh, turn)
		if again := commit(t, New(s), turn); again != head {
			t.Fatalf("cut at write %d: the id changed from %s to %s", cut, head, again)
		}
		want := []string{"s.1/000000", "s.1/000001", "s.1/000002", "s.2/000000", "s.2/000001", "s.2/000002", "s.2/000003", "s.2/000004"}
		if got := ids(load(t, New(s), head, "")); !slices.Equal(got, want) {
			t.Fatalf("cut at write %d: items %q", cut, got)
		}
	}
}

func TestHugeTurn(t *testing.T) {
	tr := newTranscript(t)
	turn := ref("s", 1, "")
	var batch []protocol.Item
	for i := range 10_000 {
		batch = append(batch, toolItem(i, protocol.ToolDone, fmt.Sprintf("output %d %s", i, strings.Repeat("y", 200))))
		if len(batch) == 500 {
			write(t, tr, turn, batch...)
			batch = nil
		}
	}
	head := commit(t, tr, turn)
	c, err := tr.GetCommit(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	if c.Items != 10_001 || len(c.Chunks) < 8 {
		t.Errorf("%d items in %d chunks", c.Items, len(c.Chunks))
	}
	for _, chunk := range c.Chunks {
		if chunk.Bytes > chunkBytes {
			t.Errorf("a chunk of %d bytes", chunk.Bytes)
		}
	}
	watched := &spy{Store: tr.store}
	fresh := New(watched)
	session := protocol.Session{ID: "s", Head: string(head)}
	page, err := fresh.Page(t.Context(), session, ItemID("s.1", 5000), 100)
	if err != nil || len(page.Items) != 100 || page.Items[99].Seq != 4999 || page.Items[0].Seq != 4900 {
		t.Fatalf("page in the middle: %d items, %v", len(page.Items), err)
	}
	if n := watched.gets.Load(); n > 3 {
		t.Errorf("a page of a long turn took %d objects", n)
	}
	if got := len(load(t, fresh, head, "")); got != 10_001 {
		t.Errorf("loaded %d items", got)
	}
}

func TestLoadFromSummary(t *testing.T) {
	tr := newTranscript(t)
	head := talk(t, tr, "s", "", 1, 3)
	turn := ref("s", 4, head)
	write(t, tr, turn, user(0, "more"), summary(1, "what was before"), assistant(2, "on we go"))
	// In the turn under way.
	want := []string{"s.4/000001", "s.4/000002"}
	if got := ids(load(t, tr, head, turn.TurnID)); !slices.Equal(got, want) {
		t.Errorf("while open: %q", got)
	}
	// Committed, and with turns after it, and read afresh.
	head = talk(t, tr, "s", commit(t, tr, turn), 5, 6)
	want = append(want, "s.4/000003", "s.5/000000", "s.5/000001", "s.5/000002", "s.6/000000", "s.6/000001", "s.6/000002")
	if got := ids(load(t, New(tr.store), head, "")); !slices.Equal(got, want) {
		t.Errorf("committed: %q", got)
	}
	// A fork from before the summary still sees everything.
	before, _, ok, err := tr.FindTurn(t.Context(), head, "s.3")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if got := len(load(t, tr, before, "")); got != 9 {
		t.Errorf("before the summary: %d items, want 9", got)
	}
	// Two summaries: the last one counts.
	turn = ref("s", 7, head)
	write(t, tr, turn, summary(0, "first"), user(1, "x"), summary(2, "second"))
	if got := ids(load(t, tr, commit(t, tr, turn), "")); !slices.Equal(got, []string{"s.7/000002", "s.7/000003"}) {
		t.Errorf("two summaries: %q", got)
	}
}

func TestAncestors(t *testing.T) {
	tr := newTranscript(t)
	chain := []store.ID{""}
	for n := 1; n <= 200; n++ {
		chain = append(chain, talk(t, tr, "s", chain[n-1], n, n))
	}
	fresh := New(tr.store)
	for from := 1; from <= 200; from += 13 {
		for index := range from + 1 {
			id, _, ok, err := fresh.Ancestor(t.Context(), chain[from], index)
			if err != nil || ok != (index > 0) || id != chain[index] {
				t.Fatalf("ancestor %d of %d: %s, %v, %v", index, from, id, ok, err)
			}
		}
	}
	if _, _, ok, err := fresh.Ancestor(t.Context(), chain[5], 6); ok || err != nil {
		t.Errorf("an ancestor above the head: %v, %v", ok, err)
	}
}

func TestNewerCommitIsRefused(t *testing.T) {
	tr := newTranscript(t)
	id, err := tr.store.Put(t.Context(), []byte(`{"version":2,"index":1,"turn":"s.1"}`))
	if err != nil {
		t.Fatal(err)
	}
	var fault *protocol.Fault
	if _, err := tr.Load(t.Context(), id, ""); !errors.As(err, &fault) || fault.Class != protocol.ClassIncompatible {
		t.Errorf("a commit of a newer version: %v", err)
	}
	id, err = tr.store.Put(t.Context(), []byte(`{"some":"thing"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Load(t.Context(), id, ""); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("an object that is no commit: %v", err)
	}
}

// The reading of a long turn does not grow with it.
func TestStepReadsOnlyWhatIsNew(t *testing.T) {
	s := &listSpy{Store: openStore(t, t.TempDir())}
	tr := New(s)
	turn := ref("s", 1, "")
	for i := range 600 {
		write(t, tr, turn, toolItem(i, protocol.ToolDone, "out"))
		if got := len(load(t, tr, "", turn.TurnID)); got != i+1 {
			t.Fatalf("%d items at step %d", got, i)
		}
	}
	if s.listed != 600 {
		t.Errorf("600 steps read %d records, want 600", s.listed)
	}
}
