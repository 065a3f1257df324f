package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// closedEngine is a data folder with a workflow that waits for a signal.
func closedEngine(t *testing.T) (dir string, p paths) {
	t.Helper()
	dir = t.TempDir()
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	testWorker(t, e)
	start(t, e.Client(), "wait", "Wait")
	result(t, start(t, e.Client(), "chain", "Chain", 2), 10*time.Second)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, e.paths
}

// goesOn tells whether the workflow of closedEngine is there and goes on.
func goesOn(t *testing.T, e *Engine) bool {
	t.Helper()
	testWorker(t, e)
	if err := e.Client().SignalWorkflow(t.Context(), "wait", "", "go", "on"); err != nil {
		return false
	}
	return result(t, e.Client().GetWorkflow(t.Context(), "wait", ""), 10*time.Second) == "on"
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"not a database": func([]byte) []byte { return bytes.Repeat([]byte("hello "), 1000) },
		"empty":          func([]byte) []byte { return nil },
		"cut":            func(b []byte) []byte { return b[:len(b)/2] },
		"header gone":    func(b []byte) []byte { return append(make([]byte, 100), b[100:]...) },
		"pages overwritten": func(b []byte) []byte {
			for i := len(b) / 4; i < len(b)/2; i++ {
				b[i] = 0xa5
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, p := closedEngine(t)
			b, err := os.ReadFile(p.database())
			if err != nil {
				t.Fatal(err)
			}
			broken := damage(b)
			// A new file: the server that ran in this process still has the old
			// one open.
			if err := writeFileAtomic(p.database(), broken); err != nil {
				t.Fatal(err)
			}
			e := testEngine(t, dir)
			n := e.Notices()
			if len(n) != 1 || n[0].Kind != NoticeDamaged || !strings.Contains(n[0].Text(), n[0].Kept) {
				t.Fatalf("notices: %v", n)
			}
			if kept, err := os.ReadFile(n[0].Kept); err != nil || !bytes.Equal(kept, broken) {
				t.Errorf("%s does not hold what was found: %v", n[0].Kept, err)
			}
			if got := result(t, runChain(t, e), 10*time.Second); got != "echo" {
				t.Errorf("got %q", got)
			}
			t.Log(n[0].Text())
		})
	}
}

func TestDatabaseOfANewerVersionIsSetAside(t *testing.T) {
	dir, p := closedEngine(t)
	newer := stamp{Server: "99.0.1", App: "9"}
	if err := newer.write(p); err != nil {
		t.Fatal(err)
	}
	e := testEngine(t, dir)
	n := e.Notices()
	if len(n) != 1 || n[0].Kind != NoticeNewer || !strings.Contains(n[0].Text(), "99.0.1") {
		t.Fatalf("notices: %v", n)
	}
	if s, err := readStamp(p); err != nil || s.Server != serverVersion {
		t.Errorf("stamp %v %v", s, err)
	}
	if _, err := e.Client().DescribeWorkflowExecution(t.Context(), "wait", ""); err == nil {
		t.Error("the new database holds the old workflow")
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	// What was set aside is whole: put back, it goes on.
	if err := os.Rename(n[0].Kept, p.database()); err != nil {
		t.Fatal(err)
	}
	back := testEngine(t, dir)
	if len(back.Notices()) != 0 || !goesOn(t, back) {
		t.Errorf("the database that was put back does not go on (%v)", back.Notices())
	}
}

// An older database lacks tables and columns, which the server does not notice
// by itself.
func TestDatabaseOfAnOlderVersionIsUpgraded(t *testing.T) {
	for _, old := range []string{"1.29.1", ""} {
		t.Run("version "+old, func(t *testing.T) {
			dir, p := closedEngine(t)
			db, err := openSQLite(t.Context(), p.database())
			if err != nil {
				t.Fatal(err)
			}
			for _, stmt := range []string{
				`DROP TABLE current_chasm_executions`,
				`DROP TABLE chasm_node_maps`,
				`ALTER TABLE executions_visibility DROP COLUMN TemporalExternalPayloadCount`,
			} {
				if _, err := db.ExecContext(t.Context(), stmt); err != nil {
					t.Fatalf("%s: %v", stmt, err)
				}
			}
			if _, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(p.stamp()); err != nil {
				t.Fatal(err)
			}
			if old != "" {
				if err := (stamp{Server: old}).write(p); err != nil {
					t.Fatal(err)
				}
			}
			before, err := os.ReadFile(p.database())
			if err != nil {
				t.Fatal(err)
			}

			e := testEngine(t, dir)
			n := e.Notices()
			if len(n) != 1 || n[0].Kind != NoticeUpgraded {
				t.Fatalf("notices: %v", n)
			}
			if kept, err := os.ReadFile(n[0].Kept); err != nil || !bytes.Equal(kept, before) {
				t.Errorf("%s is not the old database: %v", n[0].Kept, err)
			}
			if !goesOn(t, e) {
				t.Error("the old workflow does not go on")
			}
			if d, err := e.Client().DescribeWorkflowExecution(t.Context(), "chain", ""); err != nil {
				t.Errorf("the closed workflow: %v %v", d, err)
			}
			got, err := column(t.Context(), e.db.db, `SELECT name FROM pragma_table_xinfo('executions_visibility')
				WHERE name = 'TemporalExternalPayloadCount' UNION SELECT name FROM sqlite_master WHERE name LIKE '%chasm%' AND type = 'table'`)
			if err != nil || len(got) != 3 {
				t.Errorf("the new schema has %v %v", got, err)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if again := testEngine(t, dir); len(again.Notices()) != 0 {
				t.Errorf("upgraded twice: %v", again.Notices())
			}
		})
	}
}

// A write-ahead log without its database must not be played into a new one.
func TestStrayLogIsSetAside(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "work", dir)
	c.kill() // leaves a log
	p := paths{dir: filepath.Join(dir, folderName)}
	wal, err := os.ReadFile(p.database() + "-wal")
	if err != nil || len(wal) == 0 {
		t.Fatalf("no log to test with: %v", err)
	}
	if err := os.Remove(p.database()); err != nil {
		t.Fatal(err)
	}
	e := testEngine(t, dir)
	if got := result(t, runChain(t, e), 10*time.Second); got != "echo" {
		t.Errorf("got %q", got)
	}
	kept, err := filepath.Glob(p.database() + ".broken-*-wal")
	if err != nil || len(kept) != 1 {
		t.Errorf("the stray log was not kept: %v %v", kept, err)
	}
}

func TestInterruptedCreationIsRepeated(t *testing.T) {
	dir := t.TempDir()
	p, err := preparePaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{p.database() + ".new", p.database() + ".new-journal", p.stamp()} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := testEngine(t, dir)
	if got := result(t, runChain(t, e), 10*time.Second); got != "echo" || len(e.Notices()) != 0 {
		t.Errorf("got %q, notices %v", got, e.Notices())
	}
}

func TestDatabaseKeepsWhatItPromised(t *testing.T) {
	e := testEngine(t, t.TempDir())
	// Through a connection with the very attributes that the server's has.
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		got, err := column(t.Context(), e.db.db, "PRAGMA "+pragma)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, want %s (%v)", pragma, got, want, err)
		}
	}
	attrs := serverSpec{}.sqlConfig().ConnectAttributes
	if attrs["journal_mode"] != journalMode || attrs["synchronous"] != synchronous {
		t.Errorf("the server's connection has %v", attrs)
	}
}

