package workflow

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// maxRewinds is how many rewinds can be taken back.
const maxRewinds = 20

func (a *agent) checkRewind(in protocol.RewindInput) error {
	if err := a.open(); err != nil {
		return err
	}
	switch in.What {
	case protocol.RewindBoth, protocol.RewindConversation, protocol.RewindFiles:
	default:
		if in.Undo == "" {
			return reject(protocol.ClassBadInput, "unknown kind of rewind %q", in.What)
		}
	}
	switch {
	case in.ID == "":
		return reject(protocol.ClassBadInput, "a rewind needs an id")
	case in.Undo != "" && a.rewound(in.Undo) < 0:
		return reject(protocol.ClassNotFound, "this rewind can't be taken back any more")
	case in.Undo == "" && in.What != protocol.RewindConversation && in.Snapshot == "":
		return reject(protocol.ClassBadInput, "no snapshot was taken at that turn: only the conversation can be rewound to it")
	}
	return nil
}

func (a *agent) rewound(id string) int {
	return slices.IndexFunc(a.s.Rewinds, func(r protocol.Rewound) bool { return r.ID == id })
}

// onRewind takes the session back. What is in the workspace is captured first,
// so that every rewind can be taken back.
func (a *agent) onRewind(ctx workflow.Context, in protocol.RewindInput) (protocol.Receipt, error) {
	var receipt protocol.Receipt
	err := a.inTurn(ctx, moving(ctx, "rewind", a.spot()), in.Stop, func(ctx workflow.Context) *protocol.Fault {
		var fault *protocol.Fault
		receipt, fault = a.rewind(ctx, in)
		return fault
	})
	return receipt, err
}

func (a *agent) rewind(ctx workflow.Context, in protocol.RewindInput) (protocol.Receipt, *protocol.Fault) {
	began := workflow.Now(ctx)
	back := false
	if in.Undo != "" {
		at := a.rewound(in.Undo)
		if at < 0 {
			return protocol.Receipt{}, &protocol.Fault{Class: protocol.ClassNotFound, Happened: "This rewind can't be taken back any more"}
		}
		r := a.s.Rewinds[at]
		in.What, in.Head, in.Turns, in.Snapshot = r.What, r.Head, r.Turns, r.Snapshot
		back = !r.Back
	}
	receipt := protocol.Receipt{
		What: "rewind", From: a.spot(), To: a.spot(), Snapshot: in.Snapshot, Turn: in.Turns,
		RewindWhat: in.What, Excluded: a.s.Snapshots.Exclude, Undo: in.ID, Back: back,
	}
	files := in.What != protocol.RewindConversation
	if a.s.Setup != nil {
		if fault := a.setUp(ctx); fault != nil {
			return receipt, fault
		}
	}
	if files && a.s.Sandbox == "" {
		return receipt, &protocol.Fault{Class: protocol.ClassBadInput, Happened: "The session has no files yet", Kept: "Nothing was changed."}
	}
	captured, fault := a.capture(ctx, files, files)
	if fault != nil && files {
		return receipt, fault
	}
	before := protocol.Rewound{ID: in.ID, What: in.What, Head: a.s.Head, Turns: a.s.Turns, Snapshot: a.s.Snapshot, At: began, Back: back}
	if files && captured != nil && in.Snapshot != "" {
		receipt.Kept = captured.Snapshot
		put, fault := a.putFiles(ctx, in.Snapshot, &captured.Captured)
		if fault != nil {
			return receipt, fault
		}
		tellPut(&receipt, put)
		a.s.Snapshot = in.Snapshot
	}
	if in.What != protocol.RewindFiles {
		a.s.Head, a.s.Turns, a.s.ContextTokens = in.Head, in.Turns, 0
	}
	if in.Undo != "" {
		a.s.Rewinds = slices.DeleteFunc(slices.Clone(a.s.Rewinds), func(r protocol.Rewound) bool { return r.ID == in.Undo })
	}
	a.keep(before)
	a.s.State, a.s.Fault = protocol.StateIdle, nil
	receipt.DurationMs = since(ctx, began)
	a.mark(ctx, protocol.NoticeItem{Code: "rewound", Text: rewoundText(in, back), Receipt: &receipt})
	return receipt, nil
}

// keep adds a state that can be gone back to; the oldest is let go of.
func (a *agent) keep(r protocol.Rewound) {
	list := append(slices.Clone(a.s.Rewinds), r)
	a.s.Rewinds = list[max(len(list)-maxRewinds, 0):]
	a.touch()
}

// putFiles makes the workspace equal to a snapshot; if that fails, to what it
// was.
func (a *agent) putFiles(ctx workflow.Context, snapshot string, current *protocol.Captured) (protocol.PlaceSnapshotResult, *protocol.Fault) {
	in := protocol.PlaceSnapshotInput{
		SessionID: a.s.ID, Place: a.place(), Snapshot: snapshot, From: a.s.Backend,
		Onto: protocol.OntoReplace, Current: current, Exclude: a.s.Snapshots.Exclude,
	}
	var put protocol.PlaceSnapshotResult
	fault := long(ctx, protocol.ActivityPlaceSnapshot, in, &put)
	if fault == nil {
		return put, nil
	}
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	in.Snapshot, in.Current = current.Snapshot, nil
	fault.Kept = "The files are as they were."
	if long(ctx, protocol.ActivityPlaceSnapshot, in, nil) != nil {
		fault.Kept = fmt.Sprintf("The files may be partly changed; all that was there is in snapshot %.12s.", current.Snapshot)
	}
	return put, fault
}

func rewoundText(in protocol.RewindInput, back bool) string {
	what := map[protocol.RewindWhat]string{
		protocol.RewindBoth: "Conversation and files", protocol.RewindConversation: "The conversation", protocol.RewindFiles: "The files",
	}[in.What]
	verb := "were"
	if in.What == protocol.RewindConversation {
		verb = "was"
	}
	switch {
	case in.Undo != "" && !back:
		return fmt.Sprintf("Done again: %s %s put back as before the undoing", lower(what), verb)
	case in.Undo != "":
		return fmt.Sprintf("Rewind taken back: %s %s put back as before it", lower(what), verb)
	case in.Turns == 0:
		return fmt.Sprintf("%s %s rewound to the beginning", what, verb)
	default:
		return fmt.Sprintf("%s %s rewound to the end of turn %d", what, verb, in.Turns)
	}
}

// lower begins a phrase with a small letter.
func lower(s string) string { return string(s[0]|0x20) + s[1:] }
