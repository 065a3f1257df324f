package activity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
)

// Limits of what is told of files that are not in a snapshot.
const (
	maxSkippedOfTurn = 20
	maxSkippedOfMove = 100
)

// CreateSandbox makes a sandbox beside the one that the session has.
func (a *Activities) CreateSandbox(ctx context.Context, in protocol.CreateSandboxInput) (protocol.PrepareSandboxResult, error) {
	defer alive(ctx)()
	out, err := a.Places.Create(ctx, in.SessionID, in.Place)
	return out, fail(ctx, err)
}

// CaptureSnapshot takes a snapshot of a workspace.
func (a *Activities) CaptureSnapshot(ctx context.Context, in protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
	defer alive(ctx)()
	out, err := a.captureSnapshot(ctx, in)
	return out, fail(ctx, err)
}

func (a *Activities) captureSnapshot(ctx context.Context, in protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
	var out protocol.CaptureSnapshotResult
	place, done, err := a.placeOf(ctx, in.SessionID, in.Place, in.Beside)
	if err != nil {
		return out, err
	}
	defer done()
	if in.Quiet {
		if err := place.Journal.KillAll(ctx, in.SessionID+"."); err != nil {
			return out, fmt.Errorf("end the session's commands: %w", err)
		}
	}
	captured, err := a.capture(ctx, in.SessionID, place, snapshot.CaptureOptions{
		Exclude: in.Policy.Exclude, Limits: snapshot.Limits{Whole: in.Policy.Whole}, Previous: store.ID(in.Previous),
	})
	if err != nil {
		return out, err
	}
	if captured.TooLarge != nil {
		out.Ask = captured.TooLarge
		return out, nil
	}
	out.Captured = protocol.Captured{Snapshot: string(captured.Root), Entries: captured.Files, Bytes: captured.Bytes}
	out.Changed = captured.Added + captured.Updated + captured.Removed
	out.Skipped, out.SkippedCount = first(captured.Skipped, maxSkippedOfTurn), len(captured.Skipped)
	return out, nil
}

// capture takes a snapshot, and tells who watches how far it is.
func (a *Activities) capture(ctx context.Context, session string, place *workplace.Place, o snapshot.CaptureOptions) (snapshot.Captured, error) {
	tree, err := place.Tree()
	if err != nil {
		return snapshot.Captured{}, err
	}
	progress := a.progress(session, "Capturing the files")
	defer progress.end()
	o.Index, o.Progress = a.Places.IndexFile(place), progress.tell
	captured, err := snapshot.Capture(ctx, tree, a.Snapshots, o)
	if err != nil {
		return captured, fmt.Errorf("capture the files: %w", err)
	}
	return captured, nil
}

