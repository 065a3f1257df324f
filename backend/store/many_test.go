package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// workspace makes the contents of n files of about 20 KB, 70 % of them text.
func workspace(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		b := make([]byte, 2+r.IntN(9))
		for j := range b {
			b[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(b)
	}
	out := make([][]byte, n)
	for i := range out {
		size := int(r.ExpFloat64() * 20_000)
		var b bytes.Buffer
		if r.IntN(10) < 7 {
			for b.Len() < size {
				w := words[int(r.ExpFloat64()*300)%len(words)]
				b.WriteString(w)
				b.WriteByte(" \n\t.("[r.IntN(5)])
			}
		} else {
			for b.Len() < size {
				fmt.Fprintf(&b, "%c%c%c%c", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256))
			}
		}
		out[i] = b.Bytes()
	}
	return out
}

func BenchmarkPutMany(b *testing.B) {
	contents := workspace(10_000)
	total := 0
	for _, c := range contents {
		total += len(c)
	}
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		s := open(b, dir)
		b.StartTimer()
		began := time.Now()
		work := make(chan [][]byte)
		done := make(chan error)
		for range 2 {
			go func() {
				for part := range work {
					if _, err := s.PutMany(b.Context(), part); err != nil {
						b.Error(err)
					}
				}
				done <- nil
			}()
		}
		for i := 0; i < len(contents); i += 200 {
			work <- contents[i : i+200]
		}
		close(work)
		<-done
		<-done
		b.StopTimer()
		took := time.Since(began)
		u, err := s.Usage(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		info, _ := os.Stat(s.Path())
		b.Logf("%d MB in %v: %+v, file %d", total>>20, took, u, info.Size())
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
