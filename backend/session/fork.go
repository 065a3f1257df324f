package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/workplace"
)

// Fork makes a session that goes on where another was, or is, with its files
// on any backend. It returns when they are in place. If they can't be put
// there, the new session is removed again.
func (s *Service) Fork(ctx context.Context, request protocol.ForkRequest) (protocol.ForkResult, error) {
	record, err := s.Get(ctx, request.ID)
	if err != nil {
		return protocol.ForkResult{}, err
	}
	if request.NewID == "" {
		request.NewID = NewID()
	}
	from, err := s.forkPoint(ctx, record, request)
	if err != nil {
		return protocol.ForkResult{}, err
	}
	place, err := s.target(request.NewID, record.Title, request.Target)
	if err != nil {
		return protocol.ForkResult{}, err
	}
	in := protocol.ForkInput{
		ID: request.NewID, Parent: record.ID, Title: request.Title, Base: record.Title,
		OtherPlace: place.Backend != record.Backend,
		Place:      place, Options: record.Options, Snapshots: record.Snapshots,
		Setup: protocol.Setup{
			Snapshot: from.Snapshot, Source: from.Place, Onto: request.Target.Onto,
			What: "fork", From: protocol.Spot{Backend: record.Backend, Workspace: record.Workspace},
			Turn: from.Turns, Title: record.Title,
		},
		Head: from.Head, Turns: from.Turns,
	}
	if request.FilesOnly {
		in.Head, in.Turns, in.Setup.What = "", 0, "new"
	}
	return s.begin(ctx, in)
}

// begin makes a session from a fork's input and waits until its files are in
// place.
func (s *Service) begin(ctx context.Context, in protocol.ForkInput) (protocol.ForkResult, error) {
	var entry protocol.RegistryEntry
	if err := s.manage(ctx, protocol.UpdateFork, "fork-"+in.ID, in, &entry); err != nil {
		return protocol.ForkResult{}, err
	}
	record, err := s.awaitSetup(ctx, entry.ID)
	if err != nil {
		return protocol.ForkResult{}, err
	}
	if record.Setup != nil {
		fault := record.Fault
		if record.Held != "" {
			return protocol.ForkResult{}, fault // only it knows what the folder held
		}
		if err := s.Destroy(ctx, record.ID, true); err != nil {
			s.Log.Warn("a fork that could not be set up is still there", "session", record.ID, "error", err)
		}
		return protocol.ForkResult{}, fault
	}
	receipt, err := s.lastReceipt(ctx, record)
	return protocol.ForkResult{Session: record, Receipt: receipt}, err
}

// Begin makes a session whose conversation and files are in the store already:
// an import. It returns as Fork does.
func (s *Service) Begin(ctx context.Context, in protocol.ForkInput, target protocol.Target) (protocol.ForkResult, error) {
	if in.ID == "" {
		in.ID = NewID()
	}
	var err error
	if in.Place, err = s.target(in.ID, in.Title, target); err != nil {
		return protocol.ForkResult{}, err
	}
	if !in.Options.Approve.Valid() {
		in.Options.Approve = protocol.ApproveRisky
	}
	return s.begin(ctx, in)
}

// Checkpoint captures a session's files between two turns and returns its
// record with them. During a turn it is the record as the last turn left it.
func (s *Service) Checkpoint(ctx context.Context, id string) (protocol.Session, error) {
	record, err := s.Get(ctx, id)
	if err != nil {
		return record, err
	}
	if record.Turn != nil {
		if record.Head == "" {
			record.Snapshot = ""
			return record, nil
		}
		c, err := s.Transcript.GetCommit(ctx, store.ID(record.Head))
		if err != nil {
			return record, storeFault("read the last turn", err)
		}
		record.Snapshot = c.Snapshot
		return record, nil
	}
	in := protocol.CheckpointInput{ID: NewID()}
	var out protocol.CheckpointResult
	err = s.updateWithin(ctx, longPatience, protocol.AgentID(id), protocol.UpdateCheckpoint, "checkpoint-"+in.ID, in, &out)
	record.Head, record.Turns, record.Snapshot = out.Head, out.Turns, out.Snapshot
	return record, err
}

// awaitRecord is how long a new session may take to have a record.
const awaitRecord = time.Minute

