package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mixed are contents that go into packs when they are put together.
func mixed(n int, name string) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = append(noise(1000+i%7*400, byte(i)), fmt.Sprintf("%s %d", name, i)...)
	}
	return out
}

const crashKept = 60

// TestKilledSweep kills a process that fills and sweeps a store, again and again:
// what was to be kept is there, everything that there is is sound, and the next
// sweep goes on.
func TestKilledSweep(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	kept := mixed(crashKept, "kept")
	for round := range 20 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSweepProcess$")
		cmd.Env = append(os.Environ(), "STORE_SWEEPER="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatalf("round %d: the sweeper did not begin: %v", round, err)
		}
		time.Sleep(time.Duration(r.IntN(80)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s := open(t, dir)
		if err := s.Verify(ctx, func(id ID, err error) { t.Errorf("round %d: damaged: %s: %v", round, id, err) }); err != nil {
			t.Fatal(err)
		}
		for i, content := range kept {
			if got, err := s.Get(ctx, Sum(content)); err != nil || !bytes.Equal(got, content) {
				t.Fatalf("round %d: kept object %d: %v", round, i, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	if _, _, err := s.Sweep(ctx, keepOf(kept), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	u, err := s.Usage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if u.Objects != crashKept || u.File > 2*u.Stored+1<<20 {
		t.Errorf("after a last sweep: %+v", u)
	}
}

func keepOf(contents [][]byte) func(ID) bool {
	ids := map[ID]bool{}
	for _, content := range contents {
		ids[Sum(content)] = true
	}
	return func(id ID) bool { return ids[id] }
}

func TestSweepProcess(t *testing.T) {
	dir := os.Getenv("STORE_SWEEPER")
	if dir == "" {
		return // the child's part of TestKilledSweep
	}
	ctx := context.WithoutCancel(t.Context())
	s, _, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := mixed(crashKept, "kept")
	if _, err := s.PutMany(ctx, kept); err != nil {
		t.Fatal(err)
	}
	fmt.Println("begun")
	for i := 0; ; i++ {
		// In both forms, and the kept ones among the others.
		all := append(mixed(200, fmt.Sprint(os.Getpid(), i)), kept...)
		if _, err := s.PutMany(ctx, all); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(ctx, all[0][:500]); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Sweep(ctx, keepOf(kept), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

// What is put while a sweep runs is there afterwards, also if it was there before
// and about to be swept.
func TestPutsWhileSweeping(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	all := mixed(400, "shared")
	for round := range 4 {
		if _, err := s.PutMany(ctx, all); err != nil {
			t.Fatal(err)
		}
		// A long time goes by.
		if _, err := s.writer.conn.ExecContext(ctx, "UPDATE objects SET used = 1000"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := w; i < len(all); i += 8 { // half of them
					if w%2 == 0 {
						if _, err := s.Put(ctx, all[i]); err != nil {
							t.Errorf("put: %v", err)
						}
					} else if _, err := s.PutMany(ctx, all[i:i+1]); err != nil {
						t.Errorf("put many: %v", err)
					}
				}
			})
		}
		n, _, err := s.Sweep(ctx, func(ID) bool { return false }, time.Now().Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		gone := 0
		for i, content := range all {
			got, err := s.Get(ctx, Sum(content))
			switch {
			case i%8 < 4 && (err != nil || !bytes.Equal(got, content)):
				t.Fatalf("round %d: object %d was put and is gone: %v", round, i, err)
			case i%8 >= 4 && errors.Is(err, ErrNotFound):
				gone++
			}
		}
		if gone != len(all)/2 {
			t.Errorf("round %d: %d were swept (%d told), want the half that nobody put", round, gone, n)
		}
	}
}

// A reader is not disturbed when what it reads is moved.
func TestReadsWhileMoving(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	kept := mixed(50, "kept")
	if _, err := s.PutMany(ctx, kept); err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		over atomic.Bool
	)
	for w := range 3 {
		wg.Go(func() {
			for i := w; !over.Load(); i++ {
				content := kept[i%len(kept)]
				if got, err := s.Get(ctx, Sum(content)); err != nil || !bytes.Equal(got, content) {
					t.Errorf("read while moving: %v", err)
					return
				}
			}
		})
	}
	packs := map[int64]bool{}
	for i := range 8 {
		if _, err := s.PutMany(ctx, mixed(150, fmt.Sprint("junk", i))); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Sweep(ctx, keepOf(kept), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		all, err := s.listPacks(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, num := range all {
			packs[num] = true
		}
	}
	over.Store(true)
	wg.Wait()
	if len(packs) < 3 {
		t.Errorf("only the packs %v were there: nothing was moved", packs)
	}
}

// A damaged object of a pack is named, and keeps nothing else from being read,
// swept or moved.
func TestDamageInPack(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	all := mixed(100, "x")
	ids, err := s.PutMany(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, packsPrefix+"*", "*.pack"))
	if err != nil || len(names) != 1 {
		t.Fatalf("packs %q, %v", names, err)
	}
	f, err := os.OpenFile(names[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var at int64
	if err := s.readDB.QueryRowContext(ctx, "SELECT place FROM objects WHERE id = ?", ids[10].rowID()).Scan(&at); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("damage"), at+500); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	damaged := func(what string) {
		t.Helper()
		var found []ID
		if err := s.Verify(ctx, func(id ID, err error) {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", what, err)
			}
			found = append(found, id)
		}); err != nil || len(found) != 1 || found[0] != ids[10] {
			t.Fatalf("%s: damaged %v, %v", what, found, err)
		}
	}
	damaged("at first")
	// Most of the pack goes, the rest is moved.
	if n, _, err := s.Sweep(ctx, keepOf(all[:30]), time.Now().Add(time.Hour)); err != nil || n != 70 {
		t.Fatalf("sweep: %d, %v", n, err)
	}
	damaged("after a sweep")
	// The whole pack is lost.
	names, _ = filepath.Glob(filepath.Join(dir, packsPrefix+"*", "*.pack"))
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(ctx, ids[0]); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotFound) {
		t.Errorf("get of a lost pack: %v", err)
	}
	if n, _, err := s.Sweep(ctx, keepOf(all[:20]), time.Now().Add(time.Hour)); err != nil || n != 10 {
		t.Errorf("sweep beside a lost pack: %d, %v", n, err)
	}
	// What is whole can be put again where damaged objects were removed.
	if err := s.Remove(ctx, ids[:20]...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutMany(ctx, all); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(ctx, func(id ID, err error) { t.Errorf("after putting again: %s: %v", id, err) }); err != nil {
		t.Fatal(err)
	}
}

// A use is noted once a minute, which keeps sweeps away.
func TestUsesAreNoted(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	now := time.Unix(1_800_000_000, 0)
	s.now = func() time.Time { return now }
	id, err := s.Put(ctx, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ wait, noted time.Duration }{{30 * time.Second, 0}, {time.Minute, 90 * time.Second}, {0, 90 * time.Second}} {
		now = now.Add(step.wait)
		if _, err := s.Put(ctx, []byte("x")); err != nil {
			t.Fatal(err)
		}
		used, err := s.uses(ctx, []ID{id})
		if err != nil || used[0] != 1_800_000_000+int64(step.noted/time.Second) {
			t.Errorf("used at %d, %v", used[0]-1_800_000_000, err)
		}
	}
}
