package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
)

// checker finds out whether what an archive holds is what the app itself could
// have made: the rest of the app trusts what is in the store.
type checker struct {
	store         Store
	conversations *transcript.Transcript
	held          *reach.Set // what the archive holds

	snapshots []store.ID
	contents  map[content]bool // of files that were read
}

// content is what a snapshot says of a file's content.
type content struct {
	sum    [32]byte
	size   int64
	chunks store.ID
}

func (c *checker) check(ctx context.Context, head Head) error {
	if err := c.commits(ctx, head); err != nil {
		return err
	}
	reached := 0
	finder := &reach.Finder{Transcript: c.conversations, Objects: c.store}
	err := finder.Session(ctx, recordOf(head), reach.NewSet(), func(o reach.Object) error {
		if o.Err != nil {
			return unfit(o.What, o.Err)
		}
		// It may be in the store all the same: then this file would be taken here
		// and nowhere else.
		if !c.held.Has(o.ID) {
			return fmt.Errorf("%w: %s is not in it", ErrInvalid, o.What)
		}
		reached++
		return nil
	})
	if err != nil {
		return err
	}
	if reached != c.held.Len() {
		return fmt.Errorf("%w: it has parts that belong to nothing", ErrInvalid)
	}
	c.snapshots = append(c.snapshots, head.Snapshot)
	slices.Sort(c.snapshots)
	for _, id := range slices.Compact(c.snapshots) {
		if id == "" {
			continue
		}
		if err := c.files(ctx, id); err != nil {
			return unfit("a snapshot", err)
		}
	}
	return nil
}

// link is what a commit says of others.
type link struct {
	id                   store.ID
	index, turns, summed int
	skip                 store.ID
	skipIndex            int
}

// commits checks the conversation. It can't bite its tail, because each commit is
// named by its hash, but it could lie about its length and about who is where.
func (c *checker) commits(ctx context.Context, head Head) error {
	var chain []link // the last one first
	for id := head.Commit; id != ""; {
		if !c.held.Has(id) {
			return fmt.Errorf("%w: a turn is not in it", ErrInvalid)
		}
		commit, err := c.conversations.GetCommit(ctx, id)
		if err != nil {
			return unfit("a turn", err)
		}
		chain = append(chain, link{
			id: id, index: commit.Index, turns: commit.TurnCount(), summed: commit.SummaryAt, skip: commit.Skip, skipIndex: commit.SkipIndex,
		})
		if err := c.items(ctx, commit); err != nil {
			return err
		}
		c.snapshots = append(c.snapshots, store.ID(commit.Base), store.ID(commit.Snapshot))
		id = commit.Parent
	}
	if len(chain) > 0 && chain[0].turns != head.Turns {
		return fmt.Errorf("%w: it has not as many turns as it says", ErrInvalid)
	}
	slices.Reverse(chain)
	before := link{}
	for i, l := range chain {
		skips := l.skip == "" && l.skipIndex == 0 ||
			l.skipIndex >= 1 && l.skipIndex <= i && chain[l.skipIndex-1].id == l.skip
		if !skips || l.index != i+1 || l.turns < before.turns || l.turns > l.index || l.summed != before.summed && l.summed != l.index {
			return fmt.Errorf("%w: its turns are out of order", ErrInvalid)
		}
		before = l
	}
	return nil
}

// items checks the items of a commit.
func (c *checker) items(ctx context.Context, commit *transcript.Commit) error {
	count, last := 0, -1
	for _, chunk := range commit.Chunks {
		// First what is used to make room for them.
		data, err := c.store.Get(ctx, chunk.ID)
		if err != nil {
			return unfit("a part of a turn", err)
		}
		if chunk.Bytes != len(data) || chunk.Count < 1 || chunk.Count > len(data) {
			return fmt.Errorf("%w: a turn is not as long as it says", ErrInvalid)
		}
		items, err := c.conversations.CommitItems(ctx, &transcript.Commit{Chunks: []transcript.Chunk{chunk}})
		if err != nil {
			return unfit("a part of a turn", err)
		}
		if len(items) != chunk.Count || items[0].Seq != chunk.First || items[len(items)-1].Seq != chunk.Last {
			return fmt.Errorf("%w: a turn is not as long as it says", ErrInvalid)
		}
		for i := range items {
			if items[i].Seq <= last || !whole(&items[i]) {
				return fmt.Errorf("%w: a turn is not in order", ErrInvalid)
			}
			last = items[i].Seq
			if n := items[i].Notice; n != nil && n.Receipt != nil {
				c.snapshots = append(c.snapshots, store.ID(n.Receipt.Snapshot), store.ID(n.Receipt.Kept))
			}
		}
		count += len(items)
	}
	if count != commit.Items {
		return fmt.Errorf("%w: a turn is not as long as it says", ErrInvalid)
	}
	return nil
}

// whole tells whether an item has the part that its kind names. Who reads it
// looks at the kind alone.
func whole(i *protocol.Item) bool {
	switch i.Kind {
	case protocol.KindUser:
		return i.User != nil
	case protocol.KindAssistant:
		return i.Assistant != nil
	case protocol.KindReasoning:
		return i.Reasoning != nil
	case protocol.KindTool:
		return i.Tool != nil
	case protocol.KindNotice:
		return i.Notice != nil
	case protocol.KindFault:
		return i.Fault != nil
	case protocol.KindSummary:
		return i.Summary != nil
	case protocol.KindTurnEnd:
		return i.TurnEnd != nil
	}
	return false
}

// files checks a snapshot as a whole, and reads the files in it, but for contents
// that were read already: a restore must not find out half way.
func (c *checker) files(ctx context.Context, id store.ID) error {
	m, err := snapshot.Load(ctx, c.store, id)
	if err != nil {
		return err
	}
	for f, err := range m.Walk(ctx) {
		if err != nil {
			return err
		}
		key := content{sum: f.Sum, size: f.Size, chunks: f.Chunks}
		if f.Kind != snapshot.KindFile || c.contents[key] {
			continue
		}
		r, err := m.Open(ctx, f)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return err
		}
		c.contents[key] = true
	}
	return nil
}

// unfit is what is wrong with a part of the archive.
func unfit(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrInvalid, what, err)
}
