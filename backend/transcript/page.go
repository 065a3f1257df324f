package transcript

import (
	"context"
	"fmt"
	"slices"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Bounds of a page.
const (
	defaultPage = 200
	maxPage     = 1000
	// pageBytes ends a page early: it travels to the window as one message.
	pageBytes = 1 << 20
)

// Page returns the items before the item named by before (empty: the newest
// ones), oldest first, at most limit (0: 200, never above 1,000) and about
// 1 MiB. Page.Before gets the page before. An item's id stays a good cursor
// when its turn is committed. The providers' own forms are left out.
//
// A cursor into a turn that is not part of this conversation is a
// *protocol.Fault of ClassNotFound.
func (t *Transcript) Page(ctx context.Context, session protocol.Session, before string, limit int) (protocol.Page, error) {
	if limit <= 0 {
		limit = defaultPage
	}
	p := pager{t: t, room: min(limit, maxPage), bytes: pageBytes}
	if err := p.read(ctx, session, before); err != nil {
		return protocol.Page{}, fmt.Errorf("read the conversation of session %s: %w", session.ID, err)
	}
	page := protocol.Page{Items: p.items, Session: session}
	if page.Items == nil {
		page.Items = []protocol.Item{}
	}
	slices.Reverse(page.Items)
	if p.more && len(page.Items) > 0 {
		page.Before = page.Items[0].ID
	}
	return page, nil
}

// pager collects items backwards.
type pager struct {
	t     *Transcript
	room  int
	bytes int
	items []protocol.Item // the newest first
	more  bool
}

func (p *pager) read(ctx context.Context, session protocol.Session, before string) error {
	head, open, err := p.t.tip(ctx, session)
	if err != nil {
		return err
	}
	if before == "" {
		if !p.take(open) {
			return nil
		}
		return p.walk(ctx, head, -1)
	}
	turn, seq, ok := splitItemID(before)
	if !ok {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: "This is not a place in a conversation.", Detail: before}
	}
	if len(open) > 0 && open[0].Turn == turn {
		if !p.take(beforeSeq(open, seq)) {
			return nil
		}
		return p.walk(ctx, head, -1)
	}
	// The record may be older than the cursor: its turn was begun, or
	// committed, since.
	id, ok, err := p.t.committedOn(ctx, head, turn)
	if err != nil {
		return err
	}
	if !ok && SessionOfTurn(turn) == session.ID {
		if open, err = p.t.OpenItems(ctx, turn); err != nil {
			return err
		}
		if len(open) > 0 {
			if !p.take(beforeSeq(open, seq)) {
				return nil
			}
			return p.walk(ctx, head, -1)
		}
	}
	if !ok {
		if id, _, ok, err = p.t.FindTurn(ctx, head, turn); err != nil {
			return err
		}
	}
	if !ok {
		return &protocol.Fault{
			Class:    protocol.ClassNotFound,
			Happened: "This part of the conversation is not there any more.",
			Remedy:   "Read it again from its end.",
			Detail:   before,
		}
	}
	return p.walk(ctx, id, seq)
}

// walk takes the items of the commit head that come before seq (all if
// negative), and then its ancestors', until there is no room.
func (p *pager) walk(ctx context.Context, head store.ID, seq int) error {
	for id := head; id != ""; seq = -1 {
		c, err := p.t.GetCommit(ctx, id)
		if err != nil {
			return err
		}
		for _, chunk := range slices.Backward(c.Chunks) {
			if seq >= 0 && chunk.First >= seq {
				continue
			}
			items, err := p.t.chunkItems(ctx, chunk)
			if err != nil {
				return err
			}
			if seq >= 0 {
				items = beforeSeq(items, seq)
			}
			if !p.take(items) {
				return nil
			}
		}
		id = c.Parent
	}
	return nil
}

// take adds items from the end. It returns false, and there is more, once an
// item finds no room.
func (p *pager) take(items []protocol.Item) bool {
	for i := len(items) - 1; i >= 0; i-- {
		size := itemBytes(&items[i])
		if len(p.items) > 0 && (p.room < 1 || p.bytes < size) {
			p.more = true
			return false
		}
		p.room--
		p.bytes -= size
		p.items = append(p.items, withoutRaw(items[i]))
	}
	return true
}

// tip returns where the conversation of a session ends: the head and the items
// of the turn under way. The record may be a moment old: its turn may have
// been committed since.
func (t *Transcript) tip(ctx context.Context, session protocol.Session) (store.ID, []protocol.Item, error) {
	head := store.ID(session.Head)
	if session.Turn == nil {
		return head, nil, nil
	}
	// First the items, then whether they are still what counts.
	open, err := t.OpenItems(ctx, session.Turn.ID)
	if err != nil {
		return "", nil, err
	}
	id, done, err := t.committed(ctx, session.Turn.ID)
	if err != nil {
		return "", nil, err
	}
	if done {
		return id, nil, nil
	}
	return head, open, nil
}

// committedOn returns the commit of turn if it is on one line with head: before
// it, or after it.
func (t *Transcript) committedOn(ctx context.Context, head store.ID, turn string) (store.ID, bool, error) {
	id, ok, err := t.committed(ctx, turn)
	if err != nil || !ok || head == "" {
		return id, ok, err
	}
	mine, err := t.GetCommit(ctx, id)
	if err != nil {
		return "", false, err
	}
	base, err := t.GetCommit(ctx, head)
	if err != nil {
		return "", false, err
	}
	older, newest := id, head
	if mine.Index > base.Index {
		older, newest = head, id
	}
	at, _, ok, err := t.Ancestor(ctx, newest, min(mine.Index, base.Index))
	return id, ok && at == older, err
}

func beforeSeq(items []protocol.Item, seq int) []protocol.Item {
	at, _ := slices.BinarySearchFunc(items, seq, func(i protocol.Item, seq int) int { return i.Seq - seq })
	return items[:at]
}

// withoutRaw is the item without what only the provider can read.
func withoutRaw(i protocol.Item) protocol.Item {
	switch {
	case i.Assistant != nil && i.Assistant.Raw != nil:
		part := *i.Assistant
		part.Raw = nil
		i.Assistant = &part
	case i.Reasoning != nil && i.Reasoning.Raw != nil:
		part := *i.Reasoning
		part.Raw = nil
		i.Reasoning = &part
	case i.Tool != nil && i.Tool.Raw != nil:
		part := *i.Tool
		part.Raw = nil
		i.Tool = &part
	}
	return i
}

// itemBytes is about how large the item is for the window.
func itemBytes(i *protocol.Item) int {
	n := 300
	switch {
	case i.User != nil:
		n += len(i.User.Text)
	case i.Assistant != nil:
		n += len(i.Assistant.Text)
	case i.Reasoning != nil:
		n += len(i.Reasoning.Summary)
	case i.Tool != nil:
		n += len(i.Tool.Args) + len(i.Tool.Ask.Detail) + len(i.Tool.Result.Output) + len(i.Tool.Result.Display)
		for _, c := range i.Tool.Result.Changes {
			n += len(c.Diff)
		}
	case i.Notice != nil:
		n += len(i.Notice.Text) + len(i.Notice.Detail)
	case i.Summary != nil:
		n += len(i.Summary.Text)
	}
	return n
}
