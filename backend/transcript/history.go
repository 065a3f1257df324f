package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// GetCommit reads a commit. It is shared: do not change it. A commit of a newer
// form is a *protocol.Fault of ClassIncompatible.
func (t *Transcript) GetCommit(ctx context.Context, id store.ID) (*Commit, error) {
	if c, ok := t.commits.get(id); ok {
		return c, nil
	}
	content, err := t.store.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	c := &Commit{}
	if err := json.Unmarshal(content, c); err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	if c.Version > commitVersion {
		return nil, &protocol.Fault{
			Class:    protocol.ClassIncompatible,
			Happened: "This conversation was written by a newer version of the app.",
			Kept:     "Nothing was changed.",
			Remedy:   "Install the newer version to go on with it.",
			Detail:   fmt.Sprintf("commit %s has version %d, this app knows %d", id, c.Version, commitVersion),
		}
	}
	if c.Version < 1 || c.Index < 1 {
		return nil, fmt.Errorf("read commit %s: not a commit: %w", id, store.ErrCorrupt)
	}
	t.commits.add(id, c, 1)
	return c, nil
}

// CommitItems reads all items of a commit. They are shared: do not change what
// they point to.
func (t *Transcript) CommitItems(ctx context.Context, c *Commit) ([]protocol.Item, error) {
	if len(c.Chunks) == 1 {
		items, err := t.chunkItems(ctx, c.Chunks[0])
		return slices.Clip(items), err
	}
	items := make([]protocol.Item, 0, c.Items)
	for _, chunk := range c.Chunks {
		part, err := t.chunkItems(ctx, chunk)
		if err != nil {
			return nil, err
		}
		items = append(items, part...)
	}
	return items, nil
}

func (t *Transcript) chunkItems(ctx context.Context, chunk Chunk) ([]protocol.Item, error) {
	if items, ok := t.chunks.get(chunk.ID); ok {
		return items, nil
	}
	content, err := t.store.Get(ctx, chunk.ID)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	items := make([]protocol.Item, 0, chunk.Count)
	if err := json.Unmarshal(content, &items); err != nil {
		return nil, fmt.Errorf("read items %s: %w", chunk.ID, err)
	}
	t.chunks.add(chunk.ID, items, chunk.Bytes)
	return items, nil
}

// Ancestor returns the commit with the given index on the way from head to the
// root, head itself included. ok is false if head is not that far.
func (t *Transcript) Ancestor(ctx context.Context, head store.ID, index int) (id store.ID, c *Commit, ok bool, err error) {
	for id = head; id != ""; {
		if c, err = t.GetCommit(ctx, id); err != nil {
			return "", nil, false, err
		}
		switch {
		case c.Index == index:
			return id, c, true, nil
		case c.Index < index:
			return "", nil, false, nil
		case c.Skip != "" && c.SkipIndex >= index:
			id = c.Skip
		default:
			id = c.Parent
		}
	}
	return "", nil, false, nil
}

// FindTurn returns the commit of a turn that is on the way from head to the
// root. ok is false if it is not there.
func (t *Transcript) FindTurn(ctx context.Context, head store.ID, turn string) (id store.ID, c *Commit, ok bool, err error) {
	id, known, err := t.committed(ctx, turn)
	if err != nil {
		return "", nil, false, err
	}
	if known {
		if c, err = t.GetCommit(ctx, id); err != nil {
			return "", nil, false, err
		}
		at, _, found, err := t.Ancestor(ctx, head, c.Index)
		return id, c, found && at == id, err
	}
	// The session that made it may be gone, with its records: walk.
	for id = head; id != ""; id = c.Parent {
		if c, err = t.GetCommit(ctx, id); err != nil {
			return "", nil, false, err
		}
		if c.Turn == turn {
			return id, c, true, nil
		}
	}
	return "", nil, false, nil
}

// Load returns what the model may see: the items since the last summary, that
// one included, up to the turn under way (empty for none). They are shared: do
// not change what they point to.
func (t *Transcript) Load(ctx context.Context, head store.ID, turn string) ([]protocol.Item, error) {
	var open []protocol.Item
	if turn != "" {
		var err error
		if open, err = t.OpenItems(ctx, turn); err != nil {
			return nil, err
		}
	}
	if at := lastSummary(open); at >= 0 || head == "" {
		return open[max(at, 0):], nil
	}
	c, err := t.GetCommit(ctx, head)
	if err != nil {
		return nil, err
	}
	parts := [][]protocol.Item{open}
	for stop := c.SummaryAt; ; {
		items, err := t.CommitItems(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.Index == stop {
			parts = append(parts, items[max(lastSummary(items), 0):])
			break
		}
		parts = append(parts, items)
		if c.Parent == "" {
			break
		}
		if c, err = t.GetCommit(ctx, c.Parent); err != nil {
			return nil, err
		}
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

func lastSummary(items []protocol.Item) int {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind == protocol.KindSummary {
			return i
		}
	}
	return -1
}
