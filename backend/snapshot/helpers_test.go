package snapshot_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
)

// bulkTree is a sandbox as a snapshot sees it.
type bulkTree struct{ sandbox.Bulk }

func (t bulkTree) List(ctx context.Context, skip []string, each func(snapshot.Entry) error) (snapshot.Listing, error) {
	l, err := t.Bulk.List(ctx, skip, func(e sandbox.Entry) error { return each(snapshot.Entry(e)) })
	out := snapshot.Listing{Begun: l.Begun, Granularity: l.Granularity}
	for _, u := range l.Unread {
		out.Unread = append(out.Unread, snapshot.Unread(u))
	}
	return out, err
}

func (t bulkTree) ReadFiles(ctx context.Context, names []string, each func(snapshot.FileRead) error) error {
	return t.Bulk.ReadFiles(ctx, names, func(f sandbox.FileRead) error { return each(snapshot.FileRead(f)) })
}

func (t bulkTree) Apply(ctx context.Context, remove []string, makes iter.Seq2[snapshot.Make, error]) error {
	return t.Bulk.Apply(ctx, remove, func(yield func(sandbox.Make, error) bool) {
		for m, err := range makes {
			if !yield(sandbox.Make(m), err) {
				return
			}
		}
	})
}

// place is a workspace with its index.
type place struct {
	root  string
	index string
	tree  snapshot.Tree
}

func newStore(t testing.TB) *store.SQLite {
	t.Helper()
	return mustOpen(t, filepath.Join(t.TempDir(), "store"))
}

func mustOpen(t testing.TB, dir string) *store.SQLite {
	t.Helper()
	s, _, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newPlace(t testing.TB) *place {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "w")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return placeAt(t, root, filepath.Join(dir, "index"))
}

func placeAt(t testing.TB, root, index string) *place {
	t.Helper()
	p := local.New(local.Config{StateDir: filepath.Join(t.TempDir(), "state")})
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sb.Close(context.WithoutCancel(t.Context()))
		_ = p.Close()
	})
	return &place{root: sb.Root(), index: index, tree: bulkTree{sb.(sandbox.Bulk)}}
}

func capture(t testing.TB, s *store.SQLite, p *place, previous store.ID) snapshot.Captured {
	t.Helper()
	got, err := snapshot.Capture(t.Context(), p.tree, s, snapshot.CaptureOptions{Index: p.index, Previous: previous})
	if err != nil {
		t.Fatal(err)
	}
	if got.TooLarge != nil {
		t.Fatalf("too large: %+v", got.TooLarge)
	}
	return got
}

// describe tells all of a tree that a snapshot keeps.
func describe(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			h := sha256.New()
			if _, err := io.Copy(h, f); err != nil {
				return err
			}
			_ = f.Close()
			text += fmt.Sprintf(" %d %d %x", info.Size(), info.ModTime().UnixNano(), h.Sum(nil))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		}
		out[strings.TrimPrefix(path, root+"/")] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t testing.TB, what, root string, want map[string]string) {
	t.Helper()
	got := describe(t, root)
	var diffs []string
	for name, text := range want {
		if got[name] != text {
			diffs = append(diffs, fmt.Sprintf("%q is %q, want %q", name, got[name], text))
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok {
			diffs = append(diffs, fmt.Sprintf("%q is there: %q", name, text))
		}
	}
	sort.Strings(diffs)
	if len(diffs) > 0 {
		t.Fatalf("%s: %d entries differ:\n%s", what, len(diffs), strings.Join(diffs[:min(len(diffs), 10)], "\n"))
	}
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func inodeOf(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
