package transcript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// listSpy counts the records that are read.
type listSpy struct {
	store.Store
	listed int
}

func (s *listSpy) List(ctx context.Context, prefix string, since int64, limit int) ([]store.Record, error) {
	r, err := s.Store.List(ctx, prefix, since, limit)
	s.listed += len(r)
	return r, err
}

// readAll pages through a conversation from its end.
func readAll(t *testing.T, tr *Transcript, session protocol.Session, limit int) []string {
	t.Helper()
	var all []string
	before := ""
	for range 10_000 {
		page, err := tr.Page(t.Context(), session, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) > limit {
			t.Fatalf("a page of %d, the limit is %d", len(page.Items), limit)
		}
		all = append(ids(page.Items), all...)
		if page.Before == "" {
			return all
		}
		before = page.Before
	}
	t.Fatal("the pages never end")
	return nil
}

func TestPages(t *testing.T) {
	tr := newTranscript(t)
	head := talk(t, tr, "s", "", 1, 9)
	turn := ref("s", 10, head)
	write(t, tr, turn, user(0, "now"), assistant(1, "a"), toolItem(2, protocol.ToolRunning, ""))
	session := protocol.Session{ID: "s", Head: string(head), Turn: &protocol.OpenTurn{ID: turn.TurnID}}
	want := ids(append(load(t, tr, head, ""), load(t, tr, "", turn.TurnID)...))
	for limit := 1; limit <= len(want)+1; limit++ {
		if got := readAll(t, tr, session, limit); !slices.Equal(got, want) {
			t.Fatalf("by %d: %q\nwant %q", limit, got, want)
		}
	}
	empty, err := tr.Page(t.Context(), protocol.Session{ID: "new"}, "", 10)
	if err != nil || empty.Items == nil || len(empty.Items) != 0 || empty.Before != "" {
		t.Errorf("a new session: %+v, %v", empty, err)
	}
}

func TestPageLeavesRawOut(t *testing.T) {
	tr := newTranscript(t)
	turn := ref("s", 1, "")
	item := assistant(0, "hi")
	write(t, tr, turn, item)
	session := protocol.Session{ID: "s", Turn: &protocol.OpenTurn{ID: turn.TurnID}}
	page, err := tr.Page(t.Context(), session, "", 10)
	if err != nil || page.Items[0].Assistant.Raw != nil || page.Items[0].Assistant.Text != "hi" {
		t.Errorf("page: %+v, %v", page.Items[0].Assistant, err)
	}
	if raw := load(t, tr, "", turn.TurnID)[0].Assistant.Raw; string(raw) != `{"type":"message"}` {
		t.Errorf("the model's own copy lost its raw form: %q", raw)
	}
}

// Cursors that the window holds stay good while turns are committed and begun,
// whether its record is older or newer.
func TestCursorAcrossCommit(t *testing.T) {
	tr := newTranscript(t)
	old := talk(t, tr, "s", "", 1, 2)
	turn := ref("s", 3, old)
	write(t, tr, turn, user(0, "now"), assistant(1, "a"), assistant(2, "b"), assistant(3, "c"))
	during := protocol.Session{ID: "s", Head: string(old), Turn: &protocol.OpenTurn{ID: turn.TurnID}}
	page, err := tr.Page(t.Context(), during, "", 2)
	if err != nil || page.Before != "s.3/000002" {
		t.Fatalf("before the commit: %+v, %v", page, err)
	}
	want := []string{"s.1/000000", "s.1/000001", "s.1/000002", "s.2/000000", "s.2/000001", "s.2/000002", "s.3/000000", "s.3/000001"}
	check := func(name string, session protocol.Session) {
		t.Helper()
		rest, err := tr.Page(t.Context(), session, page.Before, 100)
		if err != nil || !slices.Equal(ids(rest.Items), want) {
			t.Errorf("%s: %q, %v", name, ids(rest.Items), err)
		}
	}
	check("open", during)
	check("open, record from before the turn", protocol.Session{ID: "s", Head: string(old)})
	head := commit(t, tr, turn)
	check("committed, record still open", during)
	check("committed, record from before the turn", protocol.Session{ID: "s", Head: string(old)})
	check("committed", protocol.Session{ID: "s", Head: string(head)})
	later := talk(t, tr, "s", head, 4, 6)
	check("committed, turns after it", protocol.Session{ID: "s", Head: string(later)})

	// The page of the stale record has the committed turn whole, once.
	stale, err := tr.Page(t.Context(), during, "", 100)
	if err != nil || len(stale.Items) != 11 || stale.Items[10].Kind != protocol.KindTurnEnd {
		t.Errorf("page of a stale record: %q, %v", ids(stale.Items), err)
	}
}

