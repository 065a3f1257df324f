// Package storetest is the conformance suite of stores: every driver passes it.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"temporal-sandbox-agent/backend/store"
)

// Open opens the store of one test; opening it again with the same name gives
// the same content. The suite closes what it opened.
type Open func(t *testing.T, name string) store.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, func() store.Store)
	}{
		{"objects", objects},
		{"objects stay", objectsStay},
		{"unknown objects", unknownObjects},
		{"removed objects", removedObjects},
		{"concurrent puts", concurrentPuts},
		{"many objects", manyObjects},
		{"batch", batch},
		{"sweep", sweep},
		{"remove unused", removeUnused},
		{"sweep and users", sweepAndUsers},
		{"usage", usage},
		{"epoch", epoch},
		{"records", records},
		{"prefix is literal", literalPrefix},
		{"list since", listSince},
		{"revisions grow", revisionsGrow},
		{"set is all or none", setAllOrNone},
		{"delete", deletePrefix},
		{"records stay", recordsStay},
		{"two handles", twoHandles},
		{"cancelled", cancelled},
		{"closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var opened []store.Store
			t.Cleanup(func() {
				for _, s := range opened {
					if err := s.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				}
			})
			c.test(t, func() store.Store {
				s := open(t, c.name)
				opened = append(opened, s)
				return s
			})
		})
	}
}

