package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t testing.TB, dir string) *SQLite {
	t.Helper()
	s, notices, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) != 0 {
		t.Fatalf("notices: %+v", notices)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// raw opens the file beside the store, to look at it or to damage it.
func raw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec1(t *testing.T, db *sql.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.Exec(text, args...); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c%20#d", "store")
	s := open(t, dir)
	if err := s.Set(t.Context(), Record{Key: "k", Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		"": 0o700, databaseName: 0o600, databaseName + "-wal": 0o600, databaseName + "-shm": 0o600, lockName: 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestSettingsOfTheFile(t *testing.T) {
	s := open(t, t.TempDir())
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000"} {
		var got string
		if err := s.writer.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", pragma, got, err, want)
		}
	}
	if _, err := s.readDB.Exec("DELETE FROM records"); err == nil {
		t.Error("a reader can write")
	}
}

func TestDamagedObjectIsNamed(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	for _, content := range [][]byte{[]byte("small"), []byte(strings.Repeat("large ", 1000))} {
		id, err := s.Put(ctx, content)
		if err != nil {
			t.Fatal(err)
		}
		exec1(t, raw(t, dir), "UPDATE contents SET data = substr(data, 1, length(data) - 1) || x'00' WHERE row = (SELECT row FROM objects WHERE id = ?)", id.rowID())
		_, err = s.Get(ctx, id)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), string(id)) {
			t.Errorf("get of a damaged object: %v", err)
		}
	}
}

func TestNewerDatabaseIsSetAside(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	if err := s.Set(ctx, Record{Key: "k", Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := raw(t, dir)
	exec1(t, db, "PRAGMA user_version = 99")
	_ = db.Close()

	s, notices, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if len(notices) != 1 || notices[0].Kind != NoticeNewer || !strings.Contains(notices[0].Text(), notices[0].Kept) {
		t.Fatalf("notices: %+v", notices)
	}
	if _, err := s.Lookup(ctx, "k"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the fresh database is not empty: %v", err)
	}
	if err := s.Set(ctx, Record{Key: "new", Value: []byte("v")}); err != nil {
		t.Error(err)
	}
	kept, err := sql.Open("sqlite", notices[0].Kept)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }()
	var n int
	if err := kept.QueryRow("SELECT count(*) FROM records").Scan(&n); err != nil || n != 1 {
		t.Errorf("the kept database holds %d records, %v", n, err)
	}
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	fill := func(t *testing.T, dir string) {
		s := open(t, dir)
		for i := range 300 {
			if err := s.Set(t.Context(), Record{Key: fmt.Sprintf("k%03d", i), Value: bytes.Repeat([]byte{byte(i), 7}, 90)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(path string) error{
		"not a database": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("garbage "), 2000), 0o600) },
		"short":          func(path string) error { return os.WriteFile(path, []byte("SQLite"), 0o600) },
		"truncated":      func(path string) error { return os.Truncate(path, 3*4096) },
		"pages overwritten": func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xaa}, 8*4096), 4096); err != nil {
				return err
			}
			return f.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir)
			path := filepath.Join(dir, databaseName)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			// What is set aside is exactly what was there.
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, notices, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(notices) != 1 || notices[0].Kind != NoticeDamaged {
				t.Fatalf("notices: %+v", notices)
			}
			if got, err := os.ReadFile(notices[0].Kept); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the damaged file was not kept as it was: %v", err)
			}
			if err := s.Set(t.Context(), Record{Key: "k", Value: []byte("v")}); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if r, err := open(t, dir).Lookup(t.Context(), "k"); err != nil || string(r.Value) != "v" {
				t.Errorf("after reopening: %+v, %v", r, err)
			}
		})
	}
}

func TestForeignDatabaseIsSetAside(t *testing.T) {
	dir := t.TempDir()
	db := raw(t, dir)
	exec1(t, db, "CREATE TABLE theirs (x)")
	_ = db.Close()
	s, notices, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if len(notices) != 1 || notices[0].Kind != NoticeDamaged {
		t.Fatalf("notices: %+v", notices)
	}
}

// What another process has open is never moved away under it.
func TestUsedDatabaseIsNotSetAside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	exec1(t, raw(t, dir), "PRAGMA user_version = 99")
	if _, _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Fatalf("open: %v", err)
	}
	if err := s.Set(t.Context(), Record{Key: "k", Value: []byte("v")}); err != nil {
		t.Errorf("the first user was disturbed: %v", err)
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, "*.broken-*")); len(entries) != 0 {
		t.Errorf("set aside: %q", entries)
	}
}

