package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	schema "go.temporal.io/server/schema/sqlite"
)

// checkTime bounds the search for damage at a start. A file of 50 MB is read
// in full in that time; of a larger one the first part is, and the server finds
// the rest when it reads it.
const checkTime = 150 * time.Millisecond

// database is our own connection beside the server's: it looks at the file
// before the server opens it, and folds the write-ahead log when it is done.
type database struct {
	db  *sql.DB
	p   paths
	app string
}

// prepareDatabase makes the file ready for the server that is built in: made
// if missing, set aside if damaged or newer, copied if older. The caller closes
// the database after the server has stopped.
func prepareDatabase(ctx context.Context, p paths, appVersion string, now time.Time) (*database, []Notice, error) {
	have, err := readStamp(p)
	if err != nil {
		return nil, nil, err
	}
	db, notices, err := usable(ctx, p, have, now)
	if err != nil {
		return nil, nil, err
	}
	if db == nil {
		if err := createDatabase(ctx, p, now); err != nil {
			return nil, nil, err
		}
	}
	if have.Server != serverVersion {
		have = stamp{Server: serverVersion, App: appVersion}
		if err := have.write(p); err != nil {
			_ = closeIf(db)
			return nil, nil, err
		}
	}
	if db == nil {
		if db, err = openSQLite(ctx, p.database()); err != nil {
			return nil, nil, storageError(p.dir, "open the database", err)
		}
	}
	return &database{db: db, p: p, app: appVersion}, notices, nil
}

// usable opens the present file in the present form. If it can't be used it is
// set aside, and nil is returned as if there had been none.
func usable(ctx context.Context, p paths, have stamp, now time.Time) (*sql.DB, []Notice, error) {
	fi, err := os.Stat(p.database())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, storageError(p.dir, "find the database", err)
	case have.age() > 0:
		kept, err := setAside(p, now)
		return nil, []Notice{{Kind: NoticeNewer, Kept: kept, Detail: "version " + have.Server}}, err
	}
	// Opened without our pragmas: a damaged file is kept as it was found.
	db, err := openPragmas(ctx, p.database())
	var damage string
	if err == nil {
		damage, err = findDamage(ctx, db, have.Closed.is(fi))
	}
	if isDamage(err) {
		damage, err = err.Error(), nil
	}
	switch {
	case err != nil:
		_ = closeIf(db)
		return nil, nil, storageError(p.dir, "check the database", err)
	case damage != "":
		_ = closeIf(db)
		kept, err := setAside(p, now)
		return nil, []Notice{{Kind: NoticeDamaged, Kept: kept, Detail: damage}}, err
	case have.age() < 0:
		if err := db.Close(); err != nil {
			return nil, nil, storageError(p.dir, "check the database", err)
		}
		kept, err := upgradeDatabase(ctx, p, have, now)
		if err != nil {
			return nil, nil, err
		}
		if db, err = openSQLite(ctx, p.database()); err != nil {
			return nil, nil, storageError(p.dir, "open the database", err)
		}
		return db, []Notice{{Kind: NoticeUpgraded, Kept: kept, Detail: have.Server + " to " + serverVersion}}, nil
	default:
		return db, nil, nil
	}
}

func closeIf(db *sql.DB) error {
	if db == nil {
		return nil
	}
	return db.Close()
}

// findDamage returns what is wrong with the file, empty if nothing was found
// within checkTime. A file that is untouched since we closed it is only looked
// at, not read.
func findDamage(ctx context.Context, db *sql.DB, untouched bool) (string, error) {
	var tables int
	if err := db.QueryRowContext(ctx,
		`SELECT count(*) FROM sqlite_master WHERE name IN ('executions', 'history_node', 'executions_visibility')`).Scan(&tables); err != nil {
		return "", err
	}
	if tables != 3 {
		return "it is not a database of the engine", nil
	}
	if untouched {
		return "", nil
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var first string
	err := db.QueryRowContext(limited, `PRAGMA quick_check(1)`).Scan(&first)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return "", nil
	case err != nil:
		return "", err
	case first != "ok":
		return strings.TrimSpace(first), nil
	default:
		return "", nil
	}
}

