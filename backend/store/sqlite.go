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
	"time"

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
	packs   *packs

	// now is the clock by which uses of objects are noted.
	now func() time.Time

	suspected atomic.Bool
	closed    atomic.Bool
}

var _ Store = (*SQLite)(nil)

// readStatements are prepared on each of the readers' connections.
type readStatements struct {
	get, used, size, epoch, lookup, listAll, listSince *sql.Stmt
}

func (r *readStatements) prepare(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&r.get, sqlGet},
		{&r.used, sqlUsed},
		{&r.size, sqlSize},
		{&r.epoch, sqlEpoch},
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
	for _, st := range []*sql.Stmt{r.get, r.used, r.size, r.epoch, r.lookup, r.listAll, r.listSince} {
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

// Close ends the writes that wait and closes the file. It may be called again.
func (s *SQLite) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	var err error
	if s.writer != nil {
		err = s.writer.close()
	}
	if s.packs != nil {
		err = errors.Join(err, s.packs.close())
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