func TestForksAndRewinds(t *testing.T) {
	tr := newTranscript(t)
	trunk := talk(t, tr, "a", "", 1, 5)
	mid, _, ok, err := tr.FindTurn(t.Context(), trunk, "a.3")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	watched := &spy{Store: tr.store}
	fork := talk(t, New(watched), "b", mid, 1, 1)
	if n := watched.writes.Load(); n > 6 {
		t.Errorf("the first turn of a fork took %d writes", n)
	}
	fork = talk(t, tr, "b", fork, 2, 2)
	want := []string{
		"a.1/000000", "a.1/000001", "a.1/000002", "a.2/000000", "a.2/000001", "a.2/000002",
		"a.3/000000", "a.3/000001", "a.3/000002", "b.1/000000", "b.1/000001", "b.1/000002", "b.2/000000", "b.2/000001", "b.2/000002",
	}
	session := protocol.Session{ID: "b", Parent: "a", Head: string(fork)}
	if got := readAll(t, tr, session, 4); !slices.Equal(got, want) {
		t.Errorf("fork: %q", got)
	}
	// A turn of the trunk after the fork is not the fork's.
	var fault *protocol.Fault
	if _, err := tr.Page(t.Context(), session, "a.4/000001", 10); !errors.As(err, &fault) || fault.Class != protocol.ClassNotFound {
		t.Errorf("a cursor of another branch: %v", err)
	}
	if _, err := tr.Page(t.Context(), session, "nonsense", 10); !errors.As(err, &fault) || fault.Class != protocol.ClassBadInput {
		t.Errorf("a cursor that is none: %v", err)
	}
	// Rewound and gone on, the numbers of turns have a gap.
	rewound := talk(t, tr, "a", mid, 6, 7)
	if got := readAll(t, tr, protocol.Session{ID: "a", Head: string(rewound)}, 2); got[len(got)-6] != "a.6/000000" || len(got) != 15 {
		t.Errorf("rewound: %q", got)
	}
	// The trunk's session is removed: the fork still pages.
	save(t, tr, session)
	if err := tr.RemoveSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, New(tr.store), session, 2); !slices.Equal(got, want) {
		t.Errorf("fork of a removed session: %q", got)
	}
}

func TestPageIsBoundedInBytes(t *testing.T) {
	tr := newTranscript(t)
	turn := ref("s", 1, "")
	for i := range 10 {
		write(t, tr, turn, toolItem(i, protocol.ToolDone, strings.Repeat("z", 300<<10)))
	}
	write(t, tr, turn, toolItem(10, protocol.ToolDone, strings.Repeat("z", 2<<20)))
	session := protocol.Session{ID: "s", Head: string(commit(t, tr, turn))}
	first, err := tr.Page(t.Context(), session, ItemID("s.1", 11), 100)
	if err != nil || len(first.Items) != 1 {
		t.Errorf("a page of one item that is too large: %d items, %v", len(first.Items), err)
	}
	second, err := tr.Page(t.Context(), session, first.Before, 100)
	if err != nil || len(second.Items) != 3 {
		t.Errorf("a page of about a megabyte: %d items, %v", len(second.Items), err)
	}
}

func TestPagesOfLongConversation(t *testing.T) {
	const turns = 5000
	tr := New(&memory{Store: openStore(t, t.TempDir()), objects: map[store.ID][]byte{}})
	head := store.ID("")
	// Without the fsyncs, which are not what is tested.
	var parent *Commit
	for n := 1; n <= turns; n++ {
		turn := fmt.Sprintf("s.%d", n)
		item := user(0, fmt.Sprint("question ", n))
		item.ID, item.Turn = ItemID(turn, 0), turn
		c := &Commit{Version: 1, Parent: head, Index: n, Turn: turn, Items: 1, Outcome: protocol.OutcomeDone, Time: epoch}
		var err error
		if parent != nil {
			if c.Skip, c.SkipIndex, err = tr.skipFrom(t.Context(), head, parent); err != nil {
				t.Fatal(err)
			}
		}
		if c.Chunks, err = tr.putChunks(t.Context(), []protocol.Item{item}); err != nil {
			t.Fatal(err)
		}
		head, parent = putCommit(t, tr, c), c
	}
	if err := tr.store.Set(t.Context(), store.Record{Key: commitKey("s.40"), Value: []byte(ancestor(t, tr, head, 40))}); err != nil {
		t.Fatal(err)
	}
	watched := &spy{Store: tr.store}
	fresh := New(watched)
	begin := time.Now()
	page, err := fresh.Page(t.Context(), protocol.Session{ID: "s", Head: string(head)}, "s.40/000000", 10)
	if err != nil || len(page.Items) != 10 || page.Items[9].ID != "s.39/000000" {
		t.Fatalf("page: %q, %v", ids(page.Items), err)
	}
	t.Logf("a page at the start of %d turns: %v, %d objects read", turns, time.Since(begin), watched.gets.Load())
	// 3·log2(5000) commits to get there, and a commit and a chunk for each turn.
	if n := watched.gets.Load(); n > 39+20 {
		t.Errorf("%d objects were read", n)
	}
}

func putCommit(t testing.TB, tr *Transcript, c *Commit) store.ID {
	t.Helper()
	id, err := tr.putCommit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func ancestor(t testing.TB, tr *Transcript, head store.ID, index int) store.ID {
	t.Helper()
	id, _, ok, err := tr.Ancestor(t.Context(), head, index)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return id
}
