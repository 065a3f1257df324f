package engine

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"
)

// upgradeDatabase copies a database of an older server into the present
// schema. The server has no upgrade of its own for SQLite: it would open the
// old file, miss columns and tables, and hang on some calls. The old file is
// kept; its name is returned.
func upgradeDatabase(ctx context.Context, p paths, have stamp, now time.Time) (string, error) {
	fresh, err := freshFile(ctx, p)
	if err != nil {
		return "", err
	}
	if err := foldLog(ctx, p.database()); err != nil {
		return "", storageError(p.dir, "read the old database", err)
	}
	if err := copyInto(ctx, fresh, p.database()); err != nil {
		return "", storageError(p.dir, "bring the database up to date", err)
	}
	version := have.Server
	if version == "" {
		version = "unknown"
	}
	kept := freeName(p.database() + ".before-" + serverVersion + "-" + now.UTC().Format("20060102T150405Z"))
	// Link, then rename over: at every instant there is a database in place.
	if err := os.Link(p.database(), kept); err != nil {
		return "", storageError(p.dir, "keep the database of version "+version, err)
	}
	if err := os.Rename(fresh, p.database()); err != nil {
		return "", storageError(p.dir, "put the database in place", err)
	}
	return kept, nil
}

// foldLog moves the write-ahead log of a database into it and removes it.
func foldLog(ctx context.Context, file string) error {
	db, err := openSQLite(ctx, file)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return err
}

// copyInto copies every row of the tables that both databases know, with the
// columns that both know.
func copyInto(ctx context.Context, fresh, old string) error {
	db, err := openSQLite(ctx, fresh)
	if err != nil {
		return err
	}
	err = copyRows(ctx, db, old)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return err
}

func copyRows(ctx context.Context, db *sql.DB, old string) error {
	if _, err := db.ExecContext(ctx, `ATTACH ? AS old`, "file:"+escapePath(old)+"?mode=ro"); err != nil {
		return err
	}
	tables, err := column(ctx, db, `SELECT m.name FROM main.sqlite_master m JOIN old.sqlite_master o
		ON o.name = m.name AND o.type = 'table'
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE '%\_fts\_%' ESCAPE '\'`)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, t := range tables {
		// Hidden columns are computed; the search index (_fts_) is filled by
		// triggers.
		cols, err := column(ctx, tx, `SELECT n.name FROM pragma_table_xinfo(?, 'main') n
			JOIN pragma_table_xinfo(?, 'old') o ON o.name = n.name
			WHERE n.hidden = 0 AND o.hidden = 0`, t, t)
		if err != nil {
			return err
		}
		list := `"` + strings.Join(cols, `","`) + `"`
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(
			`INSERT OR REPLACE INTO main.%q (%s) SELECT %s FROM old.%q`, t, list, list, t)); err != nil {
			return fmt.Errorf("copy %s: %w", t, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	var first string
	if err := db.QueryRowContext(ctx, `PRAGMA main.integrity_check(1)`).Scan(&first); err != nil {
		return err
	}
	if first != "ok" {
		return fmt.Errorf("check the copy: %s", first)
	}
	return nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// column reads a result of one text column.
func column(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
