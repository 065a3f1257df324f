package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
)

// watched tells what is asked of a tree, and can get in its way.
type watched struct {
	snapshot.Tree
	lists, reads atomic.Int64
	before       func(name string)       // it is read
	fail         func(name string) error // instead of reading it
	unread       []snapshot.Unread
}

func (w *watched) List(ctx context.Context, skip []string, each func(snapshot.Entry) error) (snapshot.Listing, error) {
	w.lists.Add(1)
	l, err := w.Tree.List(ctx, skip, each)
	l.Unread = append(l.Unread, w.unread...)
	return l, err
}

func (w *watched) ReadFiles(ctx context.Context, names []string, each func(snapshot.FileRead) error) error {
	w.reads.Add(int64(len(names)))
	return w.Tree.ReadFiles(ctx, names, func(f snapshot.FileRead) error {
		if w.before != nil {
			w.before(f.Name)
		}
		if w.fail != nil {
			if err := w.fail(f.Name); err != nil {
				f.Content, f.Err = nil, err
			}
		}
		return each(f)
	})
}

// old lets files grow older than times are fine.
func old() { time.Sleep(50 * time.Millisecond) }

func skips(c snapshot.Captured) string {
	var out []string
	for _, s := range c.Skipped {
		out = append(out, s.Path+": "+s.Why)
	}
	return strings.Join(out, "; ")
}

func TestCaptureWithoutChange(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for i := range 300 {
		write(t, p.root, fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprint("content ", i))
	}
	old()
	tree := &watched{Tree: p.tree}
	p.tree = tree
	first := capture(t, s, p, "")
	if first.Files != 307 || first.Read != 300 || first.Added != 307 {
		t.Errorf("first: %+v", first)
	}
	before, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reads, lists := tree.reads.Load(), tree.lists.Load()
	second := capture(t, s, p, first.Root)
	if second.Root != first.Root || second.Files != 307 || second.Bytes != first.Bytes || second.Added+second.Updated+second.Removed != 0 {
		t.Errorf("second: %+v, first %+v", second, first)
	}
	after, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after != before || tree.reads.Load() != reads || tree.lists.Load() != lists+1 {
		t.Errorf("a capture without a change read %d files, listed %d times, and left %+v of %+v",
			tree.reads.Load()-reads, tree.lists.Load()-lists, after, before)
	}
}

// One changed file of many reads one and costs little.
func TestCaptureOfOneChange(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for i := range 10_000 {
		write(t, p.root, fmt.Sprintf("dir%d/sub%d/file%d.go", i%20, i%100, i), fmt.Sprint("package p", i))
	}
	old()
	first := capture(t, s, p, "")
	before, _ := s.Usage(t.Context())
	write(t, p.root, "dir3/sub3/file103.go", "changed")
	old()
	second := capture(t, s, p, first.Root)
	after, _ := s.Usage(t.Context())
	if second.Read != 1 || second.Updated != 1 || second.Added+second.Removed != 0 {
		t.Errorf("second: %+v", second)
	}
	if grown := after.Stored - before.Stored; grown <= 0 || grown > 16<<10 {
		t.Errorf("one change cost %d bytes", grown)
	}
}

// A change of the same size in the same tick as the capture is found.
func TestRacyChange(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	last := store.ID("")
	for i := range 60 {
		write(t, p.root, "f", fmt.Sprintf("%03d", i))
		got := capture(t, s, p, last)
		if got.Root == last {
			t.Fatalf("change %d was not found", i)
		}
		last = got.Root
	}
}

