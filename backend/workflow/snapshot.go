package workflow

import (
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// changeSnapshots names the change with which turns began to take snapshots. A
// run that is older goes on without until it continues as new.
const changeSnapshots = "snapshots"

// changePublish names the change with which a record that could not be
// projected is projected later, instead of never again in that run.
const changePublish = "publish-again"

// long runs an activity that may take long and can be done again from the
// beginning, through restarts of the app and short failures. What is worth
// waiting for longer is the caller's to decide.
func long(ctx workflow.Context, name string, in, out any) *protocol.Fault {
	lost := 0
	for tries := 1; ; {
		err := once(ctx, name, in, out)
		if err == nil {
			return nil
		}
		fault := faultOf(err)
		switch {
		case fault.Class == protocol.ClassHostLost:
			if lost++; lost >= maxHostLost {
				return fault
			}
			continue
		case !fault.Class.Transient() || tries >= maxLong:
			return fault
		}
		if err := workflow.Sleep(ctx, backoff(tries)); err != nil {
			return faultOf(err)
		}
		tries++
	}
}

// maxLong bounds tries of what fails in passing: somebody waits for the answer.
const maxLong = 4

// capture takes a snapshot of the session's workspace. The policy may forbid
// it: then the result is nil without a fault. With wanted it is taken all the
// same, because the user asked for what can't be had without.
func (a *agent) capture(ctx workflow.Context, quiet, wanted bool) (*protocol.CaptureSnapshotResult, *protocol.Fault) {
	if a.s.Sandbox == "" || a.s.Snapshots.Off && !wanted {
		return nil, nil
	}
	var out protocol.CaptureSnapshotResult
	fault := long(ctx, protocol.ActivityCaptureSnapshot, protocol.CaptureSnapshotInput{
		SessionID: a.s.ID,
		Place:     a.place(),
		Policy:    a.s.Snapshots,
		Previous:  a.s.Snapshot,
		Quiet:     quiet,
	}, &out)
	if fault != nil {
		return nil, fault
	}
	if out.Ask != nil {
		a.s.SnapshotAsk = out.Ask
		a.touch()
		return nil, &protocol.Fault{
			Class:    protocol.ClassBadInput,
			Happened: "The workspace is too large for a snapshot as it is",
			Kept:     "Nothing was changed.",
			Remedy:   "Choose what to leave out, or that all of it is to be captured.",
		}
	}
	if a.s.Snapshot != out.Snapshot || a.s.SnapshotAsk != nil {
		a.s.Snapshot, a.s.SnapshotAsk = out.Snapshot, nil
		a.touch() // at once: what no record names may be swept
	}
	return &out, nil
}

// captureBase takes a snapshot of what the turn begins with, beside the first
// call of the model: before anything changes the files, it is waited for.
func (t *turn) captureBase(ctx workflow.Context) {
	if !t.snapshots {
		return
	}
	t.capturing = true
	workflow.Go(ctx, func(ctx workflow.Context) {
		out, fault := t.capture(ctx, false, false)
		if out != nil {
			t.base = out.Snapshot
		}
		t.noBase = fault
		t.capturing = false
	})
}

// awaitBase waits for the snapshot of the beginning.
func (t *turn) awaitBase(ctx workflow.Context) *protocol.Fault {
	if err := workflow.Await(ctx, func() bool { return !t.capturing }); err != nil {
		return faultOf(err)
	}
	return nil
}

// captureEnd takes the snapshot that belongs to the turn's commit. A turn does
// not fail for want of one.
func (t *turn) captureEnd(ctx workflow.Context, in *protocol.CommitTurnInput) {
	if !t.snapshots {
		return
	}
	if t.awaitBase(ctx) != nil {
		return
	}
	in.Base = t.base
	if !t.acted && t.base != "" {
		// Nothing that the agent did can have changed a file since.
		in.Snapshot = t.base
		return
	}
	var out *protocol.CaptureSnapshotResult
	var fault *protocol.Fault
	t.stoppable(ctx, func(ctx workflow.Context) { out, fault = t.capture(ctx, false, false) })
	if out == nil {
		in.NoSnapshot = fault
		return
	}
	in.Snapshot, in.Changed, in.Skipped = out.Snapshot, out.Changed, out.Skipped
	if t.base == "" {
		in.Changed = 0 // against nothing, or what an earlier turn left
		in.NoSnapshot = t.noBase
	}
}
