package journal

import (
	"context"
	"errors"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// Host keeps executions: their files and their processes. All hosts share one
// layout of files (layout.go), so that what one started another finds.
// Failures are *sandbox.Error; an execution that was never started is
// KindNotFound.
type Host interface {
	// Launch starts an execution, unless its id was claimed before: fresh is
	// false then. When it returns, the claim is on disk. It does not give up
	// half-way: if ctx ends before the answer is there, the command may run.
	Launch(ctx context.Context, l Launch) (fresh bool, err error)
	// Observe returns the state of an execution and, read after the state, a
	// part of its output. It waits first as View.Until says.
	Observe(ctx context.Context, id string, v View) (Observation, error)
	// Input writes to the terminal of an execution.
	Input(ctx context.Context, id string, data []byte) error
	// Resize sets the size of the terminal of an execution.
	Resize(ctx context.Context, id string, rows, cols uint16) error
	// Kill ends the process tree of an execution, whatever is left of it. One
	// that was not yet claimed will not run.
	Kill(ctx context.Context, id string) error
	// List returns the executions whose ids begin with prefix, in no order;
	// running leaves out those that ended.
	List(ctx context.Context, prefix string, running bool) ([]Entry, error)
	// Remove removes the files of executions that ended.
	Remove(ctx context.Context, ids []string) error
}

// Hosted is a sandbox that brings a Host of its own.
type Hosted interface {
	sandbox.Sandbox
	JournalHost() Host
}

// Launch says what to start: a Spec that was checked.
type Launch struct {
	ID    string
	Shell string
	// Dir is absolute or relative to the sandbox's root.
	Dir        string
	Env        map[string]string
	TTY        bool
	Rows, Cols uint16
	Timeout    time.Duration
}

// Until says what an Observe waits for.
type Until int

// What an Observe can wait for.
const (
	UntilNow    Until = iota // nothing
	UntilOutput              // output beyond View.Offset, or the end
	UntilEnd                 // the end
)

// View says what an Observe returns.
type View struct {
	Offset int64
	// Max is how many bytes of output to return; 0 is none.
	Max   int
	Until Until
}

// Observation is what an Observe saw.
type Observation struct {
	// Exit holds the state, and how it ended if it did.
	Exit Exit
	// Data is the output from View.Offset on, Size how much there is in all.
	Data []byte
	Size int64
}

// Entry is one execution of a List.
type Entry struct {
	ID string
	// State is empty for one that was not claimed: it is just being launched, or
	// a crash ended its launch.
	State   State
	Started time.Time
}

// noTerminal is the error of input for a command without a terminal.
func noTerminal(backend, op string) error {
	return &sandbox.Error{
		Kind: sandbox.KindInvalid, Backend: backend, Op: op,
		Err: errors.New("the command has no terminal, its input is empty: start it with one to write to it"),
	}
}

// endedError is the error of input for a command that ended.
func endedError(backend, op string) error {
	return &sandbox.Error{Kind: sandbox.KindGone, Backend: backend, Op: op, Err: errors.New("the command has ended")}
}
