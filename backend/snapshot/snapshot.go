// Package snapshot keeps the files of a workspace as immutable objects in the
// store, and makes a workspace equal to what was kept. It sees files through
// Tree and knows no sandbox.
//
// A snapshot is named by its root: an object that names pages, each of which
// lists about 100 entries in the order of their paths; an entry names its
// content (format.go). Pages are cut where the hash of a path says so, so that a
// change touches the page it is in and the root, and two snapshots are compared
// by the pages that they don't share.
package snapshot

import (
	"context"
	"errors"
	"io/fs"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// ErrInvalid is returned for an object that is no part of a snapshot, or of one
// that no Capture can have made.
var ErrInvalid = errors.New("not a sound snapshot")

// Reader is the part of the store that reading a snapshot needs.
type Reader interface {
	// Get returns verified content.
	Get(ctx context.Context, id store.ID) ([]byte, error)
}

// Store is the part of the store that capturing needs.
type Store interface {
	Reader
	PutMany(ctx context.Context, contents [][]byte) ([]store.ID, error)
	Batch() store.Batch
	HasMany(ctx context.Context, ids []store.ID) ([]bool, error)
	// Epoch changes when objects are removed.
	Epoch(ctx context.Context) (string, error)
	// Use keeps objects from being swept until release is called.
	Use(ctx context.Context) (release func(), err error)
}

// Kind is what an entry of a snapshot is.
type Kind uint8

// The kinds of entries.
const (
	KindDir Kind = iota + 1
	KindFile
	KindLink
)

// String is the kind as protocol.ChangedFile has it.
func (k Kind) String() string {
	switch k {
	case KindDir:
		return "dir"
	case KindFile:
		return "file"
	case KindLink:
		return "link"
	default:
		return "unknown"
	}
}

// File is an entry of a snapshot.
type File struct {
	// Path is relative to the root, with slashes; it holds any byte but NUL.
	Path string
	Kind Kind
	// Mode is the permissions, with setuid, setgid and sticky; links have none.
	Mode fs.FileMode
	// Size (in bytes), Modified (nanoseconds since 1970) and Sum (the SHA-256 of
	// the whole content) are of regular files.
	Size, Modified int64
	Sum            [32]byte
	// Chunks is the object that lists the parts of a file over 1 MiB; a smaller
	// one's content is the object with its Sum.
	Chunks store.ID
	// Target is where a link points to, as written; Outside tells that it leads
	// out of the workspace, or is absolute.
	Target  string
	Outside bool
}

// Progress tells how far a capture or a restore has come.
type Progress struct {
	// Phase is "list", "read", "write" or "verify".
	Phase string
	// Files and Bytes are done, of so many.
	Files, FilesTotal int
	Bytes, BytesTotal int64
}

// The default limits of a capture.
const (
	DefaultMaxBytes = 2 << 30
	DefaultMaxFiles = 200_000
)

// Limits are the size from which a capture asks first.
type Limits struct {
	// MaxBytes is what the files may hold of the disk, MaxFiles how many entries
	// there may be; 0 is the default.
	MaxBytes int64
	MaxFiles int
	// Whole lifts both.
	Whole bool
}

// CaptureOptions are the options of Capture.
type CaptureOptions struct {
	// Index is a file of this machine, one for each workspace, in which Capture
	// remembers what the files looked like, so that it reads only what changed.
	// It is a cache: it may be lost. Empty reads everything.
	Index string
	// Exclude are paths that are left out with all below them.
	Exclude []string
	Limits  Limits
	// Previous is the snapshot with which changes are counted; empty is none.
	Previous store.ID
	// Progress, if not nil, is called now and then, one call at a time.
	Progress func(Progress)
}

// Captured is what a Capture made.
type Captured struct {
	// Root is empty when TooLarge is set: nothing was captured then.
	Root store.ID
	// Files counts all entries; Bytes is the size of the regular files.
	Files int
	Bytes int64
	// Read counts the files whose content was read, and their bytes.
	Read      int
	ReadBytes int64
	// Added, Updated and Removed count the entries that differ from Previous in
	// more than their time.
	Added, Updated, Removed int
	Excluded                []string
	// Skipped are entries that are not in the snapshot, or not as they should be.
	Skipped  []protocol.Skipped
	TooLarge *protocol.SnapshotAsk
}

// Mode says what a restore does with what the snapshot does not have.
type Mode int

// The modes of a restore.
const (
	// Equal removes it; but for what is excluded, or could not be captured.
	Equal Mode = iota
	// Merge leaves it.
	Merge
)

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	// Current is a snapshot, captured just now, of what the target holds; empty
	// says that it holds nothing.
	Current store.ID
	Mode    Mode
	// OutsideLinks makes links that lead out of the workspace; without it they
	// are left out and told.
	OutsideLinks bool
	// Source, if not nil, is a workspace that may hold the same files: what it
	// has is verified and saves reading it from the store.
	Source Source
	// Trust says that the target is on this machine: what was verified while it
	// was written is not read again.
	Trust bool
	// Index is as in CaptureOptions, of the target: the next Capture reads only
	// what changed since.
	Index string
	// Progress, if not nil, is called now and then, one call at a time.
	Progress func(Progress)
}

// Restored is what a Restore did.
type Restored struct {
	// Files and Bytes are those of the snapshot.
	Files int
	Bytes int64
	// Written and Removed count the entries that were made, and taken away (a
	// folder with all in it counts as one).
	Written, Removed int
	// Skipped are entries that could not be made.
	Skipped []protocol.Skipped
}
