package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
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
		if len(frames) > endBytes {
			f.Add(frames[:len(frames)-endBytes])
		}
		if _, before := read(f.Context(), data); before == nil {
			if _, err := read(f.Context(), pack(ended(frames[:len(frames)-endBytes]))); err != nil {
				f.Fatalf("a sound archive that is packed otherwise: %v", err)
			}
		}
	})
	f.Fuzz(func(t *testing.T, frames []byte) {
		tame(t, pack(frames))
		tame(t, pack(ended(frames)))
	})
}

const endBytes = 5 + 8 + sha256.Size

// ended gives frames an end that fits, so that more than the end is looked at.
func ended(frames []byte) []byte {
	sum := sha256.Sum256(frames)
	count := uint64(bytes.Count(frames, []byte{0, 0, frameObject})) // mostly right
	end := append(binary.LittleEndian.AppendUint32(bytes.Clone(frames), 8+sha256.Size), frameEnd)
	return append(binary.LittleEndian.AppendUint64(end, count), sum[:]...)
}

// pack packs as it is quick, and not small.
func pack(frames []byte) []byte {
	p := newPacked()
	for part := range slices.Chunk(frames, 64<<10) {
		p.plain(part)
	}
	p.Write([]byte{1, 0, 0}) // the last block
	return p.Bytes()
}