// setAside renames the database with its write-ahead log, so that the pair can
// be opened again, and returns the new name.
func setAside(p paths, now time.Time) (string, error) {
	to := freeName(p.database() + ".broken-" + now.UTC().Format("20060102T150405Z"))
	// The database first: a log without its database is harmless (and set
	// aside as well at the next start), a database without its log is not.
	for _, suffix := range []string{"", "-wal", "-shm"} {
		err := os.Rename(p.database()+suffix, to+suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", storageError(p.dir, "set the database aside", err)
		}
	}
	return to, nil
}

func freeName(name string) string {
	for try, n := name, 2; ; try, n = fmt.Sprintf("%s-%d", name, n), n+1 {
		if _, err := os.Lstat(try); errors.Is(err, os.ErrNotExist) {
			return try
		}
	}
}

// createDatabase makes an empty database under another name first: a start
// that is cut short leaves no half a schema.
func createDatabase(ctx context.Context, p paths, now time.Time) error {
	// A log that was left alone would be played into the new file.
	if _, err := setAside(p, now); err != nil {
		return err
	}
	fresh, err := freshFile(ctx, p)
	if err != nil {
		return err
	}
	return storageError(p.dir, "put the database in place", os.Rename(fresh, p.database()))
}

// freshFile writes a database with the schema of the built-in server and
// nothing else, and returns its name.
func freshFile(ctx context.Context, p paths) (string, error) {
	fresh := p.database() + ".new"
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(fresh + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", storageError(p.dir, "make the database", err)
		}
	}
	db, err := openSQLite(ctx, fresh)
	if err != nil {
		return "", storageError(p.dir, "make the database", err)
	}
	err = writeSchema(ctx, db)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", storageError(p.dir, "make the database", err)
	}
	return fresh, os.Chmod(fresh, 0o600)
}

// writeSchema runs the server's statements in one transaction: one by one each
// would wait for the disk.
func writeSchema(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := schema.SetupSchemaOnDB(schemaTarget{ctx: ctx, tx: tx}); err != nil {
		return err
	}
	return tx.Commit()
}

// schemaTarget is as much of the server's database interface as its schema
// needs.
type schemaTarget struct {
	sqlplugin.AdminDB
	ctx context.Context // the server's interface passes none
	tx  *sql.Tx
}

// Exec runs one statement of the schema.
func (t schemaTarget) Exec(stmt string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, stmt, args...)
	return err
}

// close folds the write-ahead log into the database, so that a copy of that
// one file is whole, closes our connection, and notes how it left the file.
func (d *database) close(ctx context.Context) error {
	_, err := d.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if cerr := d.db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return storageError(d.p.dir, "close the database", err)
	}
	fi, err := os.Stat(d.p.database())
	if err != nil {
		return storageError(d.p.dir, "close the database", err)
	}
	return stamp{Server: serverVersion, App: d.app, Closed: stateOf(fi)}.write(d.p)
}

// Pragmas of every connection. WAL with full sync: what was acknowledged
// survives a power cut, at a quarter of the time of a rollback journal.
const (
	journalMode = "wal"
	synchronous = "full"
	busyTimeout = "10000" // ms
)

// openSQLite opens a file the way the server does.
func openSQLite(ctx context.Context, file string) (*sql.DB, error) {
	return openPragmas(ctx, file, "journal_mode="+journalMode, "synchronous="+synchronous)
}

// openPragmas opens a file; with no pragmas it is not changed by that.
func openPragmas(ctx context.Context, file string, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append(pragmas, "busy_timeout="+busyTimeout)}
	db, err := sql.Open("sqlite", "file:"+escapePath(file)+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// escapePath makes a path safe inside a SQLite URI.
func escapePath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}
