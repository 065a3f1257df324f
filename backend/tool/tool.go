// Package tool holds the tools that the agent has, one file each, with the
// text that tells the model about it beside it. A tool judges what a call
// would do (Assess) and does it (Run); it knows nothing of models, workflows
// or windows.
package tool

import (
	"context"
	"encoding/json"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// Tool is one tool.
type Tool interface {
	Name() string
	// Description and Schema (a JSON schema of the arguments) are what the
	// model is told.
	Description() string
	Schema() json.RawMessage
	// Assess judges a call before it runs. It returns an error, whose text the
	// model can act on, when the arguments can't be used.
	Assess(args json.RawMessage, env Env) (protocol.Ask, error)
	// Run does it. What goes wrong in the doing is a Result with ToolFailed and
	// a text for the model; an error means that the sandbox failed. When ctx
	// ends, Run returns its error and leaves a command running: the next Run
	// under the same call id finds it again, or the caller kills it because the
	// user stopped the turn.
	Run(ctx context.Context, call Call) (Outcome, error)
}

// Env is what a tool may know of where it runs.
type Env struct {
	Backend  string
	Root     string
	Confined bool
}

// Call is one call to run.
type Call struct {
	// ID is unique over all sessions, the same when the call is run again after
	// a crash, and the command's call id in the journal. It is the session's
	// id, a dot, and what is unique in the session: letters, digits, "-" and
	// "_", which the model meets as the id of a running command.
	ID      string
	Args    json.RawMessage
	Env     Env
	Sandbox sandbox.Sandbox
	Journal Commands
	// Live gets output while it comes; may be nil. Offset counts the bytes that
	// this call has shown before.
	Live func(offset int64, data []byte)
	// Seen tells how many bytes of a command's output the model has been given:
	// the largest OutputBytes of the conversation's results whose Log is log, 0
	// if there is none. What was not recorded was not seen, so that a crash may
	// show output twice but loses none. Nil is 0.
	Seen func(ctx context.Context, log string) (int64, error)
}

// Commands runs journalled commands; journal.Journal is one.
type Commands interface {
	// Start runs a command or finds the one with the same call id.
	Start(ctx context.Context, spec journal.Spec) (journal.Command, error)
	// Find finds a command that was started; it fails with sandbox.KindNotFound.
	Find(ctx context.Context, callID string) (journal.Command, error)
}

// Outcome is how a call ended.
type Outcome struct {
	Status protocol.ToolStatus
	Result protocol.ToolResult
	// Image is a picture for the model; the caller stores it.
	Image     []byte
	ImageMIME string
}