// awaitSetup waits until a new session's files are in place, or can't be put
// there.
func (s *Service) awaitSetup(ctx context.Context, id string) (protocol.Session, error) {
	pause, seen, began := 3*time.Millisecond, false, time.Now()
	for {
		record, err := s.Transcript.Session(ctx, id)
		seen = seen || err == nil
		switch {
		case err != nil && isNotFound(err) && (seen || time.Since(began) > awaitRecord):
			return record, &protocol.Fault{Class: protocol.ClassNotFound, Happened: "The new session was destroyed while its files were put into place"}
		case err == nil && (record.Setup == nil && record.Moving == nil || record.Setup != nil && record.Fault != nil):
			return record, nil
		case err != nil && !errors.Is(err, store.ErrNotFound) && !isNotFound(err):
			return record, storeFault("read the new session", err)
		}
		select {
		case <-ctx.Done():
			return record, faultOf("wait for the new session", ctx.Err())
		case <-time.After(pause):
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

func isNotFound(err error) bool {
	fault, ok := errors.AsType[*protocol.Fault](err)
	return ok && fault.Class == protocol.ClassNotFound
}

// lastReceipt is that of the last line in the conversation.
func (s *Service) lastReceipt(ctx context.Context, record protocol.Session) (protocol.Receipt, error) {
	page, err := s.Transcript.Page(ctx, record, "", 1)
	if err != nil {
		return protocol.Receipt{}, storeFault("read the receipt", err)
	}
	for _, item := range page.Items {
		if item.Notice != nil && item.Notice.Receipt != nil {
			return *item.Notice.Receipt, nil
		}
	}
	return protocol.Receipt{}, nil
}

// forkPoint finds out from where a session is forked: a turn that is over, or
// its state of now, which is captured.
func (s *Service) forkPoint(ctx context.Context, record protocol.Session, request protocol.ForkRequest) (protocol.CheckpointResult, error) {
	switch {
	case request.Turn != "":
		return s.turnPoint(ctx, record, request.Turn)
	case record.Turn != nil && request.When == protocol.WhenLast:
		if record.Head == "" {
			return protocol.CheckpointResult{}, &protocol.Fault{
				Class: protocol.ClassBusy, Happened: "The first turn is still under way: there is nothing to fork from yet",
				Remedy: "Wait for its end.",
			}
		}
		c, err := s.Transcript.GetCommit(ctx, store.ID(record.Head))
		if err != nil {
			return protocol.CheckpointResult{}, storeFault("read the last turn", err)
		}
		return point(record, record.Head, c.TurnCount(), c.Snapshot), nil
	case record.Turn != nil && request.When != protocol.WhenEnd:
		return protocol.CheckpointResult{}, &protocol.Fault{
			Class: protocol.ClassBusy, Happened: "A turn is under way",
			Remedy: "Fork from the last turn that is over, or wait for the end of this one.",
		}
	}
	var out protocol.CheckpointResult
	in := protocol.CheckpointInput{ID: request.NewID}
	err := s.updateWithin(ctx, longPatience, protocol.AgentID(record.ID), protocol.UpdateCheckpoint, "checkpoint-"+in.ID, in, &out)
	return out, err
}

// turnPoint is the state at the end of a turn.
func (s *Service) turnPoint(ctx context.Context, record protocol.Session, turn string) (protocol.CheckpointResult, error) {
	id, c, ok, err := s.Transcript.FindTurn(ctx, store.ID(record.Head), turn)
	if err != nil {
		return protocol.CheckpointResult{}, storeFault("find the turn", err)
	}
	if !ok {
		return protocol.CheckpointResult{}, &protocol.Fault{
			Class: protocol.ClassNotFound, Happened: "This turn is not part of the conversation, or is not over yet",
		}
	}
	return point(record, string(id), c.TurnCount(), c.Snapshot), nil
}

func point(record protocol.Session, head string, turns int, snapshot string) protocol.CheckpointResult {
	return protocol.CheckpointResult{
		Head: head, Turns: turns, Snapshot: snapshot,
		Place: protocol.Place{Backend: record.Backend, Workspace: record.Workspace, Image: record.Image, Sandbox: record.Sandbox},
	}
}

// TurnID returns the id of the n-th turn of a session.
func (s *Service) TurnID(ctx context.Context, id string, n int) (string, error) {
	record, err := s.Get(ctx, id)
	if err != nil {
		return "", err
	}
	_, c, ok, err := s.Transcript.TurnAt(ctx, store.ID(record.Head), n)
	if err != nil {
		return "", storeFault("find the turn", err)
	}
	if !ok {
		return "", &protocol.Fault{Class: protocol.ClassNotFound, Happened: fmt.Sprintf("There is no turn %d: the session has %d", n, record.Turns)}
	}
	return c.Turn, nil
}

// settle checks a place by what its backend can do, and fills in the image.
func (s *Service) settle(backend workplace.Backend, place *protocol.Place) error {
	if place.Workspace != "" && !backend.Folders {
		return &protocol.Fault{
			Class: protocol.ClassBadInput, Happened: "Only the local backend works in a folder of yours", Remedy: "Leave the folder out.",
		}
	}
	if backend.Image == "" {
		place.Image = ""
	} else if place.Image == "" {
		place.Image = s.Defaults.SessionDefaults().DockerImage
	}
	return nil
}

// target makes a place of what the user chose; key makes the name of a fresh
// folder its own.
func (s *Service) target(key, title string, t protocol.Target) (protocol.Place, error) {
	place := protocol.Place{Backend: t.Backend, Workspace: t.Workspace, Image: t.Image}
	if place.Backend == "" {
		place.Backend = "local"
	}
	backend, err := s.Places.Backend(place.Backend)
	if err != nil {
		return place, err
	}
	if err := s.settle(backend, &place); err != nil {
		return place, err
	}
	if place.Workspace == "" {
		place.Folder = folderName(key, title, time.Now())
	}
	return place, nil
}
