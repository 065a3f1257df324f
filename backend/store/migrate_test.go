package store

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// version1 makes a database as version 1 had it.
func version1(t *testing.T, dir string, contents [][]byte) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName)+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	exec1(t, db, `
CREATE TABLE objects (id BLOB NOT NULL UNIQUE, codec INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE records (rev INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, codec INTEGER NOT NULL, value BLOB NOT NULL);
PRAGMA user_version = 1;`)
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, content := range contents {
		kind, data := c.pack(content, nil)
		exec1(t, db, "INSERT INTO objects VALUES (?, ?, ?)", Sum(content).rowID(), kind, blob(data))
	}
	for i := range 20 {
		exec1(t, db, "INSERT INTO records (key, codec, value) VALUES (?, 0, ?)", fmt.Appendf(nil, "k%02d", i), []byte("v"))
	}
	exec1(t, db, "DELETE FROM records WHERE rev > 15")
}

func TestVersion1IsBroughtUp(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	contents := append(mixed(200, "old"), nil, []byte("x"), []byte(strings.Repeat("text ", 5000)), noise(300_000, 9))
	version1(t, dir, contents)
	s := open(t, dir)
	for i, content := range contents {
		if got, err := s.Get(ctx, Sum(content)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("object %d: %v", i, err)
		}
	}
	if list, err := s.List(ctx, "k", 0, 0); err != nil || len(list) != 15 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	// Revisions go on after those that were given and deleted.
	if err := s.Set(ctx, Record{Key: "new", Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Lookup(ctx, "new"); err != nil || r.Rev != 21 {
		t.Errorf("the next revision is %d, %v", r.Rev, err)
	}
	u, err := s.Usage(ctx)
	if err != nil || u.Objects != int64(len(contents)) {
		t.Fatalf("usage: %+v, %v", u, err)
	}
	// They count as used when they were brought up.
	used, err := s.uses(ctx, []ID{Sum(contents[0])})
	if err != nil || used[0] < s.now().Unix()-600 {
		t.Errorf("used at %d, %v", used[0], err)
	}
	var vacuum int
	if err := s.readDB.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&vacuum); err != nil || vacuum != 2 {
		t.Errorf("auto_vacuum is %d, %v", vacuum, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, dir).Get(ctx, Sum(contents[3])); err != nil || !bytes.Equal(got, contents[3]) {
		t.Errorf("opened again: %v", err)
	}
}

// An old version of the app that has the file open is not disturbed.
func TestVersion1InUseIsLeft(t *testing.T) {
	dir := t.TempDir()
	version1(t, dir, nil)
	lock := newLock(dir)
	if err := lock.RLock(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "older version") {
		t.Fatalf("open: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	_ = open(t, dir)
}
