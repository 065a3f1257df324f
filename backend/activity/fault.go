package activity

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/sandbox"
)

// fail turns an error into what the engine carries: an application error that
// is typed by its class and holds the Fault. It is never retried by the
// engine: the workflow decides, where it can be seen.
//
// An activity that ends because the process is being closed reports nothing:
// it stays started, and the next start of the app completes it as lost.
func fail(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && closing(ctx):
		return activity.ErrResultPending
	case ctx.Err() != nil:
		return temporal.NewCanceledError()
	}
	fault := classify(err)
	return temporal.NewApplicationErrorWithOptions(fault.Happened, string(fault.Class), temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Details:      []any{fault},
	})
}

// classify makes a Fault of any error, once.
func classify(err error) *protocol.Fault {
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		return sandboxFault(e)
	}
	detail := err.Error()
	switch {
	case errors.Is(err, store.ErrNoSpace), errors.Is(err, syscall.ENOSPC):
		return &protocol.Fault{
			Class: protocol.ClassDiskFull, Happened: "The disk is full", Detail: detail,
			Kept: "What was saved before is kept.", Remedy: "Free some space, then retry.",
		}
	case errors.Is(err, store.ErrCorrupt):
		return &protocol.Fault{
			Class: protocol.ClassInternal, Happened: "A part of this session's stored data is damaged", Detail: detail,
			Kept: "Other sessions are not affected.", Remedy: "Restore the data folder from a backup, or start a new session.",
		}
	case errors.Is(err, fs.ErrPermission):
		return &protocol.Fault{
			Class: protocol.ClassWorkspace, Happened: "A file or folder may not be used", Detail: detail,
			Remedy: "Check its permissions, then retry.",
		}
	default:
		return &protocol.Fault{
			Class: protocol.ClassInternal, Happened: "Something inside the app failed", Detail: detail,
			Kept: "The conversation is kept.", Remedy: "Retry; if it happens again, please report it with the detail.",
		}
	}
}

// sandboxFault says a sandbox's error in the user's words.
func sandboxFault(e *sandbox.Error) *protocol.Fault {
	fault := &protocol.Fault{
		Class: protocol.ClassInternal, Happened: "The sandbox failed", Detail: e.Error(),
		Kept: "The conversation is kept.", Remedy: e.Remedy,
	}
	set := func(class protocol.Class, happened, remedy string) {
		fault.Class, fault.Happened = class, happened
		if fault.Remedy == "" {
			fault.Remedy = remedy
		}
	}
	switch e.Kind {
	case sandbox.KindGone:
		set(protocol.ClassSandboxGone, "The workspace is gone", "Put the folder back and retry, or start a new session.")
	case sandbox.KindUnavailable:
		// A sandbox is there (to make one is another matter: see openNew), but not
		// to be reached.
		set(protocol.ClassBackendDown, "The backend of this session can't be reached now", "Start it: the turn then goes on by itself.")
	case sandbox.KindReadOnly, sandbox.KindDenied:
		set(protocol.ClassWorkspace, "The workspace can't be written", "Check the folder's permissions, then retry.")
	case sandbox.KindNotFound:
		set(protocol.ClassWorkspace, "The workspace was not found", "Check that the folder exists, then retry.")
	case sandbox.KindNoSpace:
		set(protocol.ClassDiskFull, "The disk is full", "Free some space, then retry.")
	case sandbox.KindTimeout, sandbox.KindTransport:
		set(protocol.ClassConnection, "The connection to the backend was lost", "It is tried again by itself.")
	case sandbox.KindEscape, sandbox.KindInvalid, sandbox.KindExists, sandbox.KindTooLarge:
		set(protocol.ClassBadInput, "This workspace can't be used as asked", "Choose another folder.")
	}
	return fault
}
