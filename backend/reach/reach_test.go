package reach_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/store"
)

// family is a session that needs something in every way there is, and a fork of
// it.
type family struct {
	parent, fork protocol.Session
}

// noise is what can't be compressed.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func (w *world) family() family {
	w.t.Helper()
	// A large file is in parts, which a list names.
	first := w.capture(map[string]string{"a": "a", "large": noise(3 << 20)})
	one := w.turn("p", 1, "", w.files("base"), first, user(w.file("shared.txt")), shows(w.put("shared image")))
	two := w.turn("p", 2, one, "", w.files("two"), user(w.file("own.txt")), shows(w.put("own image")),
		tells(protocol.Receipt{What: "switch", Snapshot: w.files("carried"), Kept: w.files("kept")}))
	undone := w.turn("p", 3, two, "", w.files("undone"), user(w.file("undone.txt")))
	turn := protocol.TurnRef{SessionID: "p", TurnID: "p.4", Index: 3, Head: two}
	w.write(turn, user(w.file("open.txt")), shows(w.put("open image")))
	parent := protocol.Session{
		ID: "p", Version: 1, Title: "Parent", Head: two, Turns: 2, Snapshot: w.files("now"), Held: w.files("held"),
		Queue:   []protocol.QueuedMessage{{ID: "q", Content: w.message("queued.txt")}},
		Turn:    &protocol.OpenTurn{ID: "p.4", Index: 3, Content: []string{w.message("worked.txt")}},
		Rewinds: []protocol.Rewound{{ID: "r", Head: undone, Turns: 3, Snapshot: w.files("before the rewind")}},
	}
	forked := w.turn("f", 2, one, first, w.files("forked"), user(w.file("fork.txt")))
	fork := protocol.Session{
		ID: "f", Version: 1, Title: "Fork", Parent: "p", Head: forked, Turns: 2, Snapshot: w.files("fork now"),
		Setup: &protocol.Setup{Snapshot: w.files("to be placed"), Current: &protocol.Captured{Snapshot: w.files("in the target")}},
	}
	w.save(parent, fork)
	return family{parent: parent, fork: fork}
}

