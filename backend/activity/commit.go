package activity

import (
	"context"
	"errors"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/backend/transcript"
)

// CommitTurn closes a turn: calls without an end get one, the turn's end is
// written, and the whole becomes one immutable commit.
func (a *Activities) CommitTurn(ctx context.Context, in protocol.CommitTurnInput) (protocol.CommitTurnResult, error) {
	defer alive(ctx)()
	head, err := a.commitTurn(ctx, in)
	return protocol.CommitTurnResult{Head: head}, fail(ctx, err)
}

func (a *Activities) commitTurn(ctx context.Context, in protocol.CommitTurnInput) (string, error) {
	end := protocol.TurnEndItem{
		Index: in.Turn.Index, Outcome: in.Outcome, DurationMs: in.DurationMs, Steps: in.Steps,
		Usage: in.Usage, Provider: in.Provider, Model: in.Model, Backend: in.Place.Backend,
		Snapshot: in.Snapshot, Base: in.Base, Changed: in.Changed, Skipped: in.Skipped,
	}
	items, err := a.Transcript.OpenItems(ctx, in.Turn.TurnID)
	if err != nil {
		return "", fmt.Errorf("read the turn: %w", err)
	}
	left, err := a.leftSteered(ctx, in, items)
	if err != nil {
		return "", err
	}
	if err := a.write(ctx, in.Turn, left...); err != nil && !errors.Is(err, transcript.ErrCommitted) {
		return "", fmt.Errorf("write a message: %w", err)
	}
	items = append(items, left...)
	err = a.write(ctx, in.Turn, a.closingItems(in, end, items)...)
	// A crash between the commit and its answer: it is there already.
	if err != nil && !errors.Is(err, transcript.ErrCommitted) {
		return "", fmt.Errorf("write the turn's end: %w", err)
	}
	head, err := a.Transcript.Commit(ctx, transcript.CommitInput{Turn: in.Turn, End: end, Time: a.Now()})
	if err != nil {
		return "", err
	}
	a.Tracer.Turn(trace.TurnSpan{
		SessionID: in.Turn.SessionID, TurnID: in.Turn.TurnID, Index: in.Turn.Index,
		Ended: a.Now(), DurationMs: in.DurationMs, Outcome: string(in.Outcome),
		Tools: a.Tools.Names(), Fault: in.Fault,
	})
	return string(head), nil
}

// leftSteered returns the messages that the last step had taken into the turn
// and did not come to write: they must not be lost with it.
func (a *Activities) leftSteered(ctx context.Context, in protocol.CommitTurnInput, items []protocol.Item) ([]protocol.Item, error) {
	written := map[string]bool{}
	for _, item := range items {
		written[item.ID] = true
		if item.Kind == protocol.KindTurnEnd {
			return nil, nil // closed before a crash
		}
	}
	messages, err := a.messages(ctx, in.Steered)
	if err != nil {
		return nil, err
	}
	var left []protocol.Item
	for i, m := range messages {
		item := a.userItem(in.Turn, in.SteeredSeq+i, m, in.Steered[i])
		if !written[item.ID] {
			left = append(left, item)
		}
	}
	return left, nil
}

// closingItems returns the items that close the turn.
func (a *Activities) closingItems(in protocol.CommitTurnInput, end protocol.TurnEndItem, items []protocol.Item) []protocol.Item {
	now := a.Now()
	var closing []protocol.Item
	next := 0
	for _, item := range items {
		next = max(next, item.Seq+1)
		if item.Kind == protocol.KindTurnEnd {
			return nil // written before a crash
		}
		if item.Kind == protocol.KindTool && !item.Tool.Status.Ended() {
			tool := *item.Tool
			tool.Status = protocol.ToolInterrupted
			tool.Result.Output = "This call was not run: the turn ended before it."
			if !tool.Started.IsZero() {
				tool.Result.Output = "This call was interrupted; it may have been partly done."
			}
			item.Tool = &tool
			closing = append(closing, item)
		}
	}
	if in.Fault != nil {
		item := protocol.NewItem(in.Turn.TurnID, next, now)
		item.Kind, item.Fault = protocol.KindFault, in.Fault
		closing = append(closing, item)
		next++
	}
	if in.NoSnapshot != nil {
		item := protocol.NewItem(in.Turn.TurnID, next, now)
		item.Kind = protocol.KindNotice
		item.Notice = &protocol.NoticeItem{
			Code: "no_snapshot", Text: "No snapshot of the files was taken: " + in.NoSnapshot.Happened, Detail: in.NoSnapshot.Detail,
		}
		closing = append(closing, item)
		next++
	}
	last := protocol.NewItem(in.Turn.TurnID, next, now)
	last.Kind, last.TurnEnd = protocol.KindTurnEnd, &end
	return append(closing, last)
}
