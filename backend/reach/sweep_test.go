package reach_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/store"
)

// litter puts what no session reaches.
func (w *world) litter() []store.ID {
	w.t.Helper()
	return []store.ID{
		w.put("litter"), store.ID(w.files("litter")), store.Sum([]byte("files of litter")),
		store.ID(w.turn("nobody", 1, "", "", "", user(w.file("litter.txt")))), store.Sum([]byte("the content of litter.txt")),
	}
}

func TestSweepTakesOnlyWhatNobodyNeeds(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	needed := w.objects()
	litter := w.litter()
	more := w.objects() - needed
	// Young things are left alone.
	if got, err := w.sweeper(reach.Grace-time.Minute).Sweep(t.Context(), reach.Grace); err != nil || got.Objects != 0 {
		t.Fatalf("within the grace period: %+v, %v", got, err)
	}
	got, err := w.sweeper(reach.Grace+2*time.Minute).Sweep(t.Context(), reach.Grace)
	if err != nil || got.Objects != more || got.Bytes <= 0 {
		t.Fatalf("swept %+v of %d, %v", got, more, err)
	}
	for _, id := range litter {
		if w.has(id) {
			t.Errorf("%s is still there", id)
		}
	}
	if w.objects() != needed {
		t.Errorf("%d objects are left of %d", w.objects(), needed)
	}
	w.forgetful()
	for _, record := range []protocol.Session{f.parent, f.fork} {
		found, broken := w.needs(record)
		if len(broken) > 0 {
			t.Errorf("of %s: %v", record.Title, broken)
		}
		w.readable("after the sweep", found)
	}
	if got, err := w.sweeper(24*time.Hour).Sweep(t.Context(), reach.Grace); err != nil || got.Objects != 0 {
		t.Errorf("once more: %+v, %v", got, err)
	}
}

func TestSweepGivesWayToUse(t *testing.T) {
	w := newWorld(t)
	w.litter()
	release, err := w.store.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.sweeper(24*time.Hour).Sweep(t.Context(), reach.Grace); !errors.Is(err, store.ErrBusy) {
		t.Errorf("while the store is used: %v", err)
	}
	release()
	if _, err := w.sweeper(24*time.Hour).Sweep(t.Context(), reach.Grace); err != nil || w.objects() != 0 {
		t.Errorf("afterwards: %d objects, %v", w.objects(), err)
	}
}

