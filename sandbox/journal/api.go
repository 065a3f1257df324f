// Package journal runs commands exactly once over any sandbox. A command has a
// call id; starting it again under the same id never runs it again, but finds
// it finished, attaches to it while it runs, or tells that it was broken.
//
// A command runs under a small POSIX shell wrapper in a session of its own,
// outside the life of the app: it goes on while the app is closed. Its files
// are in <state>/exec/<call id>/, outside the workspace.
package journal

import (
	"context"
	"time"
)

// Spec is a command to run.
type Spec struct {
	// CallID names the execution; letters, digits, "-", "_" and "." only.
	CallID string
	// Shell is the command line, run by the user's shell (bash, else sh).
	Shell string
	// Dir is absolute or relative to the root; empty is the root.
	Dir string
	Env map[string]string
	// TTY gives it a terminal; its input can then be written.
	TTY        bool
	Rows, Cols uint16
	// Timeout kills the process tree; 0 is none.
	Timeout time.Duration
}

// State is how far a command has come.
type State string

// The states of a command.
const (
	StateRunning  State = "running"
	StateFinished State = "finished"
	// StateBroken: it was started, is not running and left no exit: it may have
	// been partly done.
	StateBroken State = "broken"
)

// Exit is how a command ended.
type Exit struct {
	State State
	// Code is 128 plus the signal's number if a signal ended it.
	Code     int
	Signal   string
	TimedOut bool
	// Killed is true when it was ended by Kill.
	Killed   bool
	Started  time.Time
	Duration time.Duration
}

// Command is one execution, running or over.
type Command interface {
	CallID() string
	// Fresh is false when Start found an execution that was there already.
	Fresh() bool
	// Wait returns when the command ended or ctx did (with ctx's error).
	Wait(ctx context.Context) (Exit, error)
	// Exit returns the end, and false while it runs.
	Exit(ctx context.Context) (Exit, bool, error)
	// ReadOutput returns at most max bytes from offset on (stdout and stderr
	// merged in the order of writing) and the size so far.
	ReadOutput(ctx context.Context, offset int64, max int) (data []byte, size int64, err error)
	// Follow calls got with new output from offset on, as it comes, until the
	// command ends (then it returns nil) or ctx does.
	Follow(ctx context.Context, offset int64, got func(offset int64, data []byte)) error
	// Write gives input to a command with a terminal.
	Write(ctx context.Context, data []byte) error
	// Kill ends the whole process tree at once. Killing what ended succeeds.
	Kill(ctx context.Context) error
}
