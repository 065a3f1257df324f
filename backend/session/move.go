package session

import (
	"context"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Switch moves a session to another place with its files. It returns when it
// has moved, or with why it stayed where it was.
func (s *Service) Switch(ctx context.Context, request protocol.SwitchRequest) (protocol.Receipt, error) {
	record, err := s.Get(ctx, request.ID)
	if err != nil {
		return protocol.Receipt{}, err
	}
	if err := betweenTurns(record, request.When); err != nil {
		return protocol.Receipt{}, err
	}
	in := protocol.SwitchInput{ID: NewID(), Onto: request.Target.Onto, Stop: request.When == protocol.WhenStop}
	if in.Place, err = s.target(in.ID, record.Title, request.Target); err != nil {
		return protocol.Receipt{}, err
	}
	if in.Stop && record.Turn != nil {
		if err := s.Stop(ctx, record.ID); err != nil {
			return protocol.Receipt{}, err
		}
	}
	var receipt protocol.Receipt
	err = s.updateWithin(ctx, longPatience, protocol.AgentID(record.ID), protocol.UpdateSwitchBackend, "switch-"+in.ID, in, &receipt)
	return receipt, err
}

// betweenTurns refuses what the user did not say how to do during a turn.
func betweenTurns(record protocol.Session, when protocol.When) error {
	if record.Turn == nil || when == protocol.WhenEnd || when == protocol.WhenStop {
		return nil
	}
	return &protocol.Fault{
		Class: protocol.ClassBusy, Happened: "A turn is under way", Kept: "Nothing was changed.",
		Remedy: "Do it after the turn's end, or stop the turn first.",
	}
}

// Rewind takes a session back to the end of a turn, or takes a rewind back.
func (s *Service) Rewind(ctx context.Context, request protocol.RewindRequest) (protocol.Receipt, error) {
	record, err := s.Get(ctx, request.ID)
	if err != nil {
		return protocol.Receipt{}, err
	}
	if err := betweenTurns(record, request.When); err != nil {
		return protocol.Receipt{}, err
	}
	in := protocol.RewindInput{ID: NewID(), What: request.What, Stop: request.When == protocol.WhenStop, Undo: request.Undo}
	if in.What == "" {
		in.What = protocol.RewindBoth
	}
	if in.Undo == "" {
		if err := s.rewindTo(ctx, record, request.Turn, &in); err != nil {
			return protocol.Receipt{}, err
		}
	}
	if in.Stop && record.Turn != nil {
		if err := s.Stop(ctx, record.ID); err != nil {
			return protocol.Receipt{}, err
		}
	}
	var receipt protocol.Receipt
	err = s.updateWithin(ctx, longPatience, protocol.AgentID(record.ID), protocol.UpdateRewind, "rewind-"+in.ID, in, &receipt)
	return receipt, err
}

// rewindTo fills in where a rewind goes back to.
func (s *Service) rewindTo(ctx context.Context, record protocol.Session, turn string, in *protocol.RewindInput) error {
	if turn != "" {
		at, err := s.turnPoint(ctx, record, turn)
		in.Head, in.Turns, in.Snapshot = at.Head, at.Turns, at.Snapshot
		return err
	}
	base, err := s.beginning(ctx, record)
	in.Snapshot = base
	return err
}

// beginning is the snapshot from before a session's first turn; empty if none
// was taken.
func (s *Service) beginning(ctx context.Context, record protocol.Session) (string, error) {
	_, c, ok, err := s.Transcript.Ancestor(ctx, store.ID(record.Head), 1)
	switch {
	case err != nil:
		return "", storeFault("read the beginning", err)
	case !ok:
		return record.Snapshot, nil
	case c.Mark:
		return c.Snapshot, nil
	}
	return c.Base, nil
}

// SetSnapshots chooses what a session's snapshots hold.
func (s *Service) SetSnapshots(ctx context.Context, id string, policy protocol.SnapshotPolicy) error {
	return s.update(ctx, protocol.AgentID(id), protocol.UpdateSetSnapshots, "snapshots-"+NewID(), policy, nil)
}

// maxTurns is how many turns a list to choose from has.
const maxTurns = 500

// Turns lists the turns of a session, the newest first, at most 500.
func (s *Service) Turns(ctx context.Context, id string) ([]protocol.Turn, error) {
	record, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	turns := []protocol.Turn{}
	for at := store.ID(record.Head); at != "" && len(turns) < maxTurns; {
		c, err := s.Transcript.GetCommit(ctx, at)
		if err != nil {
			return nil, storeFault("list the turns", err)
		}
		at = c.Parent
		if c.Mark {
			continue
		}
		turn := protocol.Turn{
			ID: c.Turn, Index: c.TurnCount(), Time: c.Time, Outcome: c.Outcome,
			Snapshot: c.Snapshot, Changed: c.Base != "" && c.Base != c.Snapshot,
		}
		items, err := s.Transcript.CommitItems(ctx, c)
		if err != nil {
			return nil, storeFault("list the turns", err)
		}
		for _, item := range items {
			if item.User != nil {
				turn.Title = preview(item.User.Text)
				break
			}
		}
		turns = append(turns, turn)
	}
	return turns, nil
}
