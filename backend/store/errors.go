package store

import (
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errClosed is returned by every call after Close.
var errClosed = errors.New("the store is closed")

// classify wraps an error of the driver with what was being done, so that
// errors.Is finds ErrNoSpace and ErrCorrupt.
func (s *SQLite) classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case isFull(err) || isIOError(err) && diskFull(s.dir):
		return fmt.Errorf("%s: %w: %w", doing, ErrNoSpace, err)
	case isDamage(err):
		s.suspect()
		return fmt.Errorf("%s: %w: %w", doing, ErrCorrupt, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// code is the primary result code of SQLite, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func isFull(err error) bool {
	return code(err) == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isDamage(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// isIOError covers what SQLite reports when it can't grow its shared-memory
// file or the log: it drops the reason.
func isIOError(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_IOERR || c == sqlite3.SQLITE_CANTOPEN
}

// minRoom is the least space with which SQLite can work at all: one growth of
// its shared-memory file and a page.
const minRoom = 64 << 10
