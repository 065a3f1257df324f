package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/store"
)

// More of a store, for the reader of a few objects.

func (m memory) PutMany(_ context.Context, contents [][]byte) ([]store.ID, error) {
	var ids []store.ID
	for _, content := range contents {
		ids = append(ids, m.put(bytes.Clone(content)))
	}
	return ids, nil
}

func (m memory) HasMany(_ context.Context, ids []store.ID) ([]bool, error) {
	out := make([]bool, len(ids))
	for i, id := range ids {
		_, out[i] = m[id]
	}
	return out, nil
}

func (m memory) Epoch(context.Context) (string, error)           { return "e", nil }
func (m memory) Use(context.Context) (release func(), err error) { return func() {}, nil }
func (m memory) Batch() store.Batch                              { return &memoryBatch{m: m} }

// memoryBatch puts at the end, one call at a time.
type memoryBatch struct {
	m    memory
	mu   sync.Mutex
	held [][]byte
}

func (b *memoryBatch) Put(_ context.Context, contents [][]byte) ([]store.ID, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []store.ID
	for _, content := range contents {
		ids, b.held = append(ids, store.Sum(content)), append(b.held, bytes.Clone(content))
	}
	return ids, nil
}

func (b *memoryBatch) Flush(ctx context.Context) error {
	_, err := b.m.PutMany(ctx, b.held)
	return err
}

// liar is a tree that need not tell the truth.
type liar struct {
	lists  [][]Entry // the last one again and again
	listed int
	unread []string
	reads  []FileRead // after those that were asked for
	give   func(name string) []FileRead
}

func (l *liar) List(_ context.Context, _ []string, each func(Entry) error) (Listing, error) {
	list := l.lists[min(l.listed, len(l.lists)-1)]
	l.listed++
	out := Listing{Begun: time.Unix(1_700_000_000, 0), Granularity: time.Second}
	for _, e := range list {
		if err := each(e); err != nil {
			return out, err
		}
	}
	for _, name := range l.unread {
		out.Unread = append(out.Unread, Unread{Name: name, Why: fs.ErrPermission})
	}
	return out, nil
}

