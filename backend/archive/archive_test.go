package archive

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
)

func TestRoundTrip(t *testing.T) {
	e := export(t)
	ctx := t.Context()
	other := openStore(t)
	tr := transcript.New(other)
	head, err := Read(ctx, bytes.NewReader(e.data), other, tr)
	if err != nil {
		t.Fatal(err)
	}
	if head.Commit != e.head.Commit || head.Snapshot != e.head.Snapshot || head.Turns != 6 || head.Title != "A session" || !slices.Equal(head.Lineage, e.head.Lineage) {
		t.Errorf("head %+v, want %+v", head, e.head)
	}
	page, err := tr.Page(ctx, protocol.Session{ID: "new", Head: string(head.Commit), Turns: 6}, "", 1000)
	if err != nil || len(page.Items) != 6*4+1+1 {
		t.Errorf("%d items, %v", len(page.Items), err)
	}
	root, tree := folder(t)
	if _, err := snapshot.Restore(ctx, tree, other, head.Snapshot, snapshot.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	same(t, e.root, root)

	// What is exported again holds the same.
	var again bytes.Buffer
	if err := Write(ctx, &again, head, &reach.Finder{Transcript: tr, Objects: other}, other); err != nil {
		t.Fatal(err)
	}
	first, second := take(t, e.data), take(t, again.Bytes())
	if len(first.objects) != len(second.objects) || len(first.objects) < 40 {
		t.Errorf("%d objects, then %d", len(first.objects), len(second.objects))
	}
	// Reading what is there already, and once more, changes nothing.
	before, err := other.Usage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(ctx, bytes.NewReader(e.data), other, tr); err != nil {
		t.Error(err)
	}
	if after, err := other.Usage(ctx); err != nil || after.Objects != before.Objects || int(after.Objects) != len(first.objects) {
		t.Errorf("%d objects, then %d, %v", before.Objects, after.Objects, err)
	}
	// Only files, and only a conversation without any.
	p := first.clone()
	file := p.put([]byte("hello"))
	p.objects = map[store.ID][]byte{file: p.objects[file]}
	p.onlyFiles(5, aFolder("a"), aFile("a/b", file, 5), aLink("c", "a/b"))
	if _, err := read(ctx, p.build(t)); err != nil {
		t.Errorf("only files: %v", err)
	}
	p = first.clone()
	p.head.Snapshot = ""
	if _, err := read(ctx, p.build(t)); err != nil {
		t.Errorf("without the files of now: %v", err)
	}
}

// same fails unless two folders hold the same.
func same(t *testing.T, want, got string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(want, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == want {
			return err
		}
		rel, err := filepath.Rel(want, path)
		if err != nil {
			return err
		}
		n++
		a, err := os.Lstat(path)
		if err != nil {
			return err
		}
		b, err := os.Lstat(filepath.Join(got, rel))
		if err != nil || a.Mode() != b.Mode() {
			t.Errorf("%s: %v, want the mode %v: %v", rel, b, a.Mode(), err)
			return nil
		}
		if !a.Mode().IsRegular() {
			return nil
		}
		x, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if y, err := os.ReadFile(filepath.Join(got, rel)); err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s has another content: %v", rel, err)
		}
		return nil
	})
	if err != nil || n < 9 {
		t.Errorf("%d entries compared, %v", n, err)
	}
}

// What is damaged in the store is not exported as if it were whole.
func TestWriteOfDamage(t *testing.T) {
	e := export(t)
	p := take(t, e.data)
	n := 0
	for id := range p.objects {
		if n++; n > 6 { // in no order: each time others
			break
		}
		m := newMemory()
		m.objects = p.clone().objects
		delete(m.objects, id)
		var out bytes.Buffer
		err := Write(t.Context(), &out, p.head, &reach.Finder{Transcript: transcript.New(m), Objects: m}, m)
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("without %s: %v", id, err)
		}
	}
}

// failing fails after some bytes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func (f *failing) Read(p []byte) (int, error) { return 0, f.err }

// Errors of the disk are told as such, and not as those of the file.
func TestErrorsOfTheDisk(t *testing.T) {
	e := export(t)
	tr := transcript.New(e.store)
	broken := &fs.PathError{Op: "write", Path: "x", Err: errors.New("the disk is gone")}
	for _, n := range []int{0, 10, 100_000} {
		err := Write(t.Context(), &failing{n, broken}, e.head, &reach.Finder{Transcript: tr, Objects: e.store}, e.store)
		if !errors.Is(err, broken) {
			t.Errorf("write with room for %d bytes: %v", n, err)
		}
	}
	for _, n := range []int{0, 4, 8, 1000} {
		m := newMemory()
		_, err := Read(t.Context(), &both{first: e.data[:n], then: &failing{0, broken}}, m, transcript.New(m))
		if !errors.Is(err, broken) || errors.Is(err, ErrInvalid) {
			t.Errorf("read of %d bytes: %v", n, err)
		}
	}
}

// both reads some bytes, and then what another reader gives.
type both struct {
	first []byte
	then  *failing
}

func (b *both) Read(p []byte) (int, error) {
	if len(b.first) == 0 {
		return b.then.Read(p)
	}
	n := copy(p, b.first)
	b.first = b.first[n:]
	return n, nil
}

func TestCutOff(t *testing.T) {
	cut := func(data []byte, n int) {
		t.Helper()
		if _, err := read(t.Context(), data[:n]); !errors.Is(err, ErrInvalid) {
			t.Errorf("the first %d of %d bytes: %v", n, len(data), err)
		}
	}
	data := small(t).build(t)
	for n := 0; n < len(data); n += 1 + len(data)/200 {
		cut(data, n)
	}
	for n := range 20 {
		cut(data, len(data)-1-n)
	}
	data = export(t).data
	for n := range 10 {
		cut(data, n*len(data)/10)
	}
}

func TestFlippedBits(t *testing.T) {
	harmless := 0
	flip := func(want Head, data []byte, n int) {
		t.Helper()
		data = bytes.Clone(data)
		data[n] ^= 1 << (n % 8)
		head, err := read(t.Context(), data)
		switch {
		case err == nil && head.Commit == want.Commit && head.Title == want.Title:
			harmless++ // a bit of the packing that says nothing
		case !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNewer):
			t.Errorf("a bit of byte %d of %d: %+v, %v", n, len(data), head, err)
		}
	}
	p := small(t)
	data := p.build(t)
	for n := 0; n < len(data); n += 1 + len(data)/200 {
		flip(p.head, data, n)
	}
	for n := range 40 {
		flip(p.head, data, n)
		flip(p.head, data, len(data)-1-n)
	}
	e := export(t)
	for n := range 10 {
		flip(e.head, e.data, n*len(e.data)/10)
	}
	if harmless > 10 {
		t.Errorf("%d flipped bits change nothing", harmless)
	}
}