func TestCloseFoldsTheLog(t *testing.T) {
	_, p := closedEngine(t)
	if fi, err := os.Stat(p.database() + "-wal"); err == nil && fi.Size() != 0 {
		t.Errorf("the log still has %d bytes", fi.Size())
	}
}

func TestUnwritableFolder(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"below a file": filepath.Join(file, "data"), "read-only system": "/proc/data"} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), Options{DataDir: dir})
			var unwritable *UnwritableError
			if name == "read-only system" && errors.Is(err, os.ErrNotExist) {
				return // /proc says ENOENT for mkdir
			}
			if !errors.As(err, &unwritable) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want an UnwritableError that names the folder", err)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	// A disk of 4 MiB. Mounting needs rights that a developer's account lacks;
	// TestStorageErrorsAreTold covers the classification there.
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("can't mount a small disk: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	_, err := Open(t.Context(), Options{DataDir: dir})
	var full *DiskFullError
	if !errors.As(err, &full) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v, want a DiskFullError that names the folder", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, folderName, "*.tmp")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestStorageErrorsAreTold(t *testing.T) {
	var full *DiskFullError
	var unwritable *UnwritableError
	pathErr := func(e syscall.Errno) error { return &os.PathError{Op: "write", Path: "x", Err: e} }
	for _, err := range []error{pathErr(syscall.ENOSPC), pathErr(syscall.EDQUOT), fullDatabase(t)} {
		if got := storageError("dir", "write", err); !errors.As(got, &full) || !errors.Is(got, err) {
			t.Errorf("%v was told as %v", err, got)
		}
	}
	for _, err := range []error{pathErr(syscall.EACCES), pathErr(syscall.EROFS), pathErr(syscall.EPERM), missingDatabase(t)} {
		if got := storageError("dir", "write", err); !errors.As(got, &unwritable) || !errors.Is(got, err) {
			t.Errorf("%v was told as %v", err, got)
		}
	}
	other := pathErr(syscall.EINTR)
	if got := storageError("dir", "write", other); errors.As(got, &full) || errors.As(got, &unwritable) || !errors.Is(got, other) {
		t.Errorf("%v was told as %v", other, got)
	}
}

// fullDatabase is what SQLite says when it may not grow a file.
func fullDatabase(t *testing.T) error {
	t.Helper()
	db, err := openSQLite(t.Context(), filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE t (b BLOB)`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `PRAGMA max_page_count = 3`); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `INSERT INTO t VALUES (zeroblob(1000000))`)
	if err == nil {
		t.Fatal("the database is not full")
	}
	return err
}

// missingDatabase is what SQLite says when it can't make a file.
func missingDatabase(t *testing.T) error {
	t.Helper()
	_, err := openSQLite(t.Context(), filepath.Join(t.TempDir(), "no", "folder"))
	if err == nil {
		t.Fatal("opened")
	}
	return err
}

func TestVersionsAreCompared(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1.32.1", "1.32.1", 0},
		{"1.29.1", "1.32.1", -1},
		{"1.32.10", "1.32.9", 1},
		{"2.0", "1.99.99", 1},
		{"", "1.0.0", -1},
		{"garbage", "1.0.0", -1},
		{"1.32", "1.32.0", 0},
	} {
		got := compareVersions(c.a, c.b)
		if (got < 0) != (c.want < 0) || (got > 0) != (c.want > 0) {
			t.Errorf("%q against %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestKeptNamesDoNotCollide(t *testing.T) {
	p := paths{dir: t.TempDir()}
	now := time.Now()
	names := map[string]bool{}
	for i := range 3 {
		if err := os.WriteFile(p.database(), fmt.Append(nil, i), 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := setAside(p, now)
		if err != nil {
			t.Fatal(err)
		}
		names[kept] = true
		if b, err := os.ReadFile(kept); err != nil || string(b) != fmt.Sprint(i) {
			t.Errorf("%s holds %q %v", kept, b, err)
		}
	}
	if len(names) != 3 {
		t.Errorf("names: %v", names)
	}
}
