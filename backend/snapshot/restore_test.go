package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
)

func restore(t *testing.T, s *store.SQLite, p *place, root store.ID, o snapshot.RestoreOptions) snapshot.Restored {
	t.Helper()
	got, err := snapshot.Restore(t.Context(), p.tree, s, root, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func skippedIn(r snapshot.Restored) string {
	var out []string
	for _, s := range r.Skipped {
		out = append(out, s.Path+": "+s.Why)
	}
	return strings.Join(out, "; ")
}

func TestRestoreTouchesWhatDiffers(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for _, name := range []string{"same", "changed", "d/removed", "e/same"} {
		write(t, p.root, name, name)
	}
	want := capture(t, s, p, "")
	tree := describe(t, p.root)
	inode := func(name string) uint64 {
		info, err := os.Stat(filepath.Join(p.root, name))
		if err != nil {
			t.Fatal(err)
		}
		return inodeOf(info)
	}
	same := inode("same")
	write(t, p.root, "changed", "something else")
	write(t, p.root, "extra/deep/file", "x")
	if err := os.RemoveAll(filepath.Join(p.root, "d")); err != nil {
		t.Fatal(err)
	}
	now := capture(t, s, p, "")
	got := restore(t, s, p, want.Root, snapshot.RestoreOptions{Current: now.Root, Index: p.index})
	sameTree(t, "restored", p.root, tree)
	if got.Written != 3 || got.Removed != 1 || inode("same") != same {
		t.Errorf("%+v", got)
	}
	if again := restore(t, s, p, want.Root, snapshot.RestoreOptions{Current: want.Root}); again.Written+again.Removed != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestMerge(t *testing.T) {
	s, from, to := newStore(t), newPlace(t), newPlace(t)
	write(t, from.root, "both", "theirs")
	write(t, from.root, "new/file", "new")
	write(t, to.root, "both", "ours")
	write(t, to.root, "own/file", "own")
	write(t, to.root, "new", "a file where a folder comes")
	want, now := capture(t, s, from, ""), capture(t, s, to, "")
	got := restore(t, s, to, want.Root, snapshot.RestoreOptions{Current: now.Root, Mode: snapshot.Merge, Index: to.index})
	tree := describe(t, from.root)
	for name, text := range describe(t, to.root) {
		if strings.HasPrefix(name, "own") {
			tree[name] = text
		}
	}
	sameTree(t, "merged", to.root, tree)
	if len(tree) != 5 || got.Removed != 0 {
		t.Errorf("%+v, %d entries", got, len(tree))
	}
	if all := capture(t, s, to, ""); all.Files != 5 {
		t.Errorf("captured after a merge: %+v", all)
	}
}

// What a snapshot does not hold is not destroyed by going back to it.
func TestWhatWasNotSavedIsKept(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	write(t, p.root, "a", "1")
	first := capture(t, s, p, "")
	write(t, p.root, "a", "2")
	write(t, p.root, "cache/x", "excluded")
	write(t, p.root, "made/file", "goes")
	l, err := net.Listen("unix", filepath.Join(p.root, "made", "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	now, err := snapshot.Capture(t.Context(), p.tree, s, snapshot.CaptureOptions{Exclude: []string{"cache"}})
	if err != nil {
		t.Fatal(err)
	}
	got := restore(t, s, p, first.Root, snapshot.RestoreOptions{Current: now.Root})
	names := fmt.Sprint(sortedKeys(describe(t, p.root)))
	if names != "[a cache cache/x made made/socket]" {
		t.Errorf("there is %s", names)
	}
	if got.Removed != 1 || got.Written != 1 {
		t.Errorf("%+v", got)
	}
	// Where the snapshot has something else in its place, it is told.
	other := newPlace(t)
	write(t, other.root, "made", "a file")
	write(t, other.root, "cache/y", "y")
	theirs := capture(t, s, other, "")
	now, err = snapshot.Capture(t.Context(), p.tree, s, snapshot.CaptureOptions{Exclude: []string{"cache"}})
	if err != nil {
		t.Fatal(err)
	}
	got = restore(t, s, p, theirs.Root, snapshot.RestoreOptions{Current: now.Root})
	const why = ": could not be saved before, so it was left as it is"
	if skippedIn(got) != "cache"+why+"; cache/y"+why+"; made"+why {
		t.Errorf("skipped %s", skippedIn(got))
	}
	if _, err := os.Lstat(filepath.Join(p.root, "made", "socket")); err != nil {
		t.Error(err)
	}
}

func TestOutsideLinks(t *testing.T) {
	s, from := newStore(t), newPlace(t)
	for name, target := range map[string]string{"abs": "/usr/bin/python3", "up": "../x", "in": "./a", "dangling": "none"} {
		if err := os.Symlink(target, filepath.Join(from.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, from.root, "a", "a")
	want := capture(t, s, from, "")
	with, without := newPlace(t), newPlace(t)
	restore(t, s, with, want.Root, snapshot.RestoreOptions{OutsideLinks: true})
	sameTree(t, "with links", with.root, describe(t, from.root))
	got := restore(t, s, without, want.Root, snapshot.RestoreOptions{Index: without.index})
	if skippedIn(got) != "abs: link that leads outside; up: link that leads outside" {
		t.Errorf("skipped %s", skippedIn(got))
	}
	if names := fmt.Sprint(sortedKeys(describe(t, without.root))); names != "[a dangling in]" {
		t.Errorf("there is %s", names)
	}
	if all := capture(t, s, without, ""); all.Files != 3 || all.Root == want.Root {
		t.Errorf("the index takes the links as there: %+v", all)
	}
}

// lying is a source whose files are partly others.
type lying struct {
	root   string
	opened *atomic.Int64
}

func (l lying) Open(_ context.Context, name string) (io.ReadCloser, error) {
	l.opened.Add(1)
	return os.Open(filepath.Join(l.root, name))
}

func TestSource(t *testing.T) {
	s, from, copied := newStore(t), newPlace(t), newPlace(t)
	large := strings.Repeat("0123456789abcdef", 200_000)
	for name, text := range map[string]string{"same": "x", "other": "right", "short": "right", "gone": "g", "large": large, "spoiled": large + "1"} {
		write(t, from.root, name, text)
		write(t, copied.root, name, text)
	}
	want := capture(t, s, from, "")
	write(t, copied.root, "other", "wrong")
	write(t, copied.root, "short", "r")
	write(t, copied.root, "spoiled", large+"2")
	if err := os.Remove(filepath.Join(copied.root, "gone")); err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int64
	to := newPlace(t)
	restore(t, s, to, want.Root, snapshot.RestoreOptions{Source: lying{copied.root, &opened}, Trust: true})
	sameTree(t, "from a source", to.root, describe(t, from.root))
	if opened.Load() < 6 {
		t.Errorf("the source was asked %d times", opened.Load())
	}
}

// meddled is a tree that something else changes.
type meddled struct {
	snapshot.Tree
	after func()
}

func (m meddled) Apply(ctx context.Context, remove []string, makes iter.Seq2[snapshot.Make, error]) error {
	err := m.Tree.Apply(ctx, remove, makes)
	m.after()
	return err
}

func TestVerifyFindsWhatDiffers(t *testing.T) {
	s, from := newStore(t), newPlace(t)
	write(t, from.root, "d/file", "content")
	write(t, from.root, "other", "content")
	want := capture(t, s, from, "")
	for name, change := range map[string]func(root string) error{
		"content": func(root string) error {
			path := filepath.Join(root, "d/file")
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("CONTENT"), 0o644); err != nil {
				return err
			}
			return os.Chtimes(path, time.Time{}, info.ModTime())
		},
		"size":    func(root string) error { return os.WriteFile(filepath.Join(root, "d/file"), []byte("c"), 0o644) },
		"mode":    func(root string) error { return os.Chmod(filepath.Join(root, "d/file"), 0o600) },
		"missing": func(root string) error { return os.Remove(filepath.Join(root, "d/file")) },
		"extra":   func(root string) error { return os.WriteFile(filepath.Join(root, "e"), nil, 0o644) },
	} {
		to := newPlace(t)
		_, err := snapshot.Restore(t.Context(), meddled{to.tree, func() {
			if err := change(to.root); err != nil {
				t.Fatal(err)
			}
		}}, s, want.Root, snapshot.RestoreOptions{Index: to.index})
		if !errors.Is(err, snapshot.ErrDiffers) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(to.index); err == nil {
			t.Errorf("%s: it is remembered as restored", name)
		}
	}
}

// A part of the store that is lost is named, and the target is told to be
// unfinished.
func TestLostContent(t *testing.T) {
	s, from, to := newStore(t), newPlace(t), newPlace(t)
	write(t, from.root, "a", "content of a")
	want := capture(t, s, from, "")
	if err := s.Remove(t.Context(), store.Sum([]byte("content of a"))); err != nil {
		t.Fatal(err)
	}
	_, err := snapshot.Restore(t.Context(), to.tree, s, want.Root, snapshot.RestoreOptions{})
	if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("restore: %v", err)
	}
}

// cutOff is a tree of which a change is cut off after some entries.
type cutOff struct {
	snapshot.Tree
	cancel func()
}

func (c cutOff) Apply(ctx context.Context, remove []string, makes iter.Seq2[snapshot.Make, error]) error {
	return c.Tree.Apply(ctx, remove, func(yield func(snapshot.Make, error) bool) {
		n := 0
		for m, err := range makes {
			if n++; n == 200 {
				c.cancel()
			}
			if !yield(m, err) {
				return
			}
		}
	})
}

// A restore that is cut off is done again from what there is then.
func TestRestoreCutOff(t *testing.T) {
	s, from, to := newStore(t), newPlace(t), newPlace(t)
	for i := range 600 {
		write(t, from.root, fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprint("content ", i))
	}
	want := capture(t, s, from, "")
	write(t, to.root, "old/file", "old")
	for n := range 3 {
		now := capture(t, s, to, "")
		ctx, cancel := context.WithCancel(t.Context())
		tree := to.tree
		if n < 2 {
			tree = cutOff{to.tree, cancel}
		}
		_, err := snapshot.Restore(ctx, tree, s, want.Root, snapshot.RestoreOptions{Current: now.Root})
		cancel()
		if n < 2 && !errors.Is(err, context.Canceled) || n == 2 && err != nil {
			t.Fatalf("restore %d: %v", n, err)
		}
	}
	sameTree(t, "in the end", to.root, describe(t, from.root))
}

// TestKilledCapture kills a process that captures: what was captured before is as
// it was, and the next capture is right.
func TestKilledCapture(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	for i := range 400 {
		write(t, work, fmt.Sprintf("d%d/f%d", i%9, i), strings.Repeat(fmt.Sprint("content ", i), 200))
	}
	for round := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCaptureProcess$")
		cmd.Env = append(os.Environ(), "SNAPSHOT_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 65)
		if _, err := io.ReadFull(out, line); err != nil {
			t.Fatalf("round %d: the first capture did not end: %v", round, err)
		}
		time.Sleep(time.Duration(10*round) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		s, _, err := store.Open(t.Context(), filepath.Join(dir, "store"))
		if err != nil {
			t.Fatal(err)
		}
		p := placeAt(t, work, filepath.Join(dir, "index"))
		to := newPlace(t)
		restore(t, s, to, store.ID(line[:64]), snapshot.RestoreOptions{})
		with, without := capture(t, s, p, ""), capture(t, s, &place{tree: p.tree}, "")
		if with.Root != without.Root {
			t.Errorf("round %d: the index that was left makes another snapshot", round)
		}
		restore(t, s, newPlace(t), with.Root, snapshot.RestoreOptions{})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCaptureProcess(t *testing.T) {
	dir := os.Getenv("SNAPSHOT_DIR")
	if dir == "" {
		return // the child's part of TestKilledCapture
	}
	s := mustOpen(t, filepath.Join(dir, "store"))
	work := filepath.Join(dir, "work")
	p := placeAt(t, work, filepath.Join(dir, "index"))
	fmt.Println(capture(t, s, p, "").Root)
	for i := 0; ; i++ {
		for j := range 100 {
			write(t, work, fmt.Sprintf("d%d/f%d", j%9, j), strings.Repeat(fmt.Sprint("change ", i, j), 300))
		}
		capture(t, s, p, "")
	}
}

func TestDiffAndLookup(t *testing.T) {
	s, p := newStore(t), newPlace(t)
	for i := range 3000 {
		write(t, p.root, fmt.Sprintf("d%d/f%d", i%30, i), fmt.Sprint(i))
	}
	a := capture(t, s, p, "")
	write(t, p.root, "d7/f7", "changed")
	write(t, p.root, "d7/new", "new")
	if err := os.Remove(filepath.Join(p.root, "d11/f11")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(p.root, "d2/f2"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	b := capture(t, s, p, a.Root)
	if b.Added != 1 || b.Updated != 1 || b.Removed != 1 {
		t.Errorf("%+v", b)
	}
	counted := &counter{SQLite: s}
	var got []string
	for c, err := range snapshot.Diff(t.Context(), counted, a.Root, b.Root) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %v %v %v", c.Path, c.Old != nil, c.New != nil, c.TimeOnly()))
	}
	if want := "[d11/f11 true false false d2/f2 true true true d7/f7 true true false d7/new false true false]"; fmt.Sprint(got) != want {
		t.Errorf("diff %v", got)
	}
	if counted.gets > 14 {
		t.Errorf("a comparison read %d objects", counted.gets)
	}
	m, err := snapshot.Load(t.Context(), s, b.Root)
	if err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{"d7/new": true, "d7": true, "d11/f11": false, "": false, "zzz": false, "A": false, "d7/": false} {
		if f, ok, err := m.Lookup(t.Context(), name); err != nil || ok != there || ok && f.Path != name {
			t.Errorf("look up %q: %+v, %v, %v", name, f, ok, err)
		}
	}
	// Everything that a snapshot reaches is enough to restore it.
	reached := map[store.ID]bool{}
	for o, err := range snapshot.Objects(t.Context(), s, b.Root, func(id store.ID) bool { return false }) {
		if err != nil {
			t.Fatal(err)
		}
		reached[o.ID] = true
	}
	extra := 0
	for o, err := range snapshot.Objects(t.Context(), s, a.Root, func(id store.ID) bool { return reached[id] }) {
		if err != nil {
			t.Fatal(err)
		}
		if !reached[o.ID] {
			extra++
		}
	}
	if extra == 0 || extra > 16 {
		t.Errorf("the other snapshot reaches %d objects that this one does not", extra)
	}
	if _, _, err := s.Sweep(t.Context(), func(id store.ID) bool { return reached[id] }, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	to := newPlace(t)
	restore(t, s, to, b.Root, snapshot.RestoreOptions{})
	sameTree(t, "after a sweep", to.root, describe(t, p.root))
}

// counter counts what is read.
type counter struct {
	*store.SQLite
	gets int
}

func (c *counter) Get(ctx context.Context, id store.ID) ([]byte, error) {
	c.gets++
	return c.SQLite.Get(ctx, id)
}
