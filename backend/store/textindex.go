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
	"strings"
	"sync"
)

// indexName is the file of the text index.
const indexName = "search.db"

// indexVersion is the form of the index; one of another form is made anew.
const indexVersion = 2

// The index keeps no text, only which three-letter sequences each document
// has: that finds parts of words in all scripts, and whoever asks checks the
// documents that it names.
const indexSchema = `
CREATE TABLE mark (source TEXT NOT NULL, rev INTEGER NOT NULL);
CREATE TABLE docs (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE grams USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='trigram');
`

// gramRunes is the length of what the index knows.
const gramRunes = 3

// Doc is a text to be found by.
type Doc struct {
	Key  string
	Text string
}

// Found names a document that may match.
type Found struct {
	Key string
	// At grows with the time of indexing; it is the cursor of Find.
	At int64
}

// TextIndex finds documents by parts of their text, without regard to case. It
// is derived data: it is written without fsync, and made anew when it can't be
// read. It opens its file when it is first used, and is safe for concurrent use
// by several processes.
type TextIndex struct {
	dir string

	mu sync.Mutex
	db *sql.DB
}

// NewTextIndex returns the index in the folder dir, which must be there by the
// time of the first use.
func NewTextIndex(dir string) *TextIndex { return &TextIndex{dir: dir} }

// Mark tells up to where of which source (see Add) the index has come; ""
// and 0 for an empty one.
func (x *TextIndex) Mark(ctx context.Context) (source string, rev int64, err error) {
	err = x.use(ctx, func(db *sql.DB) error {
		err := db.QueryRowContext(ctx, "SELECT source, rev FROM mark").Scan(&source, &rev)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return source, rev, err
}

// Add indexes documents, replacing those with the same key, and remembers that
// the source is indexed up to rev. Another source than before empties the
// index first.
func (x *TextIndex) Add(ctx context.Context, source string, rev int64, docs ...Doc) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		var before string
		if err := tx.QueryRowContext(ctx, "SELECT source FROM mark").Scan(&before); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if before != source {
			if err := execAll(ctx, tx, "DELETE FROM mark", "DELETE FROM docs", "DELETE FROM grams"); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO mark (source, rev) VALUES (?, ?)", source, rev); err != nil {
				return err
			}
		}
		for _, d := range docs {
			if err := removeDocs(ctx, tx, "key = ?", d.Key); err != nil {
				return err
			}
			r, err := tx.ExecContext(ctx, "INSERT INTO docs (key) VALUES (?)", d.Key)
			if err != nil {
				return err
			}
			id, err := r.LastInsertId()
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO grams (rowid, text) VALUES (?, ?)", id, d.Text); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE mark SET rev = ?", rev)
		return err
	})
}

// Remove forgets the documents whose key begins with prefix.
func (x *TextIndex) Remove(ctx context.Context, prefix string) error {
	from, to := keyRange(prefix)
	return x.change(ctx, func(tx *sql.Tx) error {
		return removeDocs(ctx, tx, "CAST(key AS BLOB) >= ? AND CAST(key AS BLOB) < ?", from, to)
	})
}

func removeDocs(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM grams WHERE rowid IN (SELECT id FROM docs WHERE "+where+")", args...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM docs WHERE "+where, args...)
	return err
}

