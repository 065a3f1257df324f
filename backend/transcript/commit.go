package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// commitVersion is the version of the form below.
const commitVersion = 1

// chunkBytes is how much JSON of items one object holds at most (one item
// alone may be more): a page of a long turn reads one, not the turn.
const chunkBytes = 512 << 10

// Commit is a turn that ended. It never changes; sessions and forks share it.
type Commit struct {
	Version int `json:"version"`
	// Parent is the commit before, empty for the first turn.
	Parent store.ID `json:"parent,omitempty"`
	// Skip is an ancestor further back: any ancestor is found in a number of
	// reads that grows with the logarithm of the distance.
	Skip      store.ID `json:"skip,omitempty"`
	SkipIndex int      `json:"skipIndex,omitempty"`
	// Index is the place in the conversation, from 1.
	Index int `json:"index"`
	// Turn is the id of the turn; SessionOfTurn tells who made it.
	Turn string `json:"turn"`
	// Mark is true for a line between two turns; Turns counts the turns up to
	// here. See TurnCount.
	Mark   bool    `json:"mark,omitempty"`
	Turns  int     `json:"turns,omitempty"`
	Chunks []Chunk `json:"chunks"`
	Items  int     `json:"items"`
	// SummaryAt is the index of the last commit, this one included, that holds
	// a summary: the model sees nothing before it. 0 if there is none.
	SummaryAt int `json:"summaryAt,omitempty"`
	// Snapshot is the store id of the files after the turn, empty when none
	// was taken.
	Snapshot string `json:"snapshot,omitempty"`
	// Base is the store id of the files before it, empty when none was taken.
	Base     string           `json:"base,omitempty"`
	Usage    protocol.Usage   `json:"usage"`
	Provider string           `json:"provider,omitempty"`
	Model    string           `json:"model,omitempty"`
	Backend  string           `json:"backend,omitempty"`
	Outcome  protocol.Outcome `json:"outcome"`
	Time     time.Time        `json:"time"`
}

// Chunk is an object that holds items of one commit, as a JSON array.
type Chunk struct {
	ID    store.ID `json:"id"`
	Count int      `json:"count"`
	Bytes int      `json:"bytes"`
	// First and Last are the sequence numbers of its first and last item.
	First int `json:"first"`
	Last  int `json:"last"`
}

// CommitInput says how a turn ended.
type CommitInput struct {
	Turn protocol.TurnRef
	// End is written as the turn's last item if the turn has no such item yet.
	End protocol.TurnEndItem
	// Time is when the turn ended. A repeated commit gives the same one.
	Time time.Time
}

// Commit closes a turn: its items become immutable, and the id of the commit
// is the new head. Closing a turn again, also after a crash in the middle of
// it, returns the id of the first time.
func (t *Transcript) Commit(ctx context.Context, in CommitInput) (store.ID, error) {
	turn := in.Turn.TurnID
	head, done, err := t.committed(ctx, turn)
	if err != nil {
		return "", err
	}
	if !done {
		if head, err = t.commit(ctx, in); err != nil {
			return "", fmt.Errorf("commit turn %s: %w", turn, err)
		}
		if err := t.store.Set(ctx, store.Record{Key: commitKey(turn), Value: []byte(head)}); err != nil {
			return "", fmt.Errorf("commit turn %s: %w", turn, err)
		}
	}
	// From here on the commit is what counts; what is left of the records is
	// removed by whoever comes by.
	if err := t.store.Delete(ctx, turnKey(turn)); err != nil {
		return "", fmt.Errorf("commit turn %s: %w", turn, err)
	}
	t.open.remove(turn)
	// The turn is safe; whether it is found by a search already is not worth an
	// error, and the next time catches up.
	_ = t.catchUp(ctx, indexAtCommit)
	return head, nil
}

func (t *Transcript) commit(ctx context.Context, in CommitInput) (store.ID, error) {
	c, err := t.child(ctx, in.Turn)
	if err != nil {
		return "", err
	}
	c.Turns = in.Turn.Index
	c.Snapshot, c.Base, c.Usage = in.End.Snapshot, in.End.Base, in.End.Usage
	c.Provider, c.Model, c.Backend = in.End.Provider, in.End.Model, in.End.Backend
	c.Outcome, c.Time = in.End.Outcome, in.Time.UTC()
	items, err := t.closedItems(ctx, in)
	if err != nil {
		return "", err
	}
	c.Items = len(items)
	for _, i := range items {
		if i.Kind == protocol.KindSummary {
			c.SummaryAt = c.Index
		}
	}
	if c.Chunks, err = t.putChunks(ctx, items); err != nil {
		return "", err
	}
	return t.putCommit(ctx, c)
}

func (t *Transcript) putCommit(ctx context.Context, c *Commit) (store.ID, error) {
	content, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	id, err := t.store.Put(ctx, content)
	if err != nil {
		return "", err
	}
	t.commits.add(id, c, 1)
	return id, nil
}

// closedItems are the items of the turn with its end, which is written first,
// so that a commit that is cut off and repeated has the same.
func (t *Transcript) closedItems(ctx context.Context, in CommitInput) ([]protocol.Item, error) {
	turn := in.Turn.TurnID
	items, err := t.OpenItems(ctx, turn)
	if err != nil {
		return nil, err
	}
	next := 0
	if n := len(items); n > 0 {
		if items[n-1].Kind == protocol.KindTurnEnd {
			return items, nil
		}
		next = items[n-1].Seq + 1
	}
	end := in.End
	item := protocol.Item{
		ID: ItemID(turn, next), Turn: turn, Seq: next,
		Kind: protocol.KindTurnEnd, Time: in.Time.UTC(), TurnEnd: &end,
	}
	if err := t.Write(ctx, in.Turn, item); err != nil {
		return nil, err
	}
	return append(items, item), nil
}

// putChunks stores the items in pieces.
func (t *Transcript) putChunks(ctx context.Context, items []protocol.Item) ([]Chunk, error) {
	var (
		chunks []Chunk
		buf    []byte
		from   int
	)
	flush := func(to int) error {
		if from == to {
			return nil
		}
		buf = append(buf, ']')
		id, err := t.store.Put(ctx, buf)
		if err != nil {
			return err
		}
		chunks = append(chunks, Chunk{
			ID: id, Count: to - from, Bytes: len(buf),
			First: items[from].Seq, Last: items[to-1].Seq,
		})
		// The turn that just ended is what the next one reads.
		t.chunks.add(id, items[from:to:to], len(buf))
		buf, from = buf[:0], to
		return nil
	}
	for i := range items {
		one, err := json.Marshal(items[i])
		if err != nil {
			return nil, err
		}
		if len(buf)+len(one)+2 > chunkBytes {
			if err := flush(i); err != nil {
				return nil, err
			}
		}
		if len(buf) == 0 {
			buf = append(buf, '[')
		} else {
			buf = append(buf, ',')
		}
		buf = append(buf, one...)
	}
	return chunks, flush(len(items))
}

// skipFrom chooses the skip pointer of a child of parent: where the parent's
// two last jumps are equally long, one jump over both (the skew-binary list of
// Myers), else the parent itself.
func (t *Transcript) skipFrom(ctx context.Context, id store.ID, parent *Commit) (store.ID, int, error) {
	if parent.Skip == "" {
		return id, parent.Index, nil
	}
	over, err := t.GetCommit(ctx, parent.Skip)
	if err != nil {
		return "", 0, err
	}
	if over.Skip != "" && parent.Index-over.Index == over.Index-over.SkipIndex {
		return over.Skip, over.SkipIndex, nil
	}
	return id, parent.Index, nil
}