// Damage of any byte of the index makes it none; it never makes a wrong snapshot.
func TestDamagedIndex(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	write(t, p.root, "a/b", "one")
	write(t, p.root, "c", "two")
	old()
	want := capture(t, s, p, "").Root
	sound, err := os.ReadFile(p.index)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sound {
		damaged := slices.Clone(sound)
		damaged[i] ^= 0x10
		if i%3 == 0 {
			damaged = damaged[:i]
		}
		if err := os.WriteFile(p.index, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := capture(t, s, p, ""); got.Root != want || got.Read != 2 {
			t.Fatalf("byte %d: %+v", i, got)
		}
	}
}

// What was swept from the store is read again, whatever the index says.
func TestSweptContentIsReadAgain(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	write(t, p.root, "small", "one")
	write(t, p.root, "large", strings.Repeat("0123456789abcdef", 300_000))
	old()
	want := capture(t, s, p, "").Root
	for _, keep := range []func(store.ID) bool{
		func(store.ID) bool { return false },
		func(id store.ID) bool { return id == want },
		func(id store.ID) bool { return id == store.Sum([]byte("one")) },
	} {
		if _, _, err := s.Sweep(t.Context(), keep, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := capture(t, s, p, ""); got.Root != want {
			t.Fatalf("another snapshot: %+v", got)
		}
		fresh := newPlace(t)
		if _, err := snapshot.Restore(t.Context(), fresh.tree, s, want, snapshot.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		sameTree(t, "restored", fresh.root, describe(t, p.root))
		got := capture(t, s, p, "")
		if got.Read != 0 {
			t.Errorf("read %d files again without a cause", got.Read)
		}
	}
}

func TestWhatCantBeCaptured(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for _, name := range []string{"ok", "denied", "grows", "vanishes", "rewritten", "dir/inner"} {
		write(t, p.root, name, "content of "+name)
	}
	if err := syscall.Mkfifo(filepath.Join(p.root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mknod(filepath.Join(p.root, "socket"), syscall.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	old()
	tree := &watched{
		Tree: p.tree,
		fail: func(name string) error {
			if name == "denied" || name == "vanishes" {
				return errors.New("permission denied")
			}
			return nil
		},
		before: func(name string) {
			switch name {
			case "grows":
				f, err := os.OpenFile(filepath.Join(p.root, name), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = f.WriteString(" and more")
				_ = f.Close()
			case "rewritten":
				write(t, p.root, name, "CONTENT OF "+name) // as long as before
			case "vanishes":
				_ = os.Remove(filepath.Join(p.root, name))
			}
		},
		unread: []snapshot.Unread{{Name: "dir", Why: errors.New("permission denied")}},
	}
	got, err := snapshot.Capture(t.Context(), tree, s, snapshot.CaptureOptions{Index: p.index})
	if err != nil {
		t.Fatal(err)
	}
	want := "denied: may not be read; dir: may not be read; grows: changed while it was read; pipe: is a pipe; " +
		"rewritten: changed while it was read; socket: is a socket"
	if skips(got) != want {
		t.Errorf("skipped %s\nwant    %s", skips(got), want)
	}
	m, err := snapshot.Load(t.Context(), s, got.Root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for f, err := range m.Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Path)
	}
	if fmt.Sprint(names) != "[dir dir/inner grows ok rewritten]" || got.Files != 5 {
		t.Errorf("captured %v, %d", names, got.Files)
	}
	// What is kept of one that changed is what was read, at most as it was then.
	f, _, err := m.Lookup(t.Context(), "grows")
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Open(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !strings.HasPrefix("content of grows and more", string(text)) || len(text) < len("content of grows") || int64(len(text)) != f.Size {
		t.Errorf("kept %q, %v", text, err)
	}
	// The next time it is quiet, and everything that was in doubt is read again.
	tree.before, tree.fail, tree.unread = nil, nil, nil
	got, err = snapshot.Capture(t.Context(), tree, s, snapshot.CaptureOptions{Index: p.index})
	if err != nil {
		t.Fatal(err)
	}
	if skips(got) != "pipe: is a pipe; socket: is a socket" || got.Files != 6 {
		t.Errorf("the second time skipped %s, %+v", skips(got), got)
	}
	if whole := capture(t, s, &place{tree: p.tree}, ""); whole.Root != got.Root {
		t.Error("the snapshot with an index differs from the one without")
	}
}

func TestExclude(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for _, name := range []string{"a/x", "node_modules/y/z", "b/node_modules/q", "keep"} {
		write(t, p.root, name, name)
	}
	exclude := []string{"node_modules", "b/node_modules", "node_modules/y", "not/there"}
	o := snapshot.CaptureOptions{Index: p.index, Exclude: exclude}
	got, err := snapshot.Capture(t.Context(), p.tree, s, o)
	if err != nil || got.Files != 4 || fmt.Sprint(got.Excluded) != "[b/node_modules node_modules not/there]" {
		t.Errorf("%+v, %v", got, err)
	}
	// Without the exclusion, the index of before does no harm.
	all := capture(t, s, p, got.Root)
	if all.Files != 9 || all.Added != 5 {
		t.Errorf("without the exclusion: %+v", all)
	}
	for _, bad := range []string{"", "/a", "../a", "a/", "a\x00"} {
		if _, err := snapshot.Capture(t.Context(), p.tree, s, snapshot.CaptureOptions{Exclude: []string{bad}}); err == nil {
			t.Errorf("%q can be excluded", bad)
		}
	}
}

func TestLimits(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for i := range 30 {
		write(t, p.root, fmt.Sprintf("deep/er/big/f%d", i), strings.Repeat("x", 10_000))
		write(t, p.root, fmt.Sprintf("small/f%d", i), "x")
	}
	f, err := os.Create(filepath.Join(p.root, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(8 << 20); err != nil { // holds nothing
		t.Fatal(err)
	}
	_ = f.Close()
	limited := func(l snapshot.Limits) snapshot.Captured {
		got, err := snapshot.Capture(t.Context(), p.tree, s, snapshot.CaptureOptions{Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, l := range []snapshot.Limits{{MaxBytes: 250_000}, {MaxFiles: 64}} {
		got := limited(l)
		if got.TooLarge == nil || got.Root != "" {
			t.Fatalf("%+v: %+v", l, got)
		}
		if a := got.TooLarge; a.Files != 65 || a.Bytes != 300_030 || len(a.Largest) != 2 ||
			a.Largest[0].Path != "deep/er/big" || a.Largest[0].Files != 30 || a.Largest[0].Bytes != 300_000 {
			t.Errorf("%+v", a)
		}
	}
	for _, l := range []snapshot.Limits{{MaxBytes: 300_030, MaxFiles: 65}, {MaxBytes: 1, MaxFiles: 1, Whole: true}, {}} {
		if got := limited(l); got.TooLarge != nil || got.Files != 65 {
			t.Errorf("%+v: %+v", l, got)
		}
	}
}

// A change in the middle of a large file costs about a part of it.
func TestLargeFilesShareParts(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	big := make([]byte, 24<<20)
	state := uint32(1)
	for i := range big {
		state = state*1664525 + 1013904223
		big[i] = byte(state >> 24)
	}
	write(t, p.root, "big", string(big))
	first := capture(t, s, p, "")
	before, _ := s.Usage(t.Context())
	write(t, p.root, "big", string(big[:10<<20])+"inserted"+string(big[10<<20:]))
	second := capture(t, s, p, first.Root)
	after, _ := s.Usage(t.Context())
	if grown := after.Stored - before.Stored; grown > 5<<20 {
		t.Errorf("an insertion cost %d bytes", grown)
	}
	for _, c := range []snapshot.Captured{first, second} {
		to := newPlace(t)
		if _, err := snapshot.Restore(t.Context(), to.tree, s, c.Root, snapshot.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancelledCapture(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for i := range 2000 {
		write(t, p.root, fmt.Sprintf("f%d", i), fmt.Sprint("content ", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	tree := &watched{Tree: p.tree, before: func(string) {
		if n++; n == 700 {
			cancel()
		}
	}}
	if _, err := snapshot.Capture(ctx, tree, s, snapshot.CaptureOptions{Index: p.index}); !errors.Is(err, context.Canceled) {
		t.Fatalf("capture: %v", err)
	}
	// Nobody uses the store any more.
	if _, _, err := s.Sweep(t.Context(), func(store.ID) bool { return false }, time.Now().Add(time.Hour)); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if got := capture(t, s, p, ""); got.Files != 2000 {
		t.Errorf("afterwards: %+v", got)
	}
}
