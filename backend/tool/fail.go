package tool

import (
	"context"
	"errors"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// failed is the outcome of a call that could not do what was asked.
func failed(format string, args ...any) Outcome {
	return Outcome{
		Status: protocol.ToolFailed,
		Result: protocol.ToolResult{Output: fmt.Sprintf(format, args...)},
	}
}

// broken tells whether err is a failure of the sandbox or of the run itself,
// which the caller has to deal with. Everything else (no such file, not
// allowed, …) is news for the model.
func broken(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch sandbox.KindOf(err) {
	case sandbox.KindDenied, sandbox.KindEscape, sandbox.KindNotFound, sandbox.KindExists,
		sandbox.KindInvalid, sandbox.KindTooLarge, sandbox.KindReadOnly:
		return false
	default: // gone, unavailable, no space, timeout, transport, or unknown
		return true
	}
}

// because says in a few words why a sandbox refused.
func because(err error) string {
	switch sandbox.KindOf(err) {
	case sandbox.KindDenied:
		return "permission denied"
	case sandbox.KindEscape:
		return "it leads out of the workspace"
	case sandbox.KindNotFound:
		return "there is no such file or folder"
	case sandbox.KindExists:
		return "something of that name exists"
	case sandbox.KindTooLarge:
		return "it is too large"
	case sandbox.KindReadOnly:
		return "the workspace can't be written"
	case sandbox.KindNoSpace:
		return "the disk is full"
	}
	if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}
