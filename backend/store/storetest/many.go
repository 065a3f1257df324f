package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"temporal-sandbox-agent/backend/store"
)

// contents are n pieces of many sizes, some larger than what is written at once,
// some that compress and some that don't.
func contents(n int, seed byte) [][]byte {
	r := rand.New(rand.NewChaCha8([32]byte{seed}))
	out := make([][]byte, n)
	for i := range out {
		size := r.IntN(3000)
		if i%50 == 7 {
			size = 100_000 + r.IntN(400_000)
		}
		b := make([]byte, size)
		for j := range b {
			b[j] = byte(r.IntN(256))
			if i%3 == 0 {
				b[j] = "some text\n"[j%10]
			}
		}
		out[i] = append(b, fmt.Sprintf("%d of %d", i, seed)...)
	}
	return out
}

func manyObjects(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	if ids, err := s.PutMany(ctx, nil); err != nil || len(ids) != 0 {
		t.Errorf("put nothing: %d, %v", len(ids), err)
	}
	for _, n := range []int{1, 2, 500} {
		all := contents(n, byte(n))
		all = append(all, nil, all[0], all[n/2]) // and the same again
		for range 2 {
			ids, err := s.PutMany(ctx, all)
			must(t, err)
			for i, content := range all {
				if ids[i] != store.Sum(content) {
					t.Fatalf("%d: id %s, want the SHA-256", i, ids[i])
				}
				if got, err := s.Get(ctx, ids[i]); err != nil || !bytes.Equal(got, content) {
					t.Fatalf("%d: get: %d bytes, %v", i, len(got), err)
				}
			}
		}
	}
	must(t, s.Close())
	s = open()
	for _, content := range contents(500, 244) { // 500 as a byte
		if got, err := s.Get(ctx, store.Sum(content)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("after reopening: %d bytes, %v", len(got), err)
		}
	}
	there, err := s.HasMany(ctx, []store.ID{store.Sum(nil), store.Sum([]byte("never")), "no id"})
	if err != nil || !there[0] || there[1] || there[2] {
		t.Errorf("has many: %v, %v", there, err)
	}
}

func batch(t *testing.T, open func() store.Store) {
	s, ctx := open(), t.Context()
	b := s.Batch()
	must(t, b.Flush(ctx))
	all := contents(300, 1)
	for i := 0; i < len(all); i += 50 {
		// What was given may be used again.
		part := make([][]byte, 50)
		for j := range part {
			part[j] = bytes.Clone(all[i+j])
		}
		ids, err := b.Put(ctx, part)
		must(t, err)
		for j := range part {
			if ids[j] != store.Sum(all[i+j]) {
				t.Fatal("another id")
			}
			clear(part[j])
		}
	}
	must(t, b.Flush(ctx))
	must(t, b.Flush(ctx))
	must(t, s.Close())
	s = open()
	for i, content := range all {
		if got, err := s.Get(ctx, store.Sum(content)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d: %d bytes, %v", i, len(got), err)
		}
	}
}
