package transcript

import (
	"context"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// MarkInput is a line between two turns: a fork, a switch, a rewind.
type MarkInput struct {
	// Turn names it as a turn is named; Turn.Head is the commit before.
	Turn     protocol.TurnRef
	Item     protocol.Item
	Snapshot string
	Backend  string
}

// Mark commits a line between two turns and returns the new head. Doing it
// again returns the same.
func (t *Transcript) Mark(ctx context.Context, in MarkInput) (store.ID, error) {
	turn := in.Turn.TurnID
	head, done, err := t.committed(ctx, turn)
	if err != nil || done {
		return head, err
	}
	c, err := t.child(ctx, in.Turn)
	if err != nil {
		return "", fmt.Errorf("commit line %s: %w", turn, err)
	}
	c.Mark, c.Turns = true, in.Turn.Index
	c.Snapshot, c.Backend, c.Time = in.Snapshot, in.Backend, in.Item.Time
	c.Outcome = protocol.OutcomeDone
	c.Items = 1
	if c.Chunks, err = t.putChunks(ctx, []protocol.Item{in.Item}); err != nil {
		return "", fmt.Errorf("commit line %s: %w", turn, err)
	}
	if head, err = t.putCommit(ctx, c); err != nil {
		return "", fmt.Errorf("commit line %s: %w", turn, err)
	}
	if err := t.store.Set(ctx, store.Record{Key: commitKey(turn), Value: []byte(head)}); err != nil {
		return "", fmt.Errorf("commit line %s: %w", turn, err)
	}
	return head, nil
}

// child begins the commit that follows the head of a turn.
func (t *Transcript) child(ctx context.Context, turn protocol.TurnRef) (*Commit, error) {
	c := &Commit{Version: commitVersion, Parent: store.ID(turn.Head), Index: 1, Turn: turn.TurnID}
	if c.Parent == "" {
		return c, nil
	}
	parent, err := t.GetCommit(ctx, c.Parent)
	if err != nil {
		return nil, err
	}
	c.Index = parent.Index + 1
	c.SummaryAt = parent.SummaryAt
	c.Skip, c.SkipIndex, err = t.skipFrom(ctx, c.Parent, parent)
	return c, err
}

// TurnCount is how many turns there are from the beginning to this commit.
func (c *Commit) TurnCount() int {
	if c.Turns == 0 && !c.Mark {
		return c.Index // written before there were lines between turns
	}
	return c.Turns
}

// TurnAt returns the commit of the n-th turn, from 1, on the way from head to
// the beginning. ok is false if there is none.
func (t *Transcript) TurnAt(ctx context.Context, head store.ID, n int) (id store.ID, c *Commit, ok bool, err error) {
	for id = head; id != ""; {
		if c, err = t.GetCommit(ctx, id); err != nil {
			return "", nil, false, err
		}
		switch count := c.TurnCount(); {
		case count == n && !c.Mark:
			return id, c, true, nil
		case count < n:
			return "", nil, false, nil
		}
		next := c.Parent
		if c.Skip != "" {
			// Between them are no more turns than commits.
			skip, err := t.GetCommit(ctx, c.Skip)
			if err != nil {
				return "", nil, false, err
			}
			if skip.TurnCount() >= n {
				next = c.Skip
			}
		}
		id = next
	}
	return "", nil, false, nil
}
