package workflow

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

func (a *agent) checkSwitch(in protocol.SwitchInput) error {
	if err := a.open(); err != nil {
		return err
	}
	switch {
	case in.ID == "":
		return reject(protocol.ClassBadInput, "a switch needs an id")
	case in.Place.Backend == "":
		return reject(protocol.ClassBadInput, "a switch needs a backend")
	case in.Place.Workspace != "" && in.Place.Backend == a.s.Backend && in.Place.Workspace == a.s.Workspace:
		return reject(protocol.ClassBadInput, "the session works in %s already", a.s.Workspace)
	}
	return nil
}

// onSwitch moves the session to another place, with its files.
func (a *agent) onSwitch(ctx workflow.Context, in protocol.SwitchInput) (protocol.Receipt, error) {
	to := protocol.Spot{Backend: in.Place.Backend, Workspace: in.Place.Workspace}
	var receipt protocol.Receipt
	err := a.inTurn(ctx, moving(ctx, "switch", to), in.Stop, func(ctx workflow.Context) *protocol.Fault {
		var fault *protocol.Fault
		receipt, fault = a.switchTo(ctx, in)
		if fault != nil {
			a.mark(ctx, failedSwitch(receipt, fault))
		}
		return fault
	})
	return receipt, err
}

func failedSwitch(receipt protocol.Receipt, fault *protocol.Fault) protocol.NoticeItem {
	receipt.Fault = fault
	return protocol.NoticeItem{
		Code: "switch_failed", Text: fmt.Sprintf("Stayed on %s: the switch to %s failed", receipt.From.Backend, receipt.To.Backend),
		Detail: fault.Error(), Receipt: &receipt,
	}
}

// switchTo captures the files, puts them into the new place, and only then
// moves. Until then the session is where it was, whatever happens.
func (a *agent) switchTo(ctx workflow.Context, in protocol.SwitchInput) (protocol.Receipt, *protocol.Fault) {
	began := workflow.Now(ctx)
	receipt := protocol.Receipt{
		What: "switch", From: a.spot(), Turn: a.s.Turns,
		To:       protocol.Spot{Backend: in.Place.Backend, Workspace: in.Place.Workspace},
		Excluded: a.s.Snapshots.Exclude,
	}
	if a.s.Setup != nil {
		if fault := a.setUp(ctx); fault != nil {
			return receipt, fault
		}
	}
	captured, fault := a.capture(ctx, true, true)
	if fault != nil {
		return receipt, fault
	}
	old, owned := a.place(), a.s.OwnWorkspace
	source := &old
	if captured == nil { // it never had a sandbox
		source = nil
	}
	arrived, fault := a.arrive(ctx, arrival{
		place: in.Place, onto: in.Onto, snapshot: a.s.Snapshot, from: a.s.Backend, source: source, receipt: &receipt,
	})
	if fault != nil {
		return receipt, fault
	}
	a.flip(arrived)
	receipt.To = a.spot()
	receipt.Snapshot = a.s.Snapshot
	receipt.DurationMs = since(ctx, began)
	if captured != nil {
		addSkipped(&receipt, captured.Skipped, captured.SkippedCount)
	}
	// What was not captured is nowhere else: its place then stays.
	receipt.Left = owned && (len(receipt.Excluded) > 0 || captured != nil && captured.SkippedCount > 0)
	a.mark(ctx, protocol.NoticeItem{
		Code: "switched", Text: fmt.Sprintf("Switched from %s to %s", receipt.From.Backend, receipt.To.Backend), Receipt: &receipt,
	})
	a.s.Held = ""
	if receipt.Left {
		a.s.Left = append(slices.Clone(a.s.Left), old)
		a.touch()
	}
	if old.Sandbox != "" {
		a.release(ctx, old, owned && !receipt.Left)
	}
	return receipt, nil
}

// flip makes a place the session's own.
func (a *agent) flip(p protocol.Place) {
	a.s.Backend, a.s.Workspace, a.s.Folder, a.s.Image, a.s.Sandbox = p.Backend, p.Workspace, p.Folder, p.Image, p.Sandbox
	a.s.OwnWorkspace, a.s.Confined = a.arrived.OwnWorkspace, a.arrived.Confined
	a.touch()
}

// release lets go of a place that the session left. What can't be removed now
// is left to the sweep of orphans.
func (a *agent) release(ctx workflow.Context, place protocol.Place, owned bool) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	err := untilDone(ctx, protocol.ActivityReleaseSandbox, protocol.ReleaseSandboxInput{
		SessionID: a.s.ID, Place: place, RemoveWorkspace: owned, Moved: true,
	}, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the place that was left is not released", "session", a.s.ID, "error", err)
	}
}

func (a *agent) spot() protocol.Spot {
	return protocol.Spot{Backend: a.s.Backend, Workspace: a.s.Workspace}
}