// Damage met in a large file, which an opening does not read as a whole, has
// the next opening look at all of it.
func TestMetDamageIsLookedFor(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	content := make([]byte, 1<<20)
	var ids []ID
	for i := range 24 {
		for j := range content {
			content[j] = byte(j*j>>3 ^ j*i ^ i<<2 ^ j>>7)
		}
		id, err := s.Put(ctx, append([]byte{byte(i)}, bytes.Repeat(content[:4096+i], 1)...))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	// Incompressible bulk, so that the file passes fullCheckBytes.
	for i := range 20 {
		if _, err := s.Put(ctx, noise(1<<20, byte(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := raw(t, dir)
	var page int64
	if err := db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'contents'").Scan(&page); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	f, err := os.OpenFile(filepath.Join(dir, databaseName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xaa}, 4096), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()

	s, notices, err := Open(ctx, dir)
	if err != nil || len(notices) != 0 {
		t.Fatalf("the opening read the whole large file: %+v, %v", notices, err)
	}
	if _, err := s.Get(ctx, ids[0]); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), string(ids[0])) {
		t.Fatalf("get: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, notices, err = Open(ctx, dir)
	if err != nil || len(notices) != 1 {
		t.Fatalf("the met damage was not looked for: %+v, %v", notices, err)
	}
	_ = s.Close()
	open(t, dir) // and is not any more
}

// noise returns n bytes that do not compress.
func noise(n int, seed byte) []byte {
	out := make([]byte, 0, n+32)
	block := []byte{seed}
	for len(out) < n {
		raw := Sum(block).rowID()
		out = append(out, raw...)
		block = raw
	}
	return out[:n]
}

func TestFullDisk(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	if err := s.Set(ctx, Record{Key: "k", Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	// SQLite reports the limit of pages as it does a full disk.
	limit := func(pages int) {
		if _, err := s.writer.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(20)
	if _, err := s.Put(ctx, noise(200_000, 1)); !errors.Is(err, ErrNoSpace) {
		t.Errorf("put: %v, want ErrNoSpace", err)
	}
	if err := s.Set(ctx, Record{Key: "big", Value: noise(200_000, 2)}); !errors.Is(err, ErrNoSpace) {
		t.Errorf("set: %v, want ErrNoSpace", err)
	}
	if r, err := s.Lookup(ctx, "k"); err != nil || string(r.Value) != "v" {
		t.Errorf("reading while full: %+v, %v", r, err)
	}
	// A write that fits is not refused with one that does not.
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			err := s.Set(ctx, Record{Key: fmt.Sprint("small", i), Value: []byte("v")})
			if err != nil {
				t.Errorf("small set beside large ones: %v", err)
			}
		})
		wg.Go(func() {
			if err := s.Set(ctx, Record{Key: fmt.Sprint("large", i), Value: noise(200_000, 3)}); !errors.Is(err, ErrNoSpace) {
				t.Errorf("large set: %v", err)
			}
		})
	}
	wg.Wait()
	limit(1 << 30)
	if _, err := s.Put(ctx, noise(200_000, 1)); err != nil {
		t.Errorf("put after room was made: %v", err)
	}
}

func TestUnwritableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), filepath.Join(file, "store")); err == nil {
		t.Fatal("a store opens inside a file")
	}
}

// TestKilledWriter kills a process that writes: what it was told to be durable
// is there, and the file is sound.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
		cmd.Env = append(os.Environ(), "STORE_WRITER="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1<<16)
		told := ""
		for deadline := time.Now().Add(20 * time.Second); strings.Count(told, "\n") < 20+7*round; {
			n, err := out.Read(buf)
			told += string(buf[:n])
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("the writer ended early: %v\n%s", err, told)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s := open(t, dir)
		for line := range strings.SplitSeq(strings.TrimSpace(told[:strings.LastIndex(told, "\n")]), "\n") {
			if r, err := s.Lookup(t.Context(), line); err != nil || string(r.Value) != line {
				t.Errorf("lost %q: %v", line, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWriterProcess(t *testing.T) {
	dir := os.Getenv("STORE_WRITER")
	if dir == "" {
		return // the child's part of TestKilledWriter
	}
	s, _, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		key := fmt.Sprintf("%d.%d", os.Getpid(), i)
		if err := s.Set(context.WithoutCancel(t.Context()), Record{Key: key, Value: []byte(key)}); err != nil {
			t.Fatal(err)
		}
		fmt.Println(key)
	}
}