func (l *liar) ReadFiles(_ context.Context, names []string, each func(FileRead) error) error {
	var all []FileRead
	for _, name := range names {
		all = append(all, l.give(name)...)
	}
	for _, f := range append(all, l.reads...) {
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

func (l *liar) Digests(context.Context, []string) ([][32]byte, error) { return nil, nil }

func (l *liar) Apply(context.Context, []string, iter.Seq2[Make, error]) error { return nil }

// file gives a file with a content that need not be as long as it says.
func file(name, content string, size int64) FileRead {
	return FileRead{Name: name, Mode: 0o644, Size: size, Modified: 1, Content: strings.NewReader(content)}
}

func honest(name string) []FileRead { return []FileRead{file(name, "hello", 5)} }

func entryOf(name string) Entry {
	return Entry{Name: name, Mode: 0o644, Size: 5, Held: 4096, Modified: 1}
}

func dirOf(name string) Entry { return Entry{Name: name, Mode: fs.ModeDir | 0o755} }

func linkOf(name, target string) Entry {
	return Entry{Name: name, Mode: fs.ModeSymlink | 0o777, Target: target}
}

// sound captures a tree and fails unless what comes of it is sound, if anything
// does.
func sound(t *testing.T, tree Tree) (paths []string, err error) {
	t.Helper()
	m := memory{}
	got, err := Capture(t.Context(), tree, m, CaptureOptions{})
	if err != nil || got.TooLarge != nil {
		return nil, err
	}
	manifest, err := Load(t.Context(), m, got.Root)
	if err != nil {
		t.Fatalf("a snapshot that can't be read: %v", err)
	}
	for f, err := range manifest.Walk(t.Context()) {
		if err != nil {
			t.Fatalf("a snapshot that is not sound: %v", err)
		}
		paths = append(paths, f.Path)
		if f.Kind != KindFile {
			continue
		}
		r, err := manifest.Open(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n != f.Size {
			t.Fatalf("%q has %d bytes of %d, %v", f.Path, n, f.Size, err)
		}
	}
	if len(paths) != got.Files {
		t.Fatalf("%d entries, and %d are told", len(paths), got.Files)
	}
	return paths, nil
}

// A tree that tells what can't be makes no unsound snapshot: it is refused, or
// what can't be is left out.
func TestTreesThatLie(t *testing.T) {
	large := strings.Repeat("large ", 400_000)
	for name, c := range map[string]struct {
		tree liar
		want string // paths, or "refused"
	}{
		"honest":             {liar{lists: [][]Entry{{dirOf("a"), entryOf("a/b"), linkOf("c", "a")}}}, "a a/b c"},
		"twice":              {liar{lists: [][]Entry{{entryOf("a"), dirOf("a"), entryOf("a")}}}, "a"},
		"below a file":       {liar{lists: [][]Entry{{entryOf("a"), entryOf("a/b"), dirOf("a/c"), entryOf("a/c/d")}}}, "a"},
		"below a link":       {liar{lists: [][]Entry{{linkOf("a", "b"), entryOf("a/b")}}}, "a"},
		"below nothing":      {liar{lists: [][]Entry{{entryOf("a/b"), entryOf("b")}}}, "b"},
		"below a socket":     {liar{lists: [][]Entry{{{Name: "a", Mode: fs.ModeSocket}, entryOf("a/b")}}}, ""},
		"a link to nothing":  {liar{lists: [][]Entry{{linkOf("a", ""), entryOf("b")}}}, "b"},
		"a link with NUL":    {liar{lists: [][]Entry{{linkOf("a", "x\x00y"), entryOf("b")}}}, "b"},
		"a link of a mile":   {liar{lists: [][]Entry{{linkOf("a", strings.Repeat("x", maxPath+1)), entryOf("b")}}}, "b"},
		"up":                 {liar{lists: [][]Entry{{entryOf("../a")}}}, "refused"},
		"absolute":           {liar{lists: [][]Entry{{entryOf("/a")}}}, "refused"},
		"no name":            {liar{lists: [][]Entry{{entryOf("")}}}, "refused"},
		"NUL":                {liar{lists: [][]Entry{{entryOf("a\x00")}}}, "refused"},
		"a size below zero":  {liar{lists: [][]Entry{{{Name: "a", Size: -1}}}}, "refused"},
		"room below zero":    {liar{lists: [][]Entry{{{Name: "a", Held: -1 << 60}}}}, "refused"},
		"the root unread":    {liar{lists: [][]Entry{{}}, unread: []string{""}}, "refused"},
		"unread above":       {liar{lists: [][]Entry{{}}, unread: []string{".."}}, "refused"},
		"unread twice":       {liar{lists: [][]Entry{{dirOf("a")}}, unread: []string{"a", "a"}}, "a"},
		"gone when looked":   {liar{lists: [][]Entry{{entryOf("a"), entryOf("b")}, {entryOf("b")}}}, "b"},
		"other when looked":  {liar{lists: [][]Entry{{entryOf("a")}, {dirOf("a"), linkOf("a", "x")}}}, "a"},
		"not given":          {liar{lists: [][]Entry{{entryOf("a")}}, give: func(string) []FileRead { return nil }}, "refused"},
		"given twice":        {liar{lists: [][]Entry{{entryOf("a")}}, give: func(name string) []FileRead { return append(honest(name), honest(name)...) }}, "a"},
		"not asked":          {liar{lists: [][]Entry{{entryOf("a")}}, reads: []FileRead{file("b", "x", 1)}}, "refused"},
		"asked, then failed": {liar{lists: [][]Entry{{entryOf("a")}}, reads: []FileRead{{Name: "a", Err: fs.ErrPermission}}}, ""},
		"read below zero":    {liar{lists: [][]Entry{{entryOf("a")}}, give: func(name string) []FileRead { return []FileRead{file(name, "hello", -5)} }}, "a"},
		"read of the most":   {liar{lists: [][]Entry{{entryOf("a")}}, give: func(name string) []FileRead { return []FileRead{file(name, "hello", 1<<63-1)} }}, "a"},
		"large, not told":    {liar{lists: [][]Entry{{entryOf("a")}}, give: func(name string) []FileRead { return []FileRead{file(name, large, 5)} }}, "a"},
		"large of little":    {liar{lists: [][]Entry{{entryOf("a")}}, give: func(name string) []FileRead { return []FileRead{file(name, large, maxWhole)} }}, "a"},
		"a folder instead": {liar{lists: [][]Entry{{entryOf("a")}}, give: func(name string) []FileRead {
			return []FileRead{{Name: name, Mode: fs.ModeDir, Content: strings.NewReader("")}}
		}}, ""},
	} {
		if c.tree.give == nil {
			c.tree.give = honest
		}
		paths, err := sound(t, &c.tree)
		got := strings.Join(paths, " ")
		if err != nil {
			got = "refused"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q, %v", name, got, c.want, err)
		}
	}
}

// FuzzCapture captures trees whose lies are drawn from data: 4 bytes and a name
// for each entry.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("d000a\nf500a/b\nl000c\n"), []byte("a"))
	f.Add([]byte("f500a\nf511a/b\nf521c\nl021c\nf539..\n"), []byte(""))
	f.Add([]byte("s000a\nf540a/b\nf550b\nf560c\nf500c\n"), []byte("..\nx"))
	f.Fuzz(func(t *testing.T, entries, unread []byte) {
		tree := &liar{lists: [][]Entry{nil, nil}}
		how := map[string]byte{}
		for line := range bytes.SplitSeq(entries, []byte("\n")) {
			if len(line) < 4 {
				continue
			}
			e := Entry{Name: string(line[4:]), Mode: 0o644, Size: int64(int8(line[1] - '0')), Held: int64(line[1]), Modified: 1, Target: string(line[3:])}
			e.Mode |= map[byte]fs.FileMode{'d': fs.ModeDir, 'l': fs.ModeSymlink, 's': fs.ModeSocket, 'p': fs.ModeNamedPipe, 'x': fs.ModeIrregular}[line[0]]
			how[e.Name] = line[2]
			tree.lists[0] = append(tree.lists[0], e)
			if line[3] != '1' {
				tree.lists[1] = append(tree.lists[1], e)
			}
		}
		for line := range bytes.SplitSeq(unread, []byte("\n")) {
			if len(line) > 0 {
				tree.unread = append(tree.unread, string(line))
			}
		}
		tree.give = func(name string) []FileRead {
			switch how[name] {
			case '1':
				return nil
			case '2':
				return append(honest(name), honest(name)...)
			case '3':
				return []FileRead{{Name: name, Err: errors.New("it can't be read")}}
			case '4':
				return []FileRead{file(name, "hello", -1)}
			case '5':
				return []FileRead{file(name, "hello", 1<<62)}
			case '6':
				return append(honest(name), file("unasked", "x", 1))
			}
			return honest(name)
		}
		_, _ = sound(t, tree) // it may be refused
	})
}

// FuzzIndex: an index is a cache on this machine, but it may be of any version,
// and what is in it with the right hash is believed.
func FuzzIndex(f *testing.F) {
	name := filepath.Join(f.TempDir(), "index")
	w, err := newIndexWriter(name, &indexHead{root: store.Sum(nil), epoch: "e", excluded: []string{"x"}, skipped: []skipped{{"s", whySocket}}, entries: 3})
	if err != nil {
		f.Fatal(err)
	}
	w.add(&seen{path: "a", mode: fs.ModeDir | 0o755})
	w.add(&seen{path: "a/b", mode: 0o644, size: maxWhole + 1, modified: 1, changed: 2, inode: 3, chunks: store.Sum(nil)})
	w.add(&seen{path: "c", mode: fs.ModeSymlink | 0o777, target: "a"})
	if err := w.finish(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	if x := readIndex(name); x == nil || x.next() == nil || x.next().path != "a/b" || x.next().target != "a" || x.next() != nil {
		f.Fatalf("the index is not read: %+v", x)
	}
	body := whole[:len(whole)-32]
	f.Add(body)
	f.Add(body[:len(body)-3])
	f.Add([]byte(indexMagic))
	f.Fuzz(func(t *testing.T, body []byte) {
		file := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(file, append(bytes.Clone(body), sumBytes(body)...), 0o600); err != nil {
			t.Fatal(err)
		}
		x := readIndex(file)
		for n := 0; x.next() != nil; n++ {
			if n > len(body) {
				t.Fatal("there are more entries than bytes")
			}
		}
		// Nor does a capture break with it.
		_, err := Capture(t.Context(), &liar{lists: [][]Entry{{dirOf("a"), entryOf("a/b"), linkOf("c", "a")}}, give: honest}, memory{}, CaptureOptions{Index: file})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	})
}

func sumBytes(b []byte) []byte {
	sum := sumOf(store.Sum(b))
	return sum[:]
}

// An object that says that very much follows takes no memory for it.
func TestCountsThatLie(t *testing.T) {
	const size = 4 << 20
	for _, c := range []struct {
		name   string
		begin  []byte
		decode func([]byte) error
	}{
		{"excluded", []byte(rootMagic + "\x00\x00"), func(b []byte) error { _, err := decodeRoot(b); return err }},
		{"skipped", []byte(rootMagic + "\x00\x00\x00"), func(b []byte) error { _, err := decodeRoot(b); return err }},
		{"pages", []byte(rootMagic + "\x00\x00\x00\x00"), func(b []byte) error { _, err := decodeRoot(b); return err }},
		{"entries", []byte(pageMagic), func(b []byte) error { _, err := decodePage(b); return err }},
		{"chunks", []byte(chunksMagic), func(b []byte) error { _, err := decodeChunks(b, 1<<62); return err }},
	} {
		data := append(binary.AppendUvarint(c.begin, size-100), make([]byte, size)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.decode(data)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", c.name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s took %s", c.name, fmt.Sprint(used>>20, " MB"))
		}
	}
}
