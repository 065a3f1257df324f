package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // registers the driver
)

// Names inside the store's folder.
const (
	databaseName = "objects.db"
	lockName     = "objects.lock"
	packsPrefix  = "packs-" // and the name of the store
	// suspectName marks a database in which damage was met: the next opening
	// checks all of it.
	suspectName = "objects.suspect"
)

const (
	// busyTimeout is how long a write waits for another process's.
	busyTimeout = 10 * time.Second
	// lockTimeout is how long an opening waits while another process opens.
	lockTimeout = 10 * time.Second
	// fullCheckBytes is the size up to which every opening checks the whole
	// file; above it only the records, which tell what objects there should
	// be (objects are verified when they are read).
	fullCheckBytes = 4 << 20
	readers        = 4
	pageSize       = 4096
)

// Open opens the store in the folder dir, made if it is not there. A database
// that is damaged or of a newer version is set aside, which the notices tell.
func Open(ctx context.Context, dir string) (*SQLite, []Notice, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", err)
	}
	s := &SQLite{dir: dir, now: time.Now}
	notices, err := s.open(ctx)
	if err != nil {
		_ = s.Close()
		return nil, nil, s.classify("open the store", err)
	}
	return s, notices, nil
}

func (s *SQLite) open(ctx context.Context) ([]Notice, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(s.dir, 0o700); err != nil { // MkdirAll leaves the mode of what was there
		return nil, err
	}
	var err error
	if s.codec, err = newCodec(); err != nil {
		return nil, err
	}
	// Every process that has the file open holds the lock shared; exclusive, it
	// tells that nobody else has, so that the file may be set aside.
	s.lock = newLock(s.dir)
	alone, err := s.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if !alone {
		wait, cancel := context.WithTimeout(ctx, lockTimeout)
		defer cancel()
		if _, err := s.lock.TryRLockContext(wait, 20*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for another process that opens the store: %w", err)
		}
	}
	notices, err := s.openSound(ctx, alone)
	if err != nil {
		return nil, err
	}
	if alone {
		if err := s.lock.RLock(); err != nil {
			return nil, fmt.Errorf("share the lock: %w", err)
		}
	}
	return notices, nil
}

func newLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
}

// openSound opens the database, setting an unusable one aside first.
func (s *SQLite) openSound(ctx context.Context, alone bool) ([]Notice, error) {
	fault, err := s.openFile(ctx, alone)
	if err != nil || fault == nil {
		return nil, err
	}
	if err := s.closeFile(); err != nil {
		return nil, err
	}
	if !alone {
		return nil, fmt.Errorf("the database can't be used (%s), and another process has it open", fault.Detail)
	}
	if fault.Kept, err = s.setAside(); err != nil {
		return nil, err
	}
	again, err := s.openFile(ctx, alone)
	if err != nil {
		return nil, err
	}
	if again != nil {
		return nil, fmt.Errorf("a fresh database can't be used: %s", again.Detail)
	}
	return []Notice{*fault}, nil
}

// openFile opens the connections. A fault, without Kept, tells that the file
// is not usable by this version.
func (s *SQLite) openFile(ctx context.Context, alone bool) (*Notice, error) {
	size, err := touch(s.Path())
	if err != nil {
		return nil, err
	}
	if s.writeDB, err = sql.Open("sqlite", s.dsn(false, size == 0)); err != nil {
		return nil, err
	}
	s.writeDB.SetMaxOpenConns(1)
	fault, err := s.prepare(ctx, size, alone)
	if isDamage(err) {
		fault, err = &Notice{Kind: NoticeDamaged, Detail: err.Error()}, nil
	}
	if err != nil || fault != nil {
		return fault, err
	}
	if s.readDB, err = sql.Open("sqlite", s.dsn(true, false)); err != nil {
		return nil, err
	}
	s.readDB.SetMaxOpenConns(readers)
	s.readDB.SetMaxIdleConns(readers)
	if err := s.reads.prepare(ctx, s.readDB); err != nil {
		return nil, err
	}
	if s.writer, err = newWriter(ctx, s.writeDB); err != nil {
		return nil, err
	}
	return nil, s.openPacks(ctx)
}

func (s *SQLite) openPacks(ctx context.Context) error {
	var storeName string
	if err := s.readDB.QueryRowContext(ctx, sqlName).Scan(&storeName); err != nil {
		return err
	}
	s.packs = &packs{
		dir: filepath.Join(s.dir, packsPrefix+storeName),
		add: func(ctx context.Context) (num int64, err error) {
			err = s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
				done, err := st.addPack.ExecContext(ctx)
				if err != nil {
					return err
				}
				num, err = done.LastInsertId()
				return err
			})
			return num, err
		},
		list: s.listPacks,
	}
	return nil
}