func removedObjects(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	var ids []store.ID
	for _, text := range []string{"one", "two", "three"} {
		id, err := s.Put(ctx, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := s.Remove(ctx); err != nil {
		t.Errorf("remove nothing: %v", err)
	}
	for range 2 { // again: they are not there
		if err := s.Remove(ctx, ids[0], "no id", ids[1]); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ids {
		there, err := s.Has(ctx, id)
		if err != nil || there != (i == 2) {
			t.Errorf("object %d: %v, %v", i, there, err)
		}
	}
	if _, err := s.Get(ctx, ids[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("get a removed one: %v", err)
	}
	// Put again, it is there again.
	if _, err := s.Put(ctx, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if content, err := s.Get(ctx, ids[0]); err != nil || string(content) != "one" {
		t.Errorf("put again: %q, %v", content, err)
	}
}

func objects(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	random := make([]byte, 300_000)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(random)
	for name, content := range map[string][]byte{
		"nil":     nil,
		"small":   []byte("hello"),
		"text":    []byte(strings.Repeat("all work and no play\n", 5000)),
		"binary":  {0, 255, 0, 10, 13},
		"random":  random,
		"256":     bytes.Repeat([]byte{'x'}, 256),
		"bad utf": []byte("a\xff\xfe\xc0"),
	} {
		id, err := s.Put(ctx, content)
		if err != nil {
			t.Fatalf("%s: put: %v", name, err)
		}
		if want := store.Sum(content); id != want {
			t.Errorf("%s: id %s, want the SHA-256 %s", name, id, want)
		}
		again, err := s.Put(ctx, content)
		if err != nil || again != id {
			t.Errorf("%s: put again: %s, %v", name, again, err)
		}
		got, err := s.Get(ctx, id)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: get: %d bytes, %v", name, len(got), err)
		}
		if has, err := s.Has(ctx, id); err != nil || !has {
			t.Errorf("%s: has: %v, %v", name, has, err)
		}
	}
}

func objectsStay(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	id, err := s.Put(ctx, []byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open().Get(ctx, id)
	if err != nil || string(got) != "kept" {
		t.Fatalf("after reopening: %q, %v", got, err)
	}
}

func unknownObjects(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	for _, id := range []store.ID{
		store.Sum([]byte("never put")),
		"",
		"../../etc/passwd",
		store.ID(strings.Repeat("g", 64)),
		store.ID(strings.ToUpper(string(store.Sum([]byte("x"))))),
	} {
		if _, err := s.Get(ctx, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("get %q: %v, want ErrNotFound", id, err)
		}
		if has, err := s.Has(ctx, id); err != nil || has {
			t.Errorf("has %q: %v, %v", id, has, err)
		}
	}
}

func concurrentPuts(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 40 {
				// Half of them are the same for all.
				content := fmt.Appendf(nil, "object %d of %d", i, w*(i%2))
				id, err := s.Put(ctx, content)
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
				if got, err := s.Get(ctx, id); err != nil || !bytes.Equal(got, content) {
					t.Errorf("get right after put: %q, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func records(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	if _, err := s.Lookup(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("lookup of nothing: %v", err)
	}
	if err := s.Set(ctx); err != nil {
		t.Errorf("set of nothing: %v", err)
	}
	if err := s.Set(ctx, store.Record{Value: []byte("x")}); err == nil {
		t.Error("an empty key is taken")
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	must(t, s.Set(ctx,
		store.Record{Key: "b", Value: []byte("2")},
		store.Record{Key: "a", Value: []byte("1")},
		store.Record{Key: "empty", Value: nil},
		store.Record{Key: "big", Value: big}))
	if r, err := s.Lookup(ctx, "a"); err != nil || string(r.Value) != "1" || r.Key != "a" || r.Rev <= 0 {
		t.Errorf("lookup: %+v, %v", r, err)
	}
	if r, err := s.Lookup(ctx, "empty"); err != nil || len(r.Value) != 0 {
		t.Errorf("lookup of an empty value: %+v, %v", r, err)
	}
	if r, err := s.Lookup(ctx, "big"); err != nil || !bytes.Equal(r.Value, big) {
		t.Errorf("lookup of a big value: %d bytes, %v", len(r.Value), err)
	}
	must(t, s.Set(ctx, store.Record{Key: "a", Value: []byte("3")}))
	if r, err := s.Lookup(ctx, "a"); err != nil || string(r.Value) != "3" {
		t.Errorf("lookup after a second set: %+v, %v", r, err)
	}
	if got := keys(t, s, "", 0, 0); !slices.Equal(got, []string{"a", "b", "big", "empty"}) {
		t.Errorf("list of all: %q", got)
	}
	if got := keys(t, s, "", 0, 2); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("list of two: %q", got)
	}
}

func literalPrefix(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	all := []string{
		"x%y", "x_y", "xay", "x", "X", "xé", "x\x00", "x\xff", "x\xff\xff", "\xff", "\xff\xffz", "x[a]", "x*", "x'\"", "x\\",
	}
	must(t, s.Set(ctx, store.Record{Key: "zzz", Value: nil}))
	first, err := s.Lookup(ctx, "zzz")
	must(t, err)
	must(t, s.Delete(ctx, "zzz"))
	for _, k := range all {
		must(t, s.Set(ctx, store.Record{Key: k, Value: []byte(k)}))
	}
	for _, prefix := range []string{"x%", "x_", "x", "X", "x\xff", "\xff", "\xff\xff", "x\x00", "x[", "x*", "x'", "x\\", "xé", "", "nothing"} {
		var want []string
		for _, k := range all {
			if strings.HasPrefix(k, prefix) {
				want = append(want, k)
			}
		}
		slices.Sort(want)
		if got := keys(t, s, prefix, 0, 0); !slices.Equal(got, want) {
			t.Errorf("list %q: %q, want %q", prefix, got, want)
		}
		if got := keys(t, s, prefix, first.Rev, 0); !slices.Equal(got, want) {
			t.Errorf("list %q since the start: %q, want %q", prefix, got, want)
		}
	}
}

func listSince(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	for i := range 20 {
		must(t, s.Set(ctx, store.Record{Key: fmt.Sprintf("p/%02d", i), Value: []byte("v")}))
	}
	first, err := s.List(ctx, "p/", 0, 0)
	must(t, err)
	last := int64(0)
	for _, r := range first {
		last = max(last, r.Rev)
	}
	if got := keys(t, s, "p/", last, 0); len(got) != 0 {
		t.Errorf("nothing was written since, got %q", got)
	}
	// New, rewritten, of another prefix, and out of order.
	must(t, s.Set(ctx,
		store.Record{Key: "p/99", Value: []byte("new")},
		store.Record{Key: "p/03", Value: []byte("again")},
		store.Record{Key: "q/00", Value: []byte("other")}))
	if got := keys(t, s, "p/", last, 0); !slices.Equal(got, []string{"p/03", "p/99"}) {
		t.Errorf("since: %q", got)
	}
	if got := keys(t, s, "p/", last, 1); !slices.Equal(got, []string{"p/03"}) {
		t.Errorf("since, at most one: %q", got)
	}
	if got := keys(t, s, "p/", 0, 0); len(got) != 21 {
		t.Errorf("all: %d", len(got))
	}
}

func revisionsGrow(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	last := int64(0)
	for i := range 6 {
		must(t, s.Set(ctx, store.Record{Key: "k", Value: []byte{byte(i)}}))
		r, err := s.Lookup(ctx, "k")
		must(t, err)
		if r.Rev <= last {
			t.Fatalf("revision %d after %d", r.Rev, last)
		}
		last = r.Rev
		// A deletion of the newest must not free its revision.
		if i == 2 {
			must(t, s.Delete(ctx, "k"))
		}
		if i == 4 {
			must(t, s.Close())
			s = open()
		}
	}
}

func setAllOrNone(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	err := s.Set(ctx,
		store.Record{Key: "ok", Value: []byte("1")},
		store.Record{Key: strings.Repeat("k", store.MaxKeyBytes+1), Value: []byte("2")})
	if err == nil {
		t.Fatal("a key that is too long is taken")
	}
	err = s.Set(ctx,
		store.Record{Key: "ok", Value: []byte("1")},
		store.Record{Key: "big", Value: make([]byte, store.MaxRecordBytes+1)})
	if err == nil {
		t.Fatal("a value that is too large is taken")
	}
	if _, err := s.Lookup(ctx, "ok"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half of a set was written: %v", err)
	}
}

func deletePrefix(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	for _, k := range []string{"a/1", "a/2", "a", "ab", "b", "a\xff"} {
		must(t, s.Set(ctx, store.Record{Key: k, Value: []byte("v")}))
	}
	must(t, s.Delete(ctx, "a/"))
	must(t, s.Delete(ctx, "nothing"))
	if got := keys(t, s, "", 0, 0); !slices.Equal(got, []string{"a", "ab", "a\xff", "b"}) {
		t.Errorf("after deleting a/: %q", got)
	}
	if err := s.Delete(ctx, ""); err == nil {
		t.Error("an empty prefix deletes everything")
	}
	must(t, s.Delete(ctx, "a"))
	if got := keys(t, s, "", 0, 0); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after deleting a: %q", got)
	}
}

func recordsStay(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	must(t, s.Set(ctx, store.Record{Key: "k", Value: []byte("kept")}))
	before, err := s.Lookup(ctx, "k")
	must(t, err)
	must(t, s.Close())
	r, err := open().Lookup(ctx, "k")
	if err != nil || string(r.Value) != "kept" || r.Rev != before.Rev {
		t.Fatalf("after reopening: %+v, %v", r, err)
	}
}

// twoHandles stands for two processes.
func twoHandles(t *testing.T, open func() store.Store) {
	a, b, ctx := open(), open(), t.Context()
	var wg sync.WaitGroup
	for n, s := range []store.Store{a, b} {
		wg.Go(func() {
			for i := range 50 {
				if err := s.Set(ctx, store.Record{Key: fmt.Sprintf("%d/%02d", n, i), Value: []byte("v")}); err != nil {
					t.Errorf("set: %v", err)
					return
				}
				if _, err := s.Put(ctx, fmt.Appendf(nil, "%d %d", n, i)); err != nil {
					t.Errorf("put: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	for n, s := range []store.Store{a, b} {
		if got := keys(t, s, "", 0, 0); len(got) != 100 {
			t.Errorf("handle %d sees %d records, want 100", n, len(got))
		}
		other := fmt.Appendf(nil, "%d 7", 1-n)
		if got, err := s.Get(ctx, store.Sum(other)); err != nil || !bytes.Equal(got, other) {
			t.Errorf("handle %d does not see the other's object: %v", n, err)
		}
	}
	revs := map[int64]bool{}
	rs, err := a.List(ctx, "", 0, 0)
	must(t, err)
	for _, r := range rs {
		if revs[r.Rev] {
			t.Errorf("revision %d was given twice", r.Rev)
		}
		revs[r.Rev] = true
	}
}

func cancelled(t *testing.T, open func() store.Store) {
	s := open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Set(ctx, store.Record{Key: "k", Value: []byte("v")}); !errors.Is(err, context.Canceled) {
		t.Errorf("set: %v", err)
	}
	if _, err := s.Put(ctx, []byte("v")); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.List(ctx, "", 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	// The store is none the worse for it.
	must(t, s.Set(t.Context(), store.Record{Key: "k", Value: []byte("v")}))
	if got := keys(t, s, "", 0, 0); !slices.Equal(got, []string{"k"}) {
		t.Errorf("afterwards: %q", got)
	}
}

func closed(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	must(t, s.Close())
	must(t, s.Close())
	if err := s.Set(ctx, store.Record{Key: "k"}); err == nil {
		t.Error("a closed store takes a record")
	}
	if _, err := s.Put(ctx, []byte("x")); err == nil {
		t.Error("a closed store takes an object")
	}
	if _, err := s.Get(ctx, store.Sum(nil)); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a closed store answers %v", err)
	}
	if _, err := s.Lookup(ctx, "k"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a closed store answers %v", err)
	}
}

func keys(t *testing.T, s store.Store, prefix string, since int64, limit int) []string {
	t.Helper()
	rs, err := s.List(t.Context(), prefix, since, limit)
	must(t, err)
	var out []string
	for _, r := range rs {
		out = append(out, r.Key)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
