package storetest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/store"
)

// later is after all uses that a test makes.
func later() time.Time { return time.Now().Add(time.Hour) }

// fill puts contents in both ways and returns their ids.
func fill(t *testing.T, s store.Store, all [][]byte) []store.ID {
	t.Helper()
	ids, err := s.PutMany(t.Context(), all[:len(all)/2])
	must(t, err)
	for _, content := range all[len(all)/2:] {
		id, err := s.Put(t.Context(), content)
		must(t, err)
		ids = append(ids, id)
	}
	return ids
}

func sweep(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	all := contents(300, 3)
	ids := fill(t, s, all)
	must(t, s.Set(ctx, store.Record{Key: "k", Value: []byte("v")}))

	// Nothing is older than that.
	if n, _, err := s.Sweep(ctx, func(store.ID) bool { return false }, time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Fatalf("sweep of what is in use: %d, %v", n, err)
	}
	before, err := s.Usage(ctx)
	must(t, err)
	kept := map[store.ID]bool{}
	for i, id := range ids {
		if i%7 == 0 {
			kept[id] = true
		}
	}
	n, freed, err := s.Sweep(ctx, func(id store.ID) bool { return kept[id] }, later())
	if err != nil || n != len(ids)-len(kept) || freed == 0 {
		t.Fatalf("sweep: %d, %d bytes, %v; want %d", n, freed, err, len(ids)-len(kept))
	}
	for i, id := range ids {
		got, err := s.Get(ctx, id)
		switch {
		case kept[id] && (err != nil || !bytes.Equal(got, all[i])):
			t.Errorf("kept %d: %d bytes, %v", i, len(got), err)
		case !kept[id] && !errors.Is(err, store.ErrNotFound):
			t.Errorf("removed %d: %v", i, err)
		}
	}
	after, err := s.Usage(ctx)
	must(t, err)
	if after.Objects != int64(len(kept)) || after.Stored != before.Stored-freed {
		t.Errorf("usage after: %+v, before %+v, freed %d", after, before, freed)
	}
	if after.File > before.File-freed/2 {
		t.Errorf("the space was not given back: %+v, before %+v, freed %d", after, before, freed)
	}
	// What was removed can be put again, and is not taken for what it was.
	again := fill(t, s, all)
	for i, id := range again {
		if got, err := s.Get(ctx, id); err != nil || !bytes.Equal(got, all[i]) {
			t.Errorf("put again %d: %d bytes, %v", i, len(got), err)
		}
	}
	if n, _, err := s.Sweep(ctx, func(store.ID) bool { return false }, later()); err != nil || n != len(ids) {
		t.Errorf("sweep of all: %d, %v", n, err)
	}
	if r, err := s.Lookup(ctx, "k"); err != nil || string(r.Value) != "v" {
		t.Errorf("a record after sweeps: %v", err)
	}
	must(t, s.Verify(ctx, func(id store.ID, err error) { t.Errorf("verify: %s: %v", id, err) }))
}

func removeUnused(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	ids := fill(t, s, contents(100, 4))
	if n, _, err := s.RemoveUnused(ctx, ids, time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("remove what is in use: %d, %v", n, err)
	}
	n, freed, err := s.RemoveUnused(ctx, append(ids[:40:40], "no id", store.Sum([]byte("never"))), later())
	if err != nil || n != 40 || freed == 0 {
		t.Errorf("remove 40: %d, %d bytes, %v", n, freed, err)
	}
	there, err := s.HasMany(ctx, ids)
	must(t, err)
	for i, ok := range there {
		if ok != (i >= 40) {
			t.Errorf("object %d: %v", i, ok)
		}
	}
}

func sweepAndUsers(t *testing.T, open func() store.Store) {
	a, b, ctx := open(), open(), t.Context()
	none := func(store.ID) bool { return false }
	for _, user := range []store.Store{a, b} {
		release, err := user.Use(ctx)
		must(t, err)
		second, err := a.Use(ctx)
		must(t, err)
		if _, _, err := a.Sweep(ctx, none, later()); !errors.Is(err, store.ErrBusy) {
			t.Errorf("sweep beside a user: %v", err)
		}
		if _, _, err := a.RemoveUnused(ctx, nil, later()); !errors.Is(err, store.ErrBusy) {
			t.Errorf("remove beside a user: %v", err)
		}
		release()
		if _, _, err := a.Sweep(ctx, none, later()); !errors.Is(err, store.ErrBusy) {
			t.Errorf("sweep beside the other user: %v", err)
		}
		second()
		if _, _, err := a.Sweep(ctx, none, later()); err != nil {
			t.Errorf("sweep without users: %v", err)
		}
	}
}

func usage(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	ids := fill(t, s, contents(60, 5))
	u, err := s.Usage(ctx)
	must(t, err)
	sizes, err := s.Sizes(ctx, append(ids, "no id", store.Sum([]byte("never"))))
	must(t, err)
	var total int64
	for i, size := range sizes {
		if (size > 0) != (i < len(ids)) {
			t.Errorf("size of %d: %d", i, size)
		}
		total += size
	}
	if u.Objects != 60 || u.Stored != total || u.File < u.Stored || u.Free < 0 || u.Free > u.File {
		t.Errorf("usage %+v, the sizes are %d together", u, total)
	}
}

func epoch(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	get := func() string {
		t.Helper()
		value, err := s.Epoch(ctx)
		must(t, err)
		return value
	}
	first := get()
	ids := fill(t, s, contents(10, 6))
	if first == "" || get() != first {
		t.Error("the epoch changed though nothing was removed")
	}
	must(t, s.Remove(ctx, store.Sum([]byte("never"))))
	if get() != first {
		t.Error("removing nothing changed the epoch")
	}
	must(t, s.Remove(ctx, ids[0]))
	second := get()
	if second == first {
		t.Error("a removal did not change the epoch")
	}
	_, _, err := s.Sweep(ctx, func(store.ID) bool { return false }, later())
	must(t, err)
	third := get()
	if third == second || third == first {
		t.Error("a sweep did not change the epoch")
	}
	must(t, s.Close())
	s = open()
	if get() != third {
		t.Error("reopening changed the epoch")
	}
}