// Everything in this store is needed by one of the two sessions.
func TestWhatSessionsNeedIsFound(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	parent, broken := w.needs(f.parent)
	fork, brokenFork := w.needs(f.fork)
	if len(broken)+len(brokenFork) > 0 {
		t.Fatalf("broken: %v, %v", broken, brokenFork)
	}
	all := maps.Clone(parent)
	maps.Copy(all, fork)
	if len(all) != w.objects() {
		t.Errorf("%d objects are found, the store has %d", len(all), w.objects())
	}
	w.readable("found", all)
	if both := len(parent) + len(fork) - len(all); both < 8 {
		t.Errorf("they share %d objects", both)
	}
	for name, sort := range map[string]reach.Sort{
		"the content of own.txt": reach.Conversation, "own image": reach.Conversation, "files of two": reach.Files, "a": reach.Files,
	} {
		if o, ok := parent[store.Sum([]byte(name))]; !ok || o.Sort != sort {
			t.Errorf("%s: %+v, %t", name, o, ok)
		}
	}
	if o := parent[store.Sum([]byte("files of two"))]; o.What != "two" {
		t.Errorf("a file is called %q", o.What)
	}
	// One set for both: what the second shares with the first is not told again.
	seen := reach.NewSet()
	told := 0
	for _, record := range []protocol.Session{f.parent, f.fork} {
		if err := w.finder().Session(t.Context(), record, seen, func(reach.Object) error { told++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if told != len(all) || seen.Len() != len(all) {
		t.Errorf("%d are told, %d seen, of %d", told, seen.Len(), len(all))
	}
}

// Each thing that a record names is what keeps something: without it, that is
// not found any more.
func TestEachReferenceCounts(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	for _, c := range []struct {
		name   string
		record protocol.Session
		drop   func(*protocol.Session)
		lost   []string // contents
	}{
		{"queue", f.parent, func(s *protocol.Session) { s.Queue = nil }, []string{"the content of queued.txt"}},
		{"turn", f.parent, func(s *protocol.Session) { s.Turn = nil }, []string{"the content of worked.txt", "the content of open.txt", "open image"}},
		{"turn's messages", f.parent, func(s *protocol.Session) { s.Turn = &protocol.OpenTurn{ID: "p.4"} }, []string{"the content of worked.txt"}},
		{"rewinds", f.parent, func(s *protocol.Session) { s.Rewinds = nil }, []string{"the content of undone.txt", "files of undone", "files of before the rewind"}},
		{"snapshot", f.parent, func(s *protocol.Session) { s.Snapshot = "" }, []string{"files of now"}},
		{"held", f.parent, func(s *protocol.Session) { s.Held = "" }, []string{"files of held"}},
		{"head", f.fork, func(s *protocol.Session) { s.Head = "" }, []string{
			"the content of fork.txt", "files of forked", "the content of shared.txt", "shared image", "files of base", "a",
		}},
		{"setup", f.fork, func(s *protocol.Session) { s.Setup = nil }, []string{"files of to be placed", "files of in the target"}},
		{"setup's target", f.fork, func(s *protocol.Session) { s.Setup = &protocol.Setup{Snapshot: s.Setup.Snapshot} }, []string{"files of in the target"}},
		// Turn 2 of the parent is in the rewound conversation, too: there is nothing that only the head names.
		{"receipts", protocol.Session{ID: "x", Head: f.parent.Head}, func(s *protocol.Session) { s.Head = "" }, []string{"files of carried", "files of kept"}},
	} {
		with, _ := w.needs(c.record)
		c.drop(&c.record)
		without, _ := w.needs(c.record)
		for _, content := range c.lost {
			id := store.Sum([]byte(content))
			_, before := with[id]
			_, after := without[id]
			if !before || after {
				t.Errorf("%s: %q is found %t, without it %t", c.name, content, before, after)
			}
		}
	}
}

// A workspace may hold a file with the bytes of a snapshot, or of a turn: that
// this file is found must not hide what those name.
func TestFilesThatLookLikeOtherObjects(t *testing.T) {
	w := newWorld(t)
	tree := w.files("hidden")
	commit := w.turn("s", 1, "", "", "", user(w.file("attached")))
	root, err := w.store.Get(t.Context(), store.ID(tree))
	if err != nil {
		t.Fatal(err)
	}
	text, err := w.store.Get(t.Context(), store.ID(commit))
	if err != nil {
		t.Fatal(err)
	}
	decoys := w.capture(map[string]string{"root": string(root), "commit": string(text)})
	w.save(protocol.Session{ID: "a", Version: 1, Snapshot: decoys}, protocol.Session{ID: "b", Version: 1, Head: commit, Snapshot: tree})
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		seen := reach.NewSet()
		for _, id := range order {
			record, err := w.tr.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.finder().Session(t.Context(), record, seen, func(reach.Object) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if seen.Len() != w.objects() {
			t.Errorf("in the order %v %d of %d objects are found", order, seen.Len(), w.objects())
		}
	}
}

// A damaged part of a long turn hides what it names, and nothing that others
// name.
func TestDamagedPartOfATurn(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("long ", 90_000)
	head := w.turn("s", 1, "", "", w.files("after"), user(w.file("first")), says("1"+long), says("2"+long), user(w.file("last")), says("3"+long))
	record := protocol.Session{ID: "s", Version: 1, Head: head}
	c, err := w.tr.GetCommit(t.Context(), store.ID(head))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Chunks) < 3 {
		t.Fatalf("the turn has %d parts", len(c.Chunks))
	}
	w.damage(c.Chunks[0].ID)
	w.forgetful()
	found, broken := w.needs(record)
	if len(broken) != 1 || found[c.Chunks[0].ID].Err == nil {
		t.Errorf("broken: %v", broken)
	}
	if _, ok := found[store.Sum([]byte("the content of last"))]; !ok {
		t.Error("what a sound part names is not found")
	}
	if _, ok := found[store.Sum([]byte("files of after"))]; !ok {
		t.Error("the turn's files are not found")
	}
}

// What is not there, or is nothing that could be, is told and ends nothing.
func TestMissingObjects(t *testing.T) {
	w := newWorld(t)
	gone := string(store.Sum([]byte("never put")))
	record := protocol.Session{
		ID: "s", Head: gone, Snapshot: w.files("there"),
		Rewinds: []protocol.Rewound{{Head: string(w.put("no commit")), Snapshot: gone}, {Head: "no id", Snapshot: "nor this"}},
		Queue:   []protocol.QueuedMessage{{Content: string(w.put("no message"))}},
	}
	found, broken := w.needs(record)
	if len(broken) < 3 {
		t.Errorf("told: %v", broken)
	}
	if !slices.Contains(slices.Collect(maps.Keys(found)), store.Sum([]byte("files of there"))) {
		t.Error("what is there is not found")
	}
}