func TestForget(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	needed, _ := w.needs(f.fork)
	only, _ := w.needs(f.parent)
	maps.DeleteFunc(only, func(id store.ID, _ reach.Object) bool { _, both := needed[id]; return both })
	all := w.objects()
	litter := w.put("litter")
	if err := w.tr.RemoveSession(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	w.forgetful()
	// What was just used may be somebody's.
	if got, err := w.sweeper(0).Forget(t.Context(), f.parent); err != nil || got.Objects != 0 || w.objects() != all+1 {
		t.Fatalf("at once: %+v, %v, %d objects of %d", got, err, w.objects(), all+1)
	}
	got, err := w.sweeper(reach.ShortGrace+2*time.Minute).Forget(t.Context(), f.parent)
	if err != nil || got.Objects == 0 {
		t.Fatalf("later: %+v, %v", got, err)
	}
	for id, o := range only {
		// The items of the turn under way went with the session: only the next
		// sweep knows that nobody needs what they named.
		open := id == store.Sum([]byte("the content of open.txt")) || id == store.Sum([]byte("open image"))
		if w.has(id) != open {
			t.Errorf("%s (%s) is there: %t", id, o.What, !open)
		}
	}
	if !w.has(litter) {
		t.Error("what was not the session's was removed")
	}
	w.forgetful()
	left, broken := w.needs(f.fork)
	if len(broken) > 0 || len(left) != len(needed) {
		t.Errorf("the fork needs %d objects, had %d: %v", len(left), len(needed), broken)
	}
	w.readable("the fork", left)
	if _, err := w.sweeper(24*time.Hour).Sweep(t.Context(), reach.Grace); err != nil || w.objects() != len(needed) {
		t.Errorf("a sweep leaves %d of %d objects, %v", w.objects(), len(needed), err)
	}
}

// Forgetting a session whose record is still there keeps nothing for it.
func TestForgetBeforeTheRecordIsGone(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	needed, _ := w.needs(f.parent)
	if _, err := w.sweeper(time.Hour).Forget(t.Context(), f.fork); err != nil || w.objects() != len(needed) {
		t.Errorf("%d objects are left of %d, %v", w.objects(), len(needed), err)
	}
	w.readable("the parent", needed)
}

// sum is what objects take.
func (w *world) sum(ids map[store.ID]reach.Object, with func(store.ID, reach.Object) bool) int64 {
	w.t.Helper()
	total := int64(0)
	for id, o := range ids {
		sizes, err := w.store.Sizes(w.t.Context(), []store.ID{id})
		if err != nil {
			w.t.Fatal(err)
		}
		if with(id, o) {
			total += sizes[0]
		}
	}
	return total
}

func TestUseAddsUp(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	parent, _ := w.needs(f.parent)
	fork, _ := w.needs(f.fork)
	all := maps.Clone(parent)
	maps.Copy(all, fork)
	junk := w.put("litter that takes some bytes")
	use, err := w.sweeper(0).Use(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	every := func(store.ID, reach.Object) bool { return true }
	not := func(other map[store.ID]reach.Object) func(store.ID, reach.Object) bool {
		return func(id store.ID, _ reach.Object) bool { _, both := other[id]; return !both }
	}
	want := map[string]protocol.SessionUse{
		"p": {ID: "p", Title: "Parent", Own: w.sum(parent, not(fork)), All: w.sum(parent, every)},
		"f": {ID: "f", Title: "Fork", Own: w.sum(fork, not(parent)), All: w.sum(fork, every)},
	}
	if len(use.Sessions) != 2 {
		t.Fatalf("%+v", use.Sessions)
	}
	for _, got := range use.Sessions {
		if got != want[got.ID] || got.Own <= 0 || got.All <= got.Own {
			t.Errorf("%+v, want %+v", got, want[got.ID])
		}
	}
	files := w.sum(all, func(_ store.ID, o reach.Object) bool { return o.Sort == reach.Files })
	if use.Files != files || use.Conversations != w.sum(all, every)-files {
		t.Errorf("files %d (%d), conversations %d", use.Files, files, use.Conversations)
	}
	sizes, err := w.store.Sizes(t.Context(), []store.ID{junk})
	if err != nil || use.Unused != sizes[0] {
		t.Errorf("unused %d, want %d, %v", use.Unused, sizes[0], err)
	}
	if use.Objects != int64(len(all)+1) || use.Bytes <= use.Free || use.Damaged == nil || len(use.Damaged) > 0 {
		t.Errorf("%+v", use)
	}
}

// What is damaged, or lost, is named with whose it is, and keeps nothing else
// from being found, swept and read.
func TestDamageIsNamedAndContained(t *testing.T) {
	w := newWorld(t)
	f := w.family()
	parentNeeds, _ := w.needs(f.parent)
	forkNeeds, _ := w.needs(f.fork)
	litter := w.litter()
	hurt := map[store.ID]protocol.DamagedObject{
		store.Sum([]byte("files of two")):            {What: "two", SessionID: "p", Title: "Parent"},
		store.ID(f.parent.Snapshot):                  {What: "the list of files", SessionID: "p", Title: "Parent"},
		store.ID(f.parent.Rewinds[0].Head):           {What: "a turn", SessionID: "p", Title: "Parent"},
		store.Sum([]byte("the content of fork.txt")): {What: "fork.txt", SessionID: "f", Title: "Fork"},
		store.Sum([]byte("litter")):                  {},
	}
	for id := range hurt {
		w.damage(id)
	}
	lost := store.ID(f.parent.Rewinds[0].Snapshot)
	w.sql(func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "DELETE FROM objects WHERE hex(id) = upper(?)", string(lost))
		return err
	})
	hurt[lost] = protocol.DamagedObject{What: "the list of files", SessionID: "p", Title: "Parent"}
	w.forgetful()
	use, err := w.sweeper(0).Use(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range use.Damaged {
		want, ok := hurt[store.ID(d.Object)]
		want.Object = d.Object
		if !ok || d != want {
			t.Errorf("%+v, want %+v (%t)", d, want, ok)
		}
		delete(hurt, store.ID(d.Object))
	}
	if len(hurt) > 0 {
		t.Errorf("not told: %v", hurt)
	}
	if _, err := w.sweeper(24*time.Hour).Sweep(t.Context(), reach.Grace); err != nil {
		t.Fatal(err)
	}
	for _, id := range litter {
		if w.has(id) {
			t.Errorf("%s is still there", id)
		}
	}
	w.forgetful()
	left, broken := w.needs(f.fork)
	if len(broken) > 0 || len(left) != len(forkNeeds) {
		t.Errorf("the fork: %d of %d objects, %v", len(left), len(forkNeeds), broken)
	}
	delete(left, store.Sum([]byte("the content of fork.txt")))
	w.readable("the fork", left)
	// Of the parent, only what is below the damage could not be kept.
	below := map[store.ID]bool{}
	for _, content := range []string{"the content of undone.txt", "files of undone", "files of now", "files of before the rewind"} {
		below[store.Sum([]byte(content))] = true
	}
	for id, o := range parentNeeds {
		if !w.has(id) && !below[id] && id != lost && o.What != "the list of files" && o.What != "turn 3" {
			t.Errorf("%s (%s) was swept", id, o.What)
		}
	}
}
