package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

func save(t testing.TB, tr *Transcript, s protocol.Session) bool {
	t.Helper()
	saved, err := tr.SaveSession(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func TestSessions(t *testing.T) {
	tr := newTranscript(t)
	for n := range 3 {
		s := protocol.Session{ID: fmt.Sprint("s", n), Version: 1, Title: fmt.Sprint("title ", n), Updated: epoch.Add(time.Duration(n%2) * time.Hour)}
		if !save(t, tr, s) {
			t.Errorf("session %d was not saved", n)
		}
	}
	all, err := tr.Sessions(t.Context())
	var order []string
	for _, s := range all {
		order = append(order, s.ID)
	}
	if err != nil || !slices.Equal(order, []string{"s1", "s0", "s2"}) {
		t.Errorf("order: %q, %v", order, err)
	}
	var fault *protocol.Fault
	if _, err := tr.Session(t.Context(), "s"); !errors.As(err, &fault) || fault.Class != protocol.ClassNotFound {
		t.Errorf("no such session: %v", err)
	}
}

func TestOlderRecordIsDropped(t *testing.T) {
	tr := newTranscript(t)
	save(t, tr, protocol.Session{ID: "s", Version: 5, Title: "five"})
	if save(t, tr, protocol.Session{ID: "s", Version: 4, Title: "four"}) {
		t.Error("an older version was saved")
	}
	if !save(t, tr, protocol.Session{ID: "s", Version: 5, Title: "five again"}) {
		t.Error("the same version was dropped")
	}
	if s, err := tr.Session(t.Context(), "s"); err != nil || s.Title != "five again" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestRemoveSession(t *testing.T) {
	tr := newTranscript(t)
	head := talk(t, tr, "s", "", 1, 1)
	save(t, tr, protocol.Session{ID: "s", Version: 2, Head: string(head)})
	save(t, tr, protocol.Session{ID: "s2", Version: 1})
	write(t, tr, ref("s", 2, head), user(0, "under way"))
	write(t, tr, ref("s2", 1, ""), user(0, "of another"))
	for range 2 {
		if err := tr.RemoveSession(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if save(t, tr, protocol.Session{ID: "s", Version: 3}) {
		t.Error("a removed session came back")
	}
	all, err := tr.Sessions(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != "s2" {
		t.Errorf("left: %+v, %v", all, err)
	}
	if got := len(load(t, New(tr.store), "", "s.2")); got != 0 {
		t.Errorf("%d items of the removed session are left", got)
	}
	if got := len(load(t, New(tr.store), "", "s2.1")); got != 1 {
		t.Errorf("%d items of the other session are left", got)
	}
}

// What another process saves and removes is seen, and a record that is written
// after the removal is not.
func TestSessionsOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	a, b := New(openStore(t, dir)), New(openStore(t, dir))
	list := func(tr *Transcript) string {
		t.Helper()
		all, err := tr.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, s := range all {
			out += s.ID + "=" + s.Title + " "
		}
		return out
	}
	for n, id := range []string{"x", "y", "z"} {
		save(t, a, protocol.Session{ID: id, Version: 1, Title: "one", Updated: epoch.Add(-time.Duration(n) * time.Hour)})
	}
	if got := list(b); got != "x=one y=one z=one " {
		t.Errorf("at first: %s", got)
	}
	save(t, a, protocol.Session{ID: "y", Version: 2, Title: "two", Updated: epoch.Add(time.Hour)})
	if err := a.RemoveSession(t.Context(), "z"); err != nil {
		t.Fatal(err)
	}
	value, err := json.Marshal(protocol.Session{ID: "z", Version: 9, Title: "late"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.Set(t.Context(), store.Record{Key: sessionKey("z"), Value: value}); err != nil {
		t.Fatal(err)
	}
	for name, tr := range map[string]*Transcript{"a": a, "b": b, "a new one": New(b.store)} {
		if got := list(tr); got != "y=two x=one " {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func BenchmarkSessions300(b *testing.B) {
	tr := newTranscript(b)
	for n := range 300 {
		s := protocol.Session{
			ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), Version: 1, Title: "A title of usual length",
			Workspace: "/home/somebody/projects/something", Backend: "local", State: protocol.StateIdle,
			Head: fmt.Sprintf("%064d", n), Created: epoch, Updated: epoch.Add(time.Duration(n) * time.Second),
		}
		save(b, tr, s)
	}
	for name, list := range map[string]func() *Transcript{
		"first": func() *Transcript { return New(tr.store) },
		"again": func() *Transcript { return tr },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if all, err := list().Sessions(b.Context()); err != nil || len(all) != 300 {
					b.Fatal(len(all), err)
				}
			}
		})
	}
}

// BenchmarkStep is what a step costs here: two writes and the reading of all.
func BenchmarkStep(b *testing.B) {
	for _, steps := range []int{5, 500} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			tr := newTranscript(b)
			turn := ref("s", 1, "")
			for i := range steps {
				write(b, tr, turn, toolItem(i, protocol.ToolDone, "output of a command"))
			}
			for b.Loop() {
				write(b, tr, turn, toolItem(steps, protocol.ToolRunning, ""))
				write(b, tr, turn, toolItem(steps, protocol.ToolDone, "output of a command"))
				if got := len(load(b, tr, "", turn.TurnID)); got != steps+1 {
					b.Fatal(got)
				}
			}
		})
	}
}

// objectsOf are the objects that hold a conversation.
func objectsOf(t *testing.T, tr *Transcript, head store.ID) []store.ID {
	t.Helper()
	var out []store.ID
	for head != "" {
		c, err := tr.GetCommit(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, head)
		for _, chunk := range c.Chunks {
			out = append(out, chunk.ID)
		}
		head = c.Parent
	}
	return out
}

// What is removed with a session is not what forks of it need. (What nobody needs
// is swept: see package reach.)
func TestRemovedSessionsLeaveWhatForksNeed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	tr := New(s)
	left := func(ids []store.ID) (n int) {
		t.Helper()
		for _, id := range ids {
			there, err := s.Has(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if there {
				n++
			}
		}
		return n
	}
	remove := func(id string) {
		t.Helper()
		for range 2 { // again, as after a crash
			if err := New(s).RemoveSession(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := session(t, tr, "a", "A", 0, "one", "two", "three", "four")
	ofA := objectsOf(t, tr, store.ID(a.Head))
	other := session(t, tr, "other", "Other", 0, "one", "two")
	ofOther := objectsOf(t, tr, store.ID(other.Head))

	// A fork b of a, and a fork c of b, which goes on.
	b := a
	b.ID, b.Parent = "b", "a"
	save(t, tr, b)
	turn := ref("c", 3, store.ID(a.Head))
	write(t, tr, turn, user(0, "of c"))
	c := protocol.Session{ID: "c", Version: 1, Title: "C", Parent: "b", Head: string(commit(t, tr, turn))}
	save(t, tr, c)
	ofC := objectsOf(t, tr, store.ID(c.Head))

	remove("b")
	remove("a") // whose fork is gone, but not the fork's fork
	if n := left(ofC); n != len(ofC) {
		t.Fatalf("of %d objects of a fork, %d are left", len(ofC), n)
	}
	if n := left(ofA); n != len(ofA) {
		t.Fatalf("of %d shared objects, %d are left", len(ofA), n)
	}
	remove("c")
	if n := left(ofOther); n != len(ofOther) {
		t.Errorf("of %d objects of another session, %d are left", len(ofOther), n)
	}
}
