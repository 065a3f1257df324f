package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/gofrs/flock"
)

// Limits of what is stored.
const (
	// MaxObjectBytes is the largest object.
	MaxObjectBytes = 128 << 20
	// MaxRecordBytes is the largest value of a record.
	MaxRecordBytes = 16 << 20
	// MaxKeyBytes is the longest key of a record.
	MaxKeyBytes = 512
)

// SQLite is the embedded driver: one file, one writer, a few readers. Several
// processes may have the same file open. It is safe for concurrent use.
//
// A write returns once it is on the disk, with one fsync of the write-ahead
// log; writes that come at the same time share it. A write waits up to
// busyTimeout for another process's.
type SQLite struct {
	dir   string
	codec *codec
	lock  *flock.Flock

	writeDB *sql.DB
	readDB  *sql.DB
	writer  *writer
	reads   readStatements

	suspected atomic.Bool
	closed    atomic.Bool
}

var _ Store = (*SQLite)(nil)

// readStatements are prepared on each of the readers' connections.
type readStatements struct {
	get, has, lookup, listAll, listSince *sql.Stmt
}

func (r *readStatements) prepare(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&r.get, sqlGet},
		{&r.has, sqlHas},
		{&r.lookup, sqlLookup},
		{&r.listAll, sqlListAll},
		{&r.listSince, sqlListSince},
	} {
		var err error
		if *p.into, err = db.PrepareContext(ctx, p.text); err != nil { //nolint:sqlclosecheck // close does
			return err
		}
	}
	return nil
}

func (r *readStatements) close() error {
	var err error
	for _, st := range []*sql.Stmt{r.get, r.has, r.lookup, r.listAll, r.listSince} {
		if st != nil {
			err = errors.Join(err, st.Close())
		}
	}
	return err
}

// Sum returns the id of content.
func Sum(content []byte) ID {
	sum := sha256.Sum256(content)
	return ID(hex.EncodeToString(sum[:]))
}

// rowID is the form of an id in the database, nil if it is no id at all.
func (id ID) rowID() []byte {
	raw, err := hex.DecodeString(string(id))
	if err != nil || len(raw) != sha256.Size || strings.ToLower(string(id)) != string(id) {
		return nil
	}
	return raw
}

// Put implements Objects.
func (s *SQLite) Put(ctx context.Context, content []byte) (ID, error) {
	if len(content) > MaxObjectBytes {
		return "", fmt.Errorf("put an object of %d bytes: the limit is %d", len(content), MaxObjectBytes)
	}
	id := Sum(content)
	// What a reader sees is durable: SQLite shows a commit after its fsync.
	if there, err := s.Has(ctx, id); err != nil || there {
		return id, err
	}
	kind, data := s.codec.pack(content)
	err := s.writer.do(ctx, len(data), func(ctx context.Context, st *statements) error {
		_, err := st.put.ExecContext(ctx, id.rowID(), kind, blob(data))
		return err
	})
	if err != nil {
		return "", s.classify("put object "+string(id), err)
	}
	return id, nil
}

// Get implements Objects.
func (s *SQLite) Get(ctx context.Context, id ID) ([]byte, error) {
	row := id.rowID()
	if row == nil {
		return nil, fmt.Errorf("get object %q: not an id: %w", id, ErrNotFound)
	}
	if s.closed.Load() {
		return nil, errClosed
	}
	var (
		kind int
		data []byte
	)
	err := s.reads.get.QueryRowContext(ctx, row).Scan(&kind, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("get object %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, s.classify("get object "+string(id), err)
	}
	content, err := s.codec.unpack(kind, data)
	if err != nil {
		return nil, fmt.Errorf("get object %s: %w: %w", id, ErrCorrupt, err)
	}
	if Sum(content) != id {
		return nil, fmt.Errorf("get object %s: %w: the content has another hash", id, ErrCorrupt)
	}
	return content, nil
}

// Has implements Objects.
func (s *SQLite) Has(ctx context.Context, id ID) (bool, error) {
	row := id.rowID()
	if row == nil {
		return false, nil
	}
	if s.closed.Load() {
		return false, errClosed
	}
	var one int
	err := s.reads.has.QueryRowContext(ctx, row).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.classify("look for object "+string(id), err)
}

// Remove implements Store.
func (s *SQLite) Remove(ctx context.Context, ids ...ID) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
		for _, id := range ids {
			if row := id.rowID(); row != nil {
				if _, err := st.out.ExecContext(ctx, row); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return s.classify(fmt.Sprintf("remove %d objects", len(ids)), err)
}

// Close ends the writes that wait and closes the file. It may be called again.
func (s *SQLite) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	var err error
	if s.writer != nil {
		err = s.writer.close()
	}
	// Readers first: the last connection to close folds the log into the file,
	// and only a writer can.
	if s.readDB != nil {
		err = errors.Join(err, s.reads.close(), s.readDB.Close())
	}
	if s.writeDB != nil {
		err = errors.Join(err, s.writeDB.Close())
	}
	if s.codec != nil {
		s.codec.close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Unlock())
	}
	if err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// Path is the name of the database file.
func (s *SQLite) Path() string { return filepath.Join(s.dir, databaseName) }

// blob makes sure that an empty value is not NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