// touch makes sure that the file is there and closed to other users (SQLite
// gives its log the same mode), and returns its size.
//
// A file that is there is not opened here: closing it would drop the locks that
// another handle of this process holds on it, as POSIX has it.
func touch(path string) (int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return 0, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return 0, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (s *SQLite) dsn(readOnly, fresh bool) string {
	q := url.Values{}
	add := func(name, value string) { q.Add("_pragma", name+"("+value+")") }
	add("busy_timeout", strconv.FormatInt(busyTimeout.Milliseconds(), 10))
	add("temp_store", "memory")
	if readOnly {
		add("query_only", "1")
	} else {
		if fresh {
			// Only before anything is written; later it would write at every opening.
			add("page_size", strconv.Itoa(pageSize))
			add("auto_vacuum", "incremental")
		}
		add("journal_mode", "wal")
		add("synchronous", "full")
		// A bulk write must not leave a large log behind.
		add("journal_size_limit", strconv.Itoa(16<<20))
	}
	u := url.URL{Scheme: "file", Path: s.Path(), RawQuery: q.Encode()}
	return u.String()
}

// prepare brings the file to the present schema and checks it.
func (s *SQLite) prepare(ctx context.Context, size int64, alone bool) (*Notice, error) {
	var version, tables int
	if err := s.writeDB.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, err
	}
	if version > schemaVersion {
		return &Notice{Kind: NoticeNewer, Detail: fmt.Sprintf("version %d, this app knows %d", version, schemaVersion)}, nil
	}
	if err := s.writeDB.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return nil, err
	}
	switch {
	case version == 0 && tables == 0:
		return nil, s.create(ctx)
	case version == 1:
		if !alone {
			return nil, errors.New("the database is of an older version of the app, and another process has it open")
		}
		if err := s.migrate(ctx); err != nil {
			return nil, err
		}
	case version != schemaVersion:
		return &Notice{Kind: NoticeDamaged, Detail: fmt.Sprintf("it has no stamp of this app but %d tables", tables)}, nil
	}
	return s.check(ctx, size)
}

// create makes the tables. Another process may be doing the same.
func (s *SQLite) create(ctx context.Context) error {
	return s.stamp(ctx, 0, schema)
}

// migrate brings a database of version 1 to the present one. If it is cut off,
// the next opening does it again.
func (s *SQLite) migrate(ctx context.Context) error {
	if _, err := s.writeDB.ExecContext(ctx, "PRAGMA auto_vacuum = incremental; VACUUM"); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	if err := s.stamp(ctx, 1, fromVersion1); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	return nil
}

// stamp runs text and stamps the database with the present version, all or
// nothing, unless it is not of the version from any more.
func (s *SQLite) stamp(ctx context.Context, from int, text string) error {
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	var version int
	err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version == from {
		_, err = conn.ExecContext(ctx, text+fmt.Sprintf("PRAGMA user_version = %d;", schemaVersion))
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return err
	}
	return nil
}

// check looks for damage: everywhere if the file is small or was suspected,
// else in the records.
func (s *SQLite) check(ctx context.Context, size int64) (*Notice, error) {
	_, err := os.Stat(s.suspectPath())
	suspected := err == nil
	text := "PRAGMA quick_check(records)"
	if suspected || size <= fullCheckBytes {
		text = "PRAGMA quick_check(1)"
	}
	var verdict string
	if err := s.writeDB.QueryRowContext(ctx, text).Scan(&verdict); err != nil {
		return nil, err
	}
	if verdict != "ok" {
		return &Notice{Kind: NoticeDamaged, Detail: verdict}, nil
	}
	if suspected {
		if err := os.Remove(s.suspectPath()); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// suspect has the next opening check the whole file.
func (s *SQLite) suspect() {
	if s.suspected.Swap(true) {
		return
	}
	// Best effort: the error that led here is reported to the caller.
	if f, err := os.OpenFile(s.suspectPath(), os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
}

func (s *SQLite) suspectPath() string { return filepath.Join(s.dir, suspectName) }

func (s *SQLite) closeFile() error {
	var err error
	if s.readDB != nil {
		err = errors.Join(s.reads.close(), s.readDB.Close())
	}
	// A readable database (a newer one) has its log folded in here.
	return errors.Join(err, s.writeDB.Close())
}

// setAside renames the database with its log and returns the new name.
func (s *SQLite) setAside() (string, error) {
	kept := s.Path() + ".broken-" + time.Now().UTC().Format("20060102T150405.000Z")
	// The log first: a log that stayed behind would be replayed into the fresh
	// database.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := os.Rename(s.Path()+suffix, kept+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set the database aside: %w", err)
		}
	}
	if err := os.Remove(s.suspectPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return kept, nil
}
