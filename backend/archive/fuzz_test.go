package archive

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// tame reads what somebody made up: it is refused, or it is sound, and takes no
// more memory than a few of the largest parts.
func tame(t *testing.T, data []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	head, err := read(t.Context(), data)
	runtime.ReadMemStats(&after)
	switch {
	case err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNewer):
		t.Fatal(err)
	case err == nil && head.Commit == "" && head.Snapshot == "":
		t.Fatal("nothing was read, and that is taken for sound")
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1024*mib {
		t.Fatalf("%d bytes took %d MB", len(data), used>>20)
	}
}

// seeds are a sound archive and some that are not.
func seeds(f *testing.F, add func(data []byte)) {
	p := small(f)
	sound := p.build(f)
	if _, err := read(f.Context(), sound); err != nil {
		f.Fatal(err)
	}
	add(sound)
	for id := range p.objects {
		c := p.clone()
		delete(c.objects, id)
		add(c.build(f))
	}
	c := p.clone()
	c.put([]byte("too many"))
	add(c.build(f))
	c.head.Version = 2
	add(c.build(f))
	plain := newPacked()
	plain.frame(frameHead, 1000)
	plain.zeros(1000)
	add(plain.Bytes())
}

func FuzzRead(f *testing.F) {
	seeds(f, func(data []byte) { f.Add(data) })
	sound := small(f).build(f)
	for _, n := range []int{0, 4, 8, 12, 40, len(sound) / 2, len(sound) - 1} {
		f.Add(sound[:n])
		damaged := bytes.Clone(sound)
		damaged[n] ^= 0x10
		f.Add(damaged)
	}
	f.Fuzz(tame)
}

// FuzzFrames changes what is packed: a damaged packing is found out soon.
func FuzzFrames(f *testing.F) {
	seeds(f, func(data []byte) {
		zip, err := zstd.NewReader(bytes.NewReader(data[len(magic):]))
		if err != nil {
			f.Fatal(err)
		}
		defer zip.Close()
		frames, err := io.ReadAll(zip)
		if err != nil && len(frames) == 0 {
			f.Fatal(err)
		}
		f.Add(frames)
	})
	f.Fuzz(func(t *testing.T, frames []byte) {
		tame(t, stream(t, func(w *frameWriter) {
			if _, err := w.zip.Write(frames); err != nil {
				t.Fatal(err)
			}
		}))
		// With an end that fits, so that more than the end is looked at.
		tame(t, stream(t, func(w *frameWriter) {
			_, _ = w.hash.Write(frames)
			if _, err := w.zip.Write(frames); err != nil {
				t.Fatal(err)
			}
			if err := w.end0(); err != nil {
				t.Fatal(err)
			}
		}))
	})
}
