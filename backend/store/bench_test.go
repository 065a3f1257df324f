package store

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// text of n bytes that compresses as conversations do.
func text(n, seed int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of %d: the quick brown fox %x\n", i, seed, i*seed*2654435761)
	}
	return []byte(b.String()[:n])
}

func BenchmarkSetOne(b *testing.B) {
	s := open(b, b.TempDir())
	value := text(1500, 1)
	i := 0
	for b.Loop() {
		i++
		if err := s.Set(b.Context(), Record{Key: fmt.Sprintf("turn/x/%06d", i%1000), Value: value}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutSmall(b *testing.B) {
	s := open(b, b.TempDir())
	i := 0
	for b.Loop() {
		i++
		if _, err := s.Put(b.Context(), text(1500, i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutAgain(b *testing.B) {
	s := open(b, b.TempDir())
	content := text(1500, 1)
	for b.Loop() {
		if _, err := s.Put(b.Context(), content); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutParallel is what a capture of many files does.
func BenchmarkPutParallel(b *testing.B) {
	s := open(b, b.TempDir())
	var n atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Put(b.Context(), text(1500, int(n.Add(1)))); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	s := open(b, b.TempDir())
	id, err := s.Put(b.Context(), text(8000, 1))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListSince is what a step does to read what is new in its turn: the
// same with few records and with many.
func BenchmarkListSince(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, b.TempDir())
			records := make([]Record, n)
			for i := range records {
				records[i] = Record{Key: fmt.Sprintf("turn/x/%06d", i), Value: text(1000, i)}
			}
			if err := s.Set(b.Context(), records...); err != nil {
				b.Fatal(err)
			}
			last, err := s.Lookup(b.Context(), records[n-1].Key)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				got, err := s.List(b.Context(), "turn/x/", last.Rev-2, 0)
				if err != nil || len(got) != 2 {
					b.Fatalf("%d records, %v", len(got), err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir)
	for i := range 4000 {
		if err := s.Set(b.Context(), Record{Key: fmt.Sprintf("commit/%06d", i), Value: text(64, i)}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 14 {
		if _, err := s.Put(b.Context(), noise(1<<20, byte(i))); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, _, err := Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