// placeOf opens the session's place, or one beside it.
func (a *Activities) placeOf(ctx context.Context, session string, place protocol.Place, beside bool) (*workplace.Place, func(), error) {
	if !beside {
		opened, err := a.Places.Open(ctx, session, place)
		if sandbox.KindOf(err) == sandbox.KindGone {
			a.Places.Forget(session)
		}
		return opened, func() {}, err
	}
	opened, done, err := a.Places.Beside(ctx, session, place)
	if err != nil {
		return nil, nil, err
	}
	return opened, func() {
		if err := done(); err != nil {
			a.Log.Warn("a place was not closed", "session", session, "error", err)
		}
	}, nil
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// PlaceSnapshot makes a workspace equal to a snapshot. It may be cut off and
// done again: what is there is looked at anew each time.
func (a *Activities) PlaceSnapshot(ctx context.Context, in protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error) {
	defer alive(ctx)()
	out, err := a.placeSnapshot(ctx, in)
	return out, fail(ctx, err)
}

func (a *Activities) placeSnapshot(ctx context.Context, in protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error) {
	var out protocol.PlaceSnapshotResult
	if err := a.mayReplace(ctx, in); err != nil {
		return out, err
	}
	place, done, err := a.placeOf(ctx, in.SessionID, in.Place, in.Beside)
	if err != nil {
		return out, err
	}
	defer done()
	tree, err := place.Tree()
	if err != nil {
		return out, err
	}
	backend, err := a.Places.Backend(in.Place.Backend)
	if err != nil {
		return out, err
	}
	o := snapshot.RestoreOptions{
		OutsideLinks: in.From == in.Place.Backend, Trust: backend.Folders, Index: a.Places.IndexFile(place),
	}
	if in.Onto == protocol.OntoMerge {
		o.Mode = snapshot.Merge
	}
	if o.Current, err = a.current(ctx, in, place, tree); err != nil {
		return out, err
	}
	if in.Source != nil {
		source, done := a.source(ctx, in)
		defer done()
		o.Source = source
	}
	progress := a.progress(in.SessionID, "Writing the files")
	defer progress.end()
	o.Progress = progress.tell
	put, err := snapshot.Restore(ctx, tree, a.Snapshots, store.ID(in.Snapshot), o)
	if errors.Is(err, snapshot.ErrDiffers) {
		return out, &protocol.Fault{
			Class: protocol.ClassBusy, Happened: "Something else changes the files while they are put into place",
			Remedy: "Stop what watches or builds there, then try again.", Detail: err.Error(),
		}
	}
	if err != nil {
		return out, fmt.Errorf("write the files: %w", err)
	}
	return protocol.PlaceSnapshotResult{
		Files: put.Files, Bytes: put.Bytes, Written: put.Written, Removed: put.Removed,
		Skipped: first(put.Skipped, maxSkippedOfMove), SkippedCount: len(put.Skipped),
	}, nil
}

// mayReplace refuses to write over other files unless the user said so.
func (a *Activities) mayReplace(ctx context.Context, in protocol.PlaceSnapshotInput) error {
	if in.Onto != protocol.OntoEmpty || in.Current == nil || in.Current.Entries == 0 {
		return nil
	}
	same := true
	for change, err := range snapshot.Diff(ctx, a.Snapshots, store.ID(in.Current.Snapshot), store.ID(in.Snapshot)) {
		if err != nil {
			return fmt.Errorf("compare the folder: %w", err)
		}
		if !change.TimeOnly() {
			same = false
			break
		}
	}
	if same {
		return nil
	}
	return &protocol.Fault{
		Class: protocol.ClassOccupied, Happened: fmt.Sprintf("The folder %s holds other files already", in.Place.Workspace),
		Kept: "Nothing was changed.", Remedy: "Choose an empty folder, or say that its files are to be merged or replaced.",
	}
}

// errStop ends a comparison that has its answer.
var errStop = errors.New("stop")

// current captures what a workspace holds now; empty if that is nothing.
func (a *Activities) current(ctx context.Context, in protocol.PlaceSnapshotInput, place *workplace.Place, tree snapshot.Tree) (store.ID, error) {
	_, err := tree.List(ctx, in.Exclude, func(snapshot.Entry) error { return errStop })
	if err == nil {
		return "", nil
	}
	if !errors.Is(err, errStop) {
		return "", fmt.Errorf("look at the files: %w", err)
	}
	captured, err := a.capture(ctx, in.SessionID, place, snapshot.CaptureOptions{
		Exclude: in.Exclude, Limits: snapshot.Limits{Whole: true},
	})
	return captured.Root, err
}

// source opens the place where the same files may lie already. Without it they
// are read from the store.
func (a *Activities) source(ctx context.Context, in protocol.PlaceSnapshotInput) (snapshot.Source, func()) {
	backend, err := a.Places.Backend(in.Source.Backend)
	if err != nil || !backend.Folders || in.Place.Backend != in.Source.Backend {
		return nil, func() {}
	}
	place, done, err := a.placeOf(ctx, in.SessionID, *in.Source, true)
	if err != nil {
		return nil, func() {}
	}
	return place.Source(), done
}

// progressAfter is how long something may take before it is told of.
const progressAfter = 300 * time.Millisecond

// progress tells of long work.
type progress struct {
	a       *Activities
	session string
	text    string
	began   time.Time
	told    bool
}

func (a *Activities) progress(session, text string) *progress {
	return &progress{a: a, session: session, text: text, began: a.Now()}
}

func (p *progress) tell(at snapshot.Progress) {
	if p.a.Now().Sub(p.began) < progressAfter {
		return
	}
	p.told = true
	done, total := int64(at.Files), int64(at.FilesTotal)
	if at.BytesTotal > 0 {
		done, total = at.Bytes, at.BytesTotal
	}
	p.publish(protocol.Progress{Done: done, Total: total})
}

func (p *progress) end() {
	if p.told {
		p.publish(protocol.Progress{End: true})
	}
}

func (p *progress) publish(event protocol.Progress) {
	event.ID, event.Text = "files-"+p.session, p.text
	p.a.Events.Publish(protocol.Event{Type: protocol.EventProgress, SessionID: p.session, Progress: &event})
}
