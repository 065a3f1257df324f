package engine

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrClosed is returned by every method of an Engine after Close.
var ErrClosed = errors.New("the engine is closed")

// ErrNotOwner is returned by what only the process that runs the server may
// do.
var ErrNotOwner = errors.New("another process owns the engine")

// DiskFullError says that the disk that holds Dir has no space left. Nothing
// was changed in the data folder.
type DiskFullError struct {
	Dir string
	Err error
}

func (e *DiskFullError) Error() string {
	return fmt.Sprintf("no space left on the disk that holds %s: free some and start again; nothing was lost", e.Dir)
}

func (e *DiskFullError) Unwrap() error { return e.Err }

// UnwritableError says that Dir can't be made, read or written by this user.
type UnwritableError struct {
	Dir string
	Err error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("the data folder %s can't be written: %v; make it writable for you, or choose another data folder", e.Dir, e.Err)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// BusyError says that another process holds the data folder but did not become
// reachable in time: it hangs, or it is still starting on a slow disk.
type BusyError struct {
	Dir string
	// PID is the process that was last known to own the folder; 0 if unknown.
	PID    int
	Waited time.Duration
	// Err is what the last attempt to reach it said; nil if it never said
	// where it listens.
	Err error
}

func (e *BusyError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("another process (%d)", e.PID)
	}
	return fmt.Sprintf("%s holds the data folder %s but did not answer within %s: close it and start again",
		who, e.Dir, e.Waited.Round(time.Second))
}

func (e *BusyError) Unwrap() error { return e.Err }

// storageError gives err its type if the disk or the permissions of dir are
// its cause, and wraps it with what was being done.
func storageError(dir, doing string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", doing, err)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), sqliteCode(err) == sqlite3.SQLITE_FULL:
		return &DiskFullError{Dir: dir, Err: err}
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR),
		sqliteCode(err) == sqlite3.SQLITE_READONLY, sqliteCode(err) == sqlite3.SQLITE_CANTOPEN:
		return &UnwritableError{Dir: dir, Err: err}
	default:
		return err
	}
}

// isDamage tells whether err says that a file is not a sound SQLite database.
func isDamage(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	default:
		return false
	}
}

// sqliteCode is the primary result code of a SQLite error, -1 for any other.
func sqliteCode(err error) int {
	var se *sqlite.Error
	if errors.As(err, &se) {
		return se.Code() & 0xff
	}
	return -1
}
