// Package store keeps what must not be lost: immutable objects named by their
// content, and small records named by a key.
package store

import (
	"context"
	"errors"
)

// ErrNotFound is returned for an object or record that is not there.
var ErrNotFound = errors.New("not found in the store")

// ErrCorrupt is returned for an object whose content is not what its id says.
var ErrCorrupt = errors.New("corrupt object in the store")

// ErrNoSpace is returned when the disk is full.
var ErrNoSpace = errors.New("no space left for the store")

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

// Store is both.
type Store interface {
	Objects
	Records
	// Remove forgets objects, all or none. It is for content that nobody else can
	// have put, or puts again: an object does not know who refers to it.
	Remove(ctx context.Context, ids ...ID) error
	Close() error
}
