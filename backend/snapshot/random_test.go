package snapshot_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
)

// randomTree changes a workspace at random.
type randomTree struct {
	t    testing.TB
	r    *rand.Rand
	root string
}

func (g *randomTree) name() string {
	names := []string{
		"a", "b", "c.txt", "main.go", ".git", ".hidden", "with space", "new\nline", "-dash", "ünï", "bad\xff\xfe", "a.b", "a-b", "A",
		"quote'\"", "back\\slash", "tab\t", "*", "~", "node_modules", strings.Repeat("long", 50),
	}
	return names[g.r.IntN(len(names))]
}

// dir returns a folder that is there, "" for the root.
func (g *randomTree) dir() string {
	dir := ""
	for g.r.IntN(3) > 0 {
		entries, err := os.ReadDir(filepath.Join(g.root, dir))
		g.must(err)
		var inside []string
		for _, e := range entries {
			if e.IsDir() {
				inside = append(inside, e.Name())
			}
		}
		if len(inside) == 0 {
			break
		}
		dir = filepath.Join(dir, inside[g.r.IntN(len(inside))])
	}
	return dir
}

func (g *randomTree) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *randomTree) content() []byte {
	n := 0
	switch g.r.IntN(12) {
	case 0:
	case 1:
		n = 1<<20 + g.r.IntN(3) - 1 // about the size from which files are cut
	case 2:
		n = g.r.IntN(5 << 20)
	default:
		n = g.r.IntN(20_000)
	}
	b := make([]byte, n)
	if g.r.IntN(2) == 0 {
		for i := range b {
			b[i] = byte(g.r.IntN(256))
		}
	} else {
		text := fmt.Sprintf("line %d\n", g.r.IntN(50))
		for i := range b {
			b[i] = text[i%len(text)]
		}
	}
	return b
}

// change makes, replaces, moves or removes something.
func (g *randomTree) change() {
	path := filepath.Join(g.root, g.dir(), g.name())
	replace := func() { g.must(os.RemoveAll(path)) }
	switch g.r.IntN(14) {
	case 0, 1, 2, 3:
		replace()
		g.must(os.WriteFile(path, g.content(), 0o600))
		g.must(os.Chmod(path, []fs.FileMode{0o644, 0o755, 0o600, 0o444, 0, 0o755 | fs.ModeSetuid}[g.r.IntN(6)]))
	case 4, 5, 6:
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			return
		}
		replace()
		g.must(os.Mkdir(path, 0o755))
		if g.r.IntN(4) == 0 {
			g.must(os.Chmod(path, []fs.FileMode{0o700, 0o775, 0o555, 0o755 | fs.ModeSticky, 0o755 | fs.ModeSetgid}[g.r.IntN(5)]))
		}
	case 7:
		replace()
		g.must(os.Symlink([]string{"a", "../..", "/etc/passwd", "missing", "./b/c", "bad\xff"}[g.r.IntN(6)], path))
	case 8:
		replace()
	case 9:
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			g.must(os.Chtimes(path, time.Time{}, time.Unix(g.r.Int64N(2e9), g.r.Int64N(1e9))))
		}
	case 10:
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			g.must(err)
			_, err = f.WriteString("more\n")
			g.must(err)
			g.must(f.Close())
		}
	case 11: // of the same size
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			g.must(err)
			_, err = f.WriteAt([]byte{byte(g.r.IntN(256))}, g.r.Int64N(info.Size()))
			g.must(err)
			g.must(f.Close())
		}
	case 12: // with holes
		replace()
		f, err := os.Create(path)
		g.must(err)
		_, err = f.WriteAt([]byte("end"), int64(g.r.IntN(4<<20)))
		g.must(err)
		g.must(f.Close())
	case 13:
		_ = os.Rename(path, filepath.Join(g.root, g.dir(), g.name())) // where it can be
	}
}

// TestRandomTrees captures a workspace again and again while it changes, and
// restores each state elsewhere and over any other one.
func TestRandomTrees(t *testing.T) {
	for round := range 6 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s, from := newStore(t), newPlace(t)
			g := &randomTree{t: t, r: rand.New(rand.NewPCG(uint64(round), 7)), root: from.root}
			type state struct {
				root store.ID
				tree map[string]string
			}
			var states []state
			last := store.ID("")
			for step := range 5 {
				for range []int{80, 1, 10, 40, 0}[step] {
					g.change()
				}
				got := capture(t, s, from, last)
				if len(got.Skipped) > 0 {
					t.Fatalf("skipped: %+v", got.Skipped)
				}
				last = got.Root
				states = append(states, state{last, describe(t, from.root)})
				if whole := capture(t, s, &place{tree: from.tree}, ""); whole.Root != last {
					t.Fatalf("step %d: the snapshot with an index differs from the one without", step)
				}
			}
			for _, st := range states {
				fresh := newPlace(t)
				if _, err := snapshot.Restore(t.Context(), fresh.tree, s, st.root, snapshot.RestoreOptions{OutsideLinks: true, Index: fresh.index}); err != nil {
					t.Fatal(err)
				}
				sameTree(t, "restored elsewhere", fresh.root, st.tree)
				if again := capture(t, s, fresh, ""); again.Root != st.root {
					t.Fatal("a restored tree is another snapshot")
				}
			}
			for range 8 {
				st := states[g.r.IntN(len(states))]
				for range g.r.IntN(20) {
					g.change()
				}
				now := capture(t, s, from, last)
				if _, err := snapshot.Restore(t.Context(), from.tree, s, st.root, snapshot.RestoreOptions{
					Current: now.Root, OutsideLinks: true, Trust: g.r.IntN(2) == 0, Index: from.index,
				}); err != nil {
					t.Fatal(err)
				}
				sameTree(t, "restored in place", from.root, st.tree)
				if again := capture(t, s, from, now.Root); again.Root != st.root {
					t.Fatal("a tree that was restored in place is another snapshot")
				}
				last = st.root
			}
		})
	}
}
