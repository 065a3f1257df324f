// Package journal runs commands exactly once over any sandbox. A command has a
// call id; starting it again under the same id never runs it again, but finds
// it finished, attaches to it while it runs, or tells that it was broken.
//
// A command runs in a session of its own, outside the life of the app: it goes
// on while the app is closed. What watches it, cuts it off when its time is up
// and records its end is a POSIX shell wrapper in the sandbox (scripts/run.sh)
// or, on this machine, a second process of the app (the holder). Its files are
// in <state>/exec/<call id>/, outside the workspace.
//
// Exactly once rests on the claim: whoever is about to run a command makes the
// file that says so, which only one can, and has it on disk first. A crash
// before that leaves nothing, and the command can be started again; a crash
// after it can only lead to running, finished or broken.
package journal

import (
	"context"
	"time"
)

// Spec is a command to run.
type Spec struct {
	// CallID names the execution; letters, digits, "-", "_" and "." only.
	CallID string
	// Shell is the command line, run by bash, else sh, as "bash -c": not as a
	// login shell, whose start files print, change folders, set what the app
	// took out of the environment, and cost more than most commands. It may
	// hold any byte but NUL.
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
	// Code is 128 plus the signal's number if a signal ended it, and -1 in
	// StateBroken.
	Code int
	// Signal is the signal's name ("SIGKILL"), empty if none ended it. Where the
	// shell wrapper runs commands it is told from the code alone.
	Signal   string
	TimedOut bool
	// Killed is true when it was ended by Kill.
	Killed bool
	// Cut is true when the output was longer than the journal keeps, or did not
	// fit on the disk: the command went on, what it wrote after that is lost.
	Cut      bool
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
	// Write gives input to a command with a terminal. It fails with KindInvalid
	// for one without, and with KindGone when the command ended.
	Write(ctx context.Context, data []byte) error
	// Kill ends the whole process tree at once, also what a command that ended
	// left running. Killing what ended succeeds.
	Kill(ctx context.Context) error
}

// Resizer is a Command whose terminal can change its size; all are.
type Resizer interface {
	// Resize fails as Write does.
	Resize(ctx context.Context, rows, cols uint16) error
}

// HolderArg is the first argument of a program that is started to hold
// commands: it must call HolderMain with the arguments after it, before
// anything else, and exit with its result.
const HolderArg = "journal-holder"
