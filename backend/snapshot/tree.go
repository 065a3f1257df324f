package snapshot

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"time"
)

// Tree is the files of a workspace. Names are paths with slashes, relative to
// its root. No method follows a link, and none leaves the root.
type Tree interface {
	// List calls each for everything below the root, in no order, but for what
	// skip names and all below that. What can't be looked into is told in the
	// Listing and is no error.
	List(ctx context.Context, skip []string, each func(Entry) error) (Listing, error)
	// ReadFiles calls each once for every name, one after the other, in any
	// order, with the content of a regular file or with why there is none.
	ReadFiles(ctx context.Context, names []string, each func(FileRead) error) error
	// Digests returns the SHA-256 of regular files, in the order of names; zero
	// for what can't be read.
	Digests(ctx context.Context, names []string) ([][32]byte, error)
	// Apply removes entries, trees as a whole, and then makes others: each
	// replaces what has its name, of whatever kind, but for a folder, which is
	// kept with what is in it. Parents come before what is in them.
	Apply(ctx context.Context, remove []string, make iter.Seq2[Make, error]) error
}

// Listing tells of a List as a whole.
type Listing struct {
	// Begun is when it began, by the clock that stamps the files.
	Begun time.Time
	// Granularity is the finest difference of the times in it.
	Granularity time.Duration
	// Unread are folders that could not be looked into.
	Unread []Unread
}

// Unread is an entry that could not be read.
type Unread struct {
	Name string
	Why  error
}

// Entry is what a List tells of a file. Its fields are those of sandbox.Entry.
type Entry struct {
	Name string
	// Mode is the type and the permissions, with setuid, setgid and sticky.
	Mode fs.FileMode
	// Size is of regular files, in bytes; Held is what it holds of the disk.
	Size, Held int64
	// Modified and Changed are the times of the content and of the entry, in
	// nanoseconds since 1970; 0 where there is none.
	Modified, Changed int64
	Inode             uint64
	// Target is where a link points to, as written.
	Target string
}

// FileRead is a file of a ReadFiles. Its fields are those of sandbox.FileRead.
type FileRead struct {
	Name string
	// Mode, Size and Modified are as they were when it was opened.
	Mode     fs.FileMode
	Size     int64
	Modified int64
	Content  io.Reader
	// Err says why there is no content.
	Err error
}

// Make is an entry that an Apply makes: a regular file, a folder or a link. Its
// fields are those of sandbox.Make.
type Make struct {
	Name string
	Mode fs.FileMode
	// Size and Modified (nanoseconds since 1970; 0 is now) are of regular files.
	Size, Modified int64
	// Open opens the content, which has Size bytes.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Target is where a link points to.
	Target string
}