// nested tells whether two real paths are the same, or one lies in the other.
func nested(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// arrival is a tree on its way to a new place.
type arrival struct {
	place    protocol.Place
	onto     protocol.Onto
	snapshot string
	from     string
	source   *protocol.Place
	receipt  *protocol.Receipt
}

// arrive makes a sandbox and puts a tree into it. If that fails, the place is
// again as it was, or gone if it was made here.
func (a *agent) arrive(ctx workflow.Context, v arrival) (protocol.Place, *protocol.Fault) {
	place := v.place
	var made protocol.PrepareSandboxResult
	if fault := long(ctx, protocol.ActivityCreateSandbox, protocol.CreateSandboxInput{SessionID: a.s.ID, Place: place}, &made); fault != nil {
		return place, fault
	}
	a.arrived = made
	place.Sandbox, place.Workspace = made.Sandbox, made.Workspace
	if place.Backend == a.s.Backend && !a.s.Confined && !made.Confined && a.s.Sandbox != "" && nested(place.Workspace, a.s.Workspace) {
		return place, &protocol.Fault{
			Class: protocol.ClassBadInput, Happened: fmt.Sprintf("The folder %s is, holds or lies in the one that the session works in", place.Workspace),
			Kept: "Nothing was changed.", Remedy: "Choose another folder.",
		}
	}
	v.receipt.To.Workspace = made.Workspace
	if v.snapshot == "" {
		return place, nil // there are no files yet
	}
	var current *protocol.Captured
	if !made.OwnWorkspace {
		var fault *protocol.Fault
		if current, fault = a.captureTarget(ctx, place); fault != nil {
			a.release(ctx, place, false)
			return place, fault
		}
		if current.Entries > 0 {
			v.receipt.Kept = current.Snapshot
			a.s.Held = current.Snapshot // until a line of the conversation names it
			a.touch()
		}
	}
	var put protocol.PlaceSnapshotResult
	in := protocol.PlaceSnapshotInput{
		SessionID: a.s.ID, Place: place, Snapshot: v.snapshot, From: v.from, Source: v.source,
		Onto: v.onto, Current: current, Exclude: a.s.Snapshots.Exclude, Beside: true,
	}
	if fault := long(ctx, protocol.ActivityPlaceSnapshot, in, &put); fault != nil {
		a.putBack(ctx, place, made, current, fault)
		return place, fault
	}
	tellPut(v.receipt, put)
	return place, nil
}

func tellPut(receipt *protocol.Receipt, put protocol.PlaceSnapshotResult) {
	receipt.Files, receipt.Bytes = put.Files, put.Bytes
	receipt.Written, receipt.Removed = put.Written, put.Removed
	addSkipped(receipt, put.Skipped, put.SkippedCount)
}

func addSkipped(receipt *protocol.Receipt, skipped []protocol.Skipped, count int) {
	receipt.Skipped = append(receipt.Skipped, skipped...)
	receipt.SkippedCount += max(count, len(skipped))
}

// captureTarget captures what a folder holds before something is put there.
func (a *agent) captureTarget(ctx workflow.Context, place protocol.Place) (*protocol.Captured, *protocol.Fault) {
	var out protocol.CaptureSnapshotResult
	fault := long(ctx, protocol.ActivityCaptureSnapshot, protocol.CaptureSnapshotInput{
		SessionID: a.s.ID, Place: place, Beside: true,
		Policy: protocol.SnapshotPolicy{Exclude: a.s.Snapshots.Exclude},
	}, &out)
	if fault != nil {
		return nil, fault
	}
	if out.Ask != nil {
		return nil, &protocol.Fault{
			Class:    protocol.ClassBadInput,
			Happened: fmt.Sprintf("The folder %s holds too much to be kept safe: %d files", place.Workspace, out.Ask.Files),
			Kept:     "Nothing was changed.",
			Remedy:   "Choose an empty folder.",
		}
	}
	return &out.Captured, nil
}

// putBack makes a place as it was after a failure.
func (a *agent) putBack(ctx workflow.Context, place protocol.Place, made protocol.PrepareSandboxResult, current *protocol.Captured, fault *protocol.Fault) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if current != nil && fault.Class != protocol.ClassOccupied { // that is found before anything is written
		back := protocol.PlaceSnapshotInput{
			SessionID: a.s.ID, Place: place, Snapshot: current.Snapshot, From: place.Backend,
			Onto: protocol.OntoReplace, Current: nil, Exclude: a.s.Snapshots.Exclude, Beside: true,
		}
		if err := long(ctx, protocol.ActivityPlaceSnapshot, back, nil); err != nil {
			a.release(ctx, place, false)
			fault.Kept = fmt.Sprintf("The session is where it was. What %s held before is in snapshot %.12s.", place.Workspace, current.Snapshot)
			return
		}
	}
	a.s.Held = ""
	a.touch()
	a.release(ctx, place, made.OwnWorkspace)
}
