package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/transcript"
)

// packed is a zstd stream that is written by hand: a byte that comes again and
// again takes 4 bytes for each 128 KiB.
type packed struct{ bytes.Buffer }

func newPacked() *packed {
	p := &packed{}
	p.WriteString(magic)
	// No checksum, no size, a window of 8 MiB.
	p.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 13 << 3})
	return p
}

func (p *packed) block(kind, size int, data ...byte) {
	head := uint32(kind<<1 | size<<3)
	p.Write([]byte{byte(head), byte(head >> 8), byte(head >> 16)})
	p.Write(data)
}

func (p *packed) plain(data []byte) { p.block(0, len(data), data...) }

func (p *packed) zeros(n int) {
	const most = 128 << 10
	for ; n > 0; n -= most {
		p.block(1, min(n, most), 0)
	}
}

func (p *packed) frame(kind byte, size int) {
	p.plain(append(binary.LittleEndian.AppendUint32(nil, uint32(size)), kind))
}

func (p *packed) begin(t *testing.T) {
	head := (&parts{head: Head{Version: Version, ID: "s", Snapshot: "x"}}).text(t)
	p.frame(frameHead, len(head))
	p.plain(head)
}

// frugal fails if reading takes much memory, as a whole and not at a time, and
// unless it is refused.
func frugal(t *testing.T, what string, most uint64, data []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	refused(t, what, data)
	runtime.ReadMemStats(&after)
	t.Logf("%s: %d bytes were refused in %v with %d KB", what, len(data), time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>10)
	if used := after.TotalAlloc - before.TotalAlloc; used > most {
		t.Errorf("%s took %d MB", what, used>>20)
	}
}

const mib = 1 << 20

func TestBombs(t *testing.T) {
	lie := newPacked()
	lie.begin(t)
	lie.frame(frameObject, 1<<32-1)
	lie.zeros(4096 * mib)
	frugal(t, "a part of 4 GiB", 64*mib, lie.Bytes())

	empty := newPacked()
	empty.begin(t)
	empty.frame(frameObject, maxObject)
	empty.plain([]byte("little"))
	frugal(t, "a length without content", 64*mib, empty.Bytes())

	head := newPacked()
	head.frame(frameHead, maxObject)
	head.zeros(maxObject)
	frugal(t, "a large head", 64*mib, head.Bytes())

	// 32 GiB, in parts that are allowed.
	same := newPacked()
	same.begin(t)
	for range 8192 {
		same.frame(frameObject, 4*mib)
		same.zeros(4 * mib)
	}
	frugal(t, "the same again and again", 256*mib, same.Bytes())

	after := newPacked()
	after.begin(t)
	after.frame(frameEnd, 8+32)
	after.zeros(8192 * mib)
	frugal(t, "much after the end", 64*mib, after.Bytes())

	window := newPacked()
	window.Bytes()[len(magic)+5] = 31 << 3 // 2 TiB
	window.begin(t)
	window.zeros(64 * mib)
	frugal(t, "a large window", 64*mib, window.Bytes())
}

// However much is in it, an archive ends at a limit.
func TestLimits(t *testing.T) {
	data := small(t).build(t)
	for name, almost := range map[string]func(r *frameReader){
		"bytes":   func(r *frameReader) { r.bytes = maxBytes - 2000 },
		"objects": func(r *frameReader) { r.objects = maxObjects },
	} {
		in, err := newFrameReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		almost(in)
		for err == nil {
			_, _, err = in.next()
		}
		if in.close(); !errors.Is(err, ErrInvalid) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
}

// Many small objects are not gathered in memory.
func TestSmallObjectsAreNotGathered(t *testing.T) {
	p := &parts{head: Head{Version: Version, ID: "s", Snapshot: "x"}}
	data := stream(t, func(w *frameWriter) {
		_ = w.frame(frameHead, p.text(t))
		for i := range uint32(3 * batchObjects) {
			_ = w.object(binary.LittleEndian.AppendUint32(nil, i))
		}
		_ = w.end()
	})
	m := newMemory()
	if _, err := Read(t.Context(), bytes.NewReader(data), m, transcript.New(m)); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if m.most > batchObjects || len(m.objects) != 3*batchObjects {
		t.Errorf("%d objects, %d at once", len(m.objects), m.most)
	}
}

func TestReadIsCancelled(t *testing.T) {
	data := small(t).build(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, data); !errors.Is(err, context.Canceled) || errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}
