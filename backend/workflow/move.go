package workflow

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// move is something that is done with the session as a whole, between two
// turns: a checkpoint for a fork, a switch, a rewind. The handler of its update
// waits until the main loop has done it.
type move struct {
	run   func(ctx workflow.Context) *protocol.Fault
	done  bool
	fault *protocol.Fault
}

// inTurn queues a move and waits for its end. A turn under way is stopped first,
// or ends before.
func (a *agent) inTurn(ctx workflow.Context, tell *protocol.Moving, stop bool, run func(workflow.Context) *protocol.Fault) error {
	m := &move{run: func(ctx workflow.Context) *protocol.Fault {
		if tell != nil {
			tell.Waits = false
			a.s.Moving = tell
			a.touch()
		}
		return run(ctx)
	}}
	a.moves = append(a.moves, m)
	if a.s.Turn != nil {
		if stop {
			a.interrupt(protocol.Interrupt{})
		}
		if tell != nil {
			tell.Waits = true
			a.s.Moving = tell
			a.touch()
		}
	}
	if err := workflow.Await(ctx, func() bool { return m.done }); err != nil {
		return err
	}
	if m.fault != nil {
		return refuse(m.fault)
	}
	return nil
}

// move does the next move.
func (a *agent) move(ctx workflow.Context) {
	m := a.moves[0]
	a.moves = slices.Clone(a.moves[1:])
	a.stoppable(ctx, func(ctx workflow.Context) { m.fault = m.run(ctx) })
	a.s.Moving = nil
	a.touch()
	m.done = true
}

// stoppable runs what Stop and the end of the session cut off.
func (a *agent) stoppable(ctx workflow.Context, run func(workflow.Context)) {
	working, stop := workflow.WithCancel(ctx)
	defer stop()
	outer := a.stopMove
	a.stopMove = stop
	run(working)
	a.stopMove = outer
}

// dropMoves answers the moves that will not be done: the session ends.
func (a *agent) dropMoves() {
	for _, m := range a.moves {
		m.fault = &protocol.Fault{Class: protocol.ClassNotFound, Happened: "This session has ended"}
		m.done = true
	}
	a.moves = nil
}

// refuse makes a Fault the error of a command.
func refuse(fault *protocol.Fault) error {
	return temporal.NewApplicationErrorWithOptions(fault.Happened, string(fault.Class), temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{fault},
	})
}

// moving tells who watches what is going on.
func moving(ctx workflow.Context, what string, to protocol.Spot) *protocol.Moving {
	return &protocol.Moving{What: what, To: to, Since: workflow.Now(ctx)}
}

// mark writes a line into the conversation between two turns. The session does
// not fail if it can't: the line only tells.
func (a *agent) mark(ctx workflow.Context, notice protocol.NoticeItem) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx) // it tells of a stopped move, too
	defer cancel()
	a.s.Serial++
	var out protocol.CommitTurnResult
	err := untilDone(ctx, protocol.ActivityCommitMark, protocol.CommitMarkInput{
		Turn:     a.ref(),
		Notice:   notice,
		Snapshot: a.s.Snapshot,
		Backend:  a.s.Backend,
	}, &out)
	if err != nil {
		workflow.GetLogger(ctx).Warn("a line of the conversation was not written", "session", a.s.ID, "error", err)
		return
	}
	a.s.Head = out.Head
	a.s.Updated = workflow.Now(ctx)
	a.touch()
}

// since is how long ago something was, in milliseconds.
func since(ctx workflow.Context, began time.Time) int64 {
	return max(workflow.Now(ctx).Sub(began), 0).Milliseconds() // the clock may have been set back
}

func (a *agent) checkCheckpoint(in protocol.CheckpointInput) error {
	if len(in.Keep) > maxNote {
		return reject(protocol.ClassBadInput, "the line is longer than %d bytes", maxNote)
	}
	return a.open()
}

// onCheckpoint captures the files between two turns, for a fork.
func (a *agent) onCheckpoint(ctx workflow.Context, in protocol.CheckpointInput) (protocol.CheckpointResult, error) {
	var out protocol.CheckpointResult
	err := a.inTurn(ctx, nil, false, func(ctx workflow.Context) *protocol.Fault {
		if a.s.Setup != nil {
			if fault := a.setUp(ctx); fault != nil {
				return fault
			}
		}
		if _, fault := a.capture(ctx, false, true); fault != nil {
			return fault
		}
		if in.Keep != "" {
			a.keep(protocol.Rewound{
				ID: in.ID, What: protocol.RewindFiles, Head: a.s.Head, Turns: a.s.Turns, Snapshot: a.s.Snapshot, At: workflow.Now(ctx),
			})
			a.mark(ctx, protocol.NoticeItem{Code: "reverted", Text: in.Keep, Receipt: &protocol.Receipt{
				What: "revert", From: a.spot(), To: a.spot(), Kept: a.s.Snapshot, Undo: in.ID, Turn: a.s.Turns, RewindWhat: protocol.RewindFiles,
			}})
		}
		out = protocol.CheckpointResult{
			Head: a.s.Head, Turns: a.s.Turns, Snapshot: a.s.Snapshot, Usage: a.s.Usage,
			Place: a.place(), Workspace: a.s.Workspace,
		}
		return nil
	})
	return out, err
}

// maxExclude bounds what one session leaves out of its snapshots.
const maxExclude = 200

func (a *agent) checkSetSnapshots(p protocol.SnapshotPolicy) error {
	if err := a.open(); err != nil {
		return err
	}
	size := 0
	for _, e := range p.Exclude {
		size += len(e)
		if !protocol.ValidExclude(e) {
			return reject(protocol.ClassBadInput, "%q can't be left out: name a folder or file relative to the workspace", e)
		}
	}
	if len(p.Exclude) > maxExclude || size > 16<<10 {
		return reject(protocol.ClassBadInput, "too many folders to leave out: at most %d", maxExclude)
	}
	return nil
}

// onSetSnapshots takes the user's choice; a snapshot is taken when there is time
// for it.
func (a *agent) onSetSnapshots(_ workflow.Context, p protocol.SnapshotPolicy) error {
	a.s.Snapshots = p
	a.s.SnapshotAsk = nil
	a.touch()
	if !p.Off {
		a.moves = append(a.moves, &move{run: func(ctx workflow.Context) *protocol.Fault {
			_, fault := a.capture(ctx, false, false)
			return fault
		}})
	}
	return nil
}