// Find returns documents that have three-letter sequences of all terms, the
// last indexed first, at most limit. They are candidates: the caller checks
// them. Terms of less than three characters are not looked at; without longer
// ones all documents are candidates. With before above 0, only those indexed
// before that Found.At are returned.
func (x *TextIndex) Find(ctx context.Context, terms []string, before int64, limit int) ([]Found, error) {
	if before <= 0 {
		before = 1<<63 - 1
	}
	match := grams(terms)
	if match == "" {
		return x.query(ctx, "SELECT id, key FROM docs WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit)
	}
	return x.query(ctx, "SELECT docs.id, docs.key FROM grams JOIN docs ON docs.id = grams.rowid"+
		" WHERE grams MATCH ? AND grams.rowid < ? ORDER BY grams.rowid DESC LIMIT ?", match, before, limit)
}

// FindUnder is Find among the documents whose key begins with prefix.
func (x *TextIndex) FindUnder(ctx context.Context, prefix string, terms []string, limit int) ([]Found, error) {
	from, to := prefix, prefix+"\U0010FFFF"
	match := grams(terms)
	if match == "" {
		return x.query(ctx, "SELECT id, key FROM docs WHERE key >= ? AND key < ? ORDER BY id DESC LIMIT ?", from, to, limit)
	}
	// The range of row ids lets the index skip what is before and after.
	return x.query(ctx, "SELECT docs.id, docs.key FROM grams JOIN docs ON docs.id = grams.rowid WHERE grams MATCH ?1"+
		" AND grams.rowid >= (SELECT min(id) FROM docs WHERE key >= ?2 AND key < ?3)"+
		" AND grams.rowid <= (SELECT max(id) FROM docs WHERE key >= ?2 AND key < ?3)"+
		" AND docs.key >= ?2 AND docs.key < ?3 ORDER BY grams.rowid DESC LIMIT ?4", match, from, to, limit)
}

func (x *TextIndex) query(ctx context.Context, query string, args ...any) ([]Found, error) {
	var found []Found
	err := x.use(ctx, func(db *sql.DB) error {
		found = nil
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var f Found
			if err := rows.Scan(&f.At, &f.Key); err != nil {
				return err
			}
			found = append(found, f)
		}
		return rows.Err()
	})
	return found, err
}

// maxGrams is how many sequences are asked for: more narrow down little, and
// each costs.
const maxGrams = 6

// grams writes the terms as a query: a conjunction of sequences that cover the
// terms without overlapping more than they must.
func grams(terms []string) string {
	var parts []string
	for _, term := range terms {
		runes := []rune(strings.ToValidUTF8(term, "\uFFFD"))
		for end := gramRunes; len(runes) >= gramRunes && len(parts) < maxGrams; end += gramRunes {
			end = min(end, len(runes))
			gram := string(runes[end-gramRunes : end])
			parts = append(parts, `"`+strings.ReplaceAll(gram, `"`, `""`)+`"`)
			if end == len(runes) {
				break
			}
		}
	}
	return strings.Join(parts, " AND ")
}

// Close closes the file; the index may be used again.
func (x *TextIndex) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db == nil {
		return nil
	}
	db := x.db
	x.db = nil
	return db.Close()
}

func (x *TextIndex) change(ctx context.Context, do func(*sql.Tx) error) error {
	return x.use(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// use gives the open database to do. One that turns out damaged is thrown away,
// and do runs once more on an empty one.
func (x *TextIndex) use(ctx context.Context, do func(*sql.DB) error) error {
	for attempt := 0; ; attempt++ {
		db, err := x.open(ctx)
		if err == nil {
			err = do(db)
		}
		if err == nil {
			return nil
		}
		if !isDamage(err) || attempt > 0 {
			return fmt.Errorf("use the text index: %w", err)
		}
		if err := x.throwAway(db); err != nil {
			return fmt.Errorf("make the text index anew: %w", err)
		}
	}
}

func (x *TextIndex) open(ctx context.Context) (*sql.DB, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != nil {
		return x.db, nil
	}
	if _, err := touch(x.path()); err != nil {
		return nil, err
	}
	q := url.Values{"_txlock": {"immediate"}}
	for _, p := range []string{"busy_timeout(2000)", "journal_mode(wal)", "synchronous(off)", "journal_size_limit(4194304)"} {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: x.path(), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(2)
	if err := prepareIndex(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	x.db = db
	return db, nil
}

func prepareIndex(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // says "done" after the commit
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == indexVersion {
		return nil
	}
	if version != 0 {
		if err := execAll(ctx, tx, "DROP TABLE IF EXISTS grams", "DROP TABLE IF EXISTS docs", "DROP TABLE IF EXISTS mark"); err != nil {
			return err
		}
	}
	if err := execAll(ctx, tx, indexSchema, fmt.Sprintf("PRAGMA user_version = %d", indexVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

func execAll(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// throwAway closes db, if it is still the one in use, and removes the file.
func (x *TextIndex) throwAway(db *sql.DB) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != db {
		return nil
	}
	if db != nil {
		_ = db.Close()
		x.db = nil
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(x.path() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (x *TextIndex) path() string { return filepath.Join(x.dir, indexName) }
