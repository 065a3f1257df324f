// Package store keeps what must not be lost: immutable objects named by their
// content, and small records named by a key.
package store

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound is returned for an object or record that is not there.
var ErrNotFound = errors.New("not found in the store")

// ErrCorrupt is returned for an object whose content is not what its id says.
var ErrCorrupt = errors.New("corrupt object in the store")

// ErrNoSpace is returned when the disk is full.
var ErrNoSpace = errors.New("no space left for the store")

// ErrBusy is returned by a sweep while somebody uses the store.
var ErrBusy = errors.New("the store is in use")

// ID names an object: the SHA-256 of its content, in hexadecimal.
type ID string

// Objects are immutable pieces of content.
type Objects interface {
	// Put stores content and returns its id once it is durable. Putting what is
	// there already is cheap.
	Put(ctx context.Context, content []byte) (ID, error)
	// Get returns verified content.
	Get(ctx context.Context, id ID) ([]byte, error)
	Has(ctx context.Context, id ID) (bool, error)
	// PutMany puts several, which is quicker than one at a time. All are durable
	// when it returns; when it fails, some may be. The ids are in the order of
	// the contents.
	PutMany(ctx context.Context, contents [][]byte) ([]ID, error)
	// Batch begins to put many objects, some at a time.
	Batch() Batch
	// HasMany tells of each whether it is there.
	HasMany(ctx context.Context, ids []ID) ([]bool, error)
	// Epoch names a time during which nothing was removed: while it stays the
	// same, what was there is there.
	Epoch(ctx context.Context) (string, error)
}

// Batch puts many objects with little waiting for the disk. It is safe for
// concurrent use.
type Batch interface {
	// Put takes contents, which may be used again when it returns. They are not
	// there for others yet.
	Put(ctx context.Context, contents [][]byte) ([]ID, error)
	// Flush returns when all that was put is there, and durable. What was put and
	// not flushed may be lost.
	Flush(ctx context.Context) error
}

// Record is a small named value, at most 16 MiB.
type Record struct {
	Key   string
	Value []byte
	// Rev grows with every write to the store.
	Rev int64
}

// Records are small named values, kept in the order of their keys.
type Records interface {
	// Set writes all records in one step, all or none, durably.
	Set(ctx context.Context, records ...Record) error
	Lookup(ctx context.Context, key string) (Record, error)
	// List returns the records whose key begins with prefix, in the order of
	// keys, that were written after revision since; at most limit if limit > 0.
	List(ctx context.Context, prefix string, since int64, limit int) ([]Record, error)
	// Delete removes the records whose key begins with prefix.
	Delete(ctx context.Context, prefix string) error
}

// Store is all of it.
type Store interface {
	Objects
	Records
	Keeper
	// Remove forgets objects, all or none. It is for content that nobody else can
	// have put, or puts again: an object does not know who refers to it.
	Remove(ctx context.Context, ids ...ID) error
	Close() error
}

// Keeper gives the space of objects back that nobody needs any more, and tells
// how the store is.
type Keeper interface {
	// Use keeps sweeps away until release is called. Who puts several objects
	// that belong together, and needs them to stay before anything that Sweep is
	// told of names them, does so meanwhile. It waits for a sweep under way.
	// Several may use the store at once, also from other processes.
	Use(ctx context.Context) (release func(), err error)
	// Sweep removes the objects that keep does not name and that were not used
	// (put, also when they were there already) since before, which should lie
	// two minutes back or more: uses are noted to the minute. It fails with
	// ErrBusy, at once, while somebody uses the store. Others can write
	// meanwhile. If it is cut off, what it has removed is removed, and nothing is
	// half removed. It returns the number of objects and what they took.
	Sweep(ctx context.Context, keep func(ID) bool, before time.Time) (removed int, bytes int64, err error)
	// RemoveUnused is as Sweep, but looks at these objects only.
	RemoveUnused(ctx context.Context, ids []ID, before time.Time) (removed int, bytes int64, err error)
	Usage(ctx context.Context) (Usage, error)
	// Sizes returns what objects take as they are stored, in bytes; 0 for one
	// that is not there.
	Sizes(ctx context.Context, ids []ID) ([]int64, error)
	// Verify reads every object and calls each with those whose content is not
	// what it should be; the error is an ErrCorrupt. One damaged object keeps
	// none of the others from being read.
	Verify(ctx context.Context, each func(ID, error)) error
}

// Usage is the space that a store takes.
type Usage struct {
	// File is the size of the file with its log, in bytes; Free is the part of it
	// that holds nothing.
	File, Free int64
	// Objects is how many objects there are, and Stored what they take.
	Objects, Stored int64
}
