// Package sandbox is the contract of the places in which an agent works: a
// Provider makes sandboxes of one kind, a Sandbox runs commands and holds
// files. Drivers live in the folders beside this file; sandboxtest holds the
// one suite that all of them pass.
//
// Bytes go in and bytes come out: no driver decodes output. A command that
// exits with a code other than zero is a Result, not an error. Every driver
// confines the paths that its file methods are given to the workspace root
// itself; links, "..", and absolute names do not lead out of it.
package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"time"
)

// Provider makes sandboxes of one kind.
type Provider interface {
	// Name is the backend's name: "local", "docker", …
	Name() string
	// Probe tells whether sandboxes can be made now and, if not, why and what
	// the user can do. It answers within 5 seconds.
	Probe(ctx context.Context) Availability
	// Create makes a new sandbox.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
	// Attach opens a sandbox that exists. It fails with KindGone when it does not.
	Attach(ctx context.Context, ref Ref) (Sandbox, error)
	// Destroy ends what runs in the sandbox and removes what Create made; a
	// folder that the user picked is never removed. Destroying what is gone
	// succeeds.
	Destroy(ctx context.Context, ref Ref) error
}

// Availability is the answer of a Probe.
type Availability struct {
	OK      bool
	Version string
	// Reason says why it can't be used; Remedy what to do about it.
	Reason string
	Remedy string
	// Confined tells whether commands are kept inside the sandbox.
	Confined bool
}

// Spec says what sandbox to make.
type Spec struct {
	// Session labels the sandbox.
	Session string
	// Root is the wanted workspace folder; empty asks for a fresh one.
	Root string
	// Folder is the wanted name of a fresh workspace; empty is Session. Nobody
	// else asks for it: an empty folder of this name is what an attempt that
	// was cut off has left, and is taken.
	Folder string
	// Image is the container image or template, where there is one.
	Image string
	// Env is added to the environment of every command.
	Env map[string]string
}

// Ref finds a sandbox again, also from another process.
type Ref struct {
	Backend string `json:"backend"`
	ID      string `json:"id"`
	Root    string `json:"root"`
	// OwnRoot is true when Create made the root, so that Destroy removes it.
	OwnRoot bool `json:"ownRoot,omitempty"`
	// Data is the driver's own.
	Data json.RawMessage `json:"data,omitempty"`
}

// Sandbox runs commands and holds files.
type Sandbox interface {
	Ref() Ref
	// Root is the absolute path of the workspace, in the sandbox's own terms.
	Root() string
	// Exec runs a command to its end. It is not journalled: use it for what may
	// run twice. Cancelling ctx kills the command's whole process tree; the
	// error is then the context's own, not an *Error.
	Exec(ctx context.Context, cmd Cmd) (Result, error)
	Files() FS
	// Close lets go of the connection; the sandbox lives on.
	Close(ctx context.Context) error
}

// Cmd is a command to run.
type Cmd struct {
	// Args is the program and its arguments; no shell is put around it.
	Args []string
	// Dir is absolute or relative to the root; empty is the root.
	Dir string
	// Env is added to the sandbox's environment.
	Env map[string]string
	// Stdin may be nil: the command then reads an empty input.
	Stdin io.Reader
	// Stdout and Stderr may be nil. If they are the same writer, writes are in
	// the order of the command's own.
	Stdout, Stderr io.Writer
	// Timeout kills the process tree; 0 is none. What was written until then
	// is kept.
	Timeout time.Duration
}

// Result is how a command ended.
type Result struct {
	// ExitCode is 128 plus the signal's number if a signal ended it.
	ExitCode int
	// Signal is its name ("SIGKILL"), empty if none.
	Signal   string
	TimedOut bool
	Duration time.Duration
}

// FS is the workspace's files. Names are paths with slashes, relative to the
// root or absolute inside it, and may hold any byte but NUL.
type FS interface {
	// Stat does not follow a final link.
	Stat(ctx context.Context, name string) (Info, error)
	// ReadDir lists a folder, sorted by name. It fails with KindTooLarge over
	// 100,000 entries.
	ReadDir(ctx context.Context, name string) ([]Info, error)
	// Open reads a file from offset on; at most n bytes, all if n < 0.
	Open(ctx context.Context, name string, offset, n int64) (io.ReadCloser, error)
	// Write makes or replaces a file as a whole: readers see the old or the new
	// content. Missing parents are made. perm 0 keeps the old mode, or 0644. A
	// link at the end is followed.
	Write(ctx context.Context, name string, content io.Reader, perm fs.FileMode) error
	// Mkdir makes a folder and its missing parents; perm 0 is 0755. What is
	// there already, of any kind, is KindExists.
	Mkdir(ctx context.Context, name string, perm fs.FileMode) error
	// Remove removes a file, link or empty folder; RemoveAll a tree, and succeeds
	// if there is none. Neither removes the root.
	Remove(ctx context.Context, name string) error
	RemoveAll(ctx context.Context, name string) error
	// Rename replaces an existing file. It makes no parents.
	Rename(ctx context.Context, from, to string) error
	// Chmod follows a link at the end.
	Chmod(ctx context.Context, name string, perm fs.FileMode) error
	// Symlink makes a link with this very target, which may lead anywhere: it is
	// using the link that fails with KindEscape then.
	Symlink(ctx context.Context, target, name string) error
}

// Info describes a file.
type Info struct {
	Name     string
	Mode     fs.FileMode
	Size     int64
	Modified time.Time
	// Target is where a link points to, as written.
	Target string
}

// Watcher is a sandbox that tells when files change.
type Watcher interface {
	// Watch calls changed with the folders (relative to the root) in which
	// something changed, merged over a short while, until ctx ends, which is no
	// error. The root is ".". A nil list means that anything may have changed;
	// the first call is one, when the watch is up: what changed before is not
	// told otherwise.
	Watch(ctx context.Context, changed func(dirs []string)) error
}
