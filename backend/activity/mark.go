package activity

import (
	"context"
	"errors"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/transcript"
)

// CommitMark writes a line into the conversation between two turns.
func (a *Activities) CommitMark(ctx context.Context, in protocol.CommitMarkInput) (protocol.CommitTurnResult, error) {
	item := protocol.NewItem(in.Turn.TurnID, 0, a.Now())
	item.Kind, item.Notice = protocol.KindNotice, &in.Notice
	head, err := a.Transcript.Mark(ctx, transcript.MarkInput{Turn: in.Turn, Item: item, Snapshot: in.Snapshot, Backend: in.Backend})
	if err != nil {
		return protocol.CommitTurnResult{}, fail(ctx, err)
	}
	a.tell(in.Turn.SessionID, item)
	return protocol.CommitTurnResult{Head: string(head)}, nil
}

// RecordNotice writes a notice into the turn under way.
func (a *Activities) RecordNotice(ctx context.Context, in protocol.RecordNoticeInput) error {
	item := protocol.NewItem(in.Turn.TurnID, in.Seq, a.Now())
	item.Kind, item.Notice = protocol.KindNotice, &in.Notice
	if err := a.write(ctx, in.Turn, item); err != nil && !errors.Is(err, transcript.ErrCommitted) {
		return fail(ctx, fmt.Errorf("write a notice: %w", err))
	}
	return nil
}
