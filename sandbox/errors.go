package sandbox

import (
	"errors"
	"fmt"
)

// Kind classifies an Error.
type Kind string

// The kinds of errors.
const (
	KindGone        Kind = "gone"        // the sandbox no longer exists
	KindUnavailable Kind = "unavailable" // no engine, no key: Remedy tells what to do
	KindDenied      Kind = "denied"      // not allowed by the system
	KindEscape      Kind = "escape"      // the path leads out of the workspace
	KindNotFound    Kind = "not_found"   // no such file, folder or program
	KindExists      Kind = "exists"
	KindInvalid     Kind = "invalid" // the request makes no sense
	KindTooLarge    Kind = "too_large"
	KindNoSpace     Kind = "no_space"  // the disk is full
	KindReadOnly    Kind = "read_only" // the workspace can't be written
	KindTimeout     Kind = "timeout"   // the backend did not answer in time
	KindTransport   Kind = "transport" // the connection to the backend failed
)

// Error is an error of a sandbox, classified once where it happened.
type Error struct {
	Kind    Kind
	Backend string
	// Op is what was being done ("start command", "read a.txt").
	Op string
	// Remedy is what the user can do; empty if there is nothing.
	Remedy string
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s: %s", e.Backend, e.Op, e.Kind)
	}
	return fmt.Sprintf("%s: %s: %v", e.Backend, e.Op, e.Err)
}

// Unwrap implements errors.Unwrap.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first Error in err's tree, or "".
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
