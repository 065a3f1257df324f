package activity

import (
	"context"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
)

// answered returns the answer that an earlier attempt of this step has written,
// if it did: the app may have been killed before the workflow knew. What the
// model said then counts, and it is not asked again. Its tokens are not known
// any more.
func (a *Activities) answered(ctx context.Context, in protocol.CallModelInput, first int) (protocol.CallModelResult, bool, error) {
	var out protocol.CallModelResult
	items, err := a.Transcript.OpenItems(ctx, in.Turn.TurnID)
	if err != nil {
		return out, false, fmt.Errorf("look for the answer: %w", err)
	}
	for len(items) > 0 && items[0].Seq < first {
		items = items[1:]
	}
	if len(items) == 0 {
		return out, false, nil
	}
	for i := range items {
		item := &items[i]
		switch {
		case item.Tool != nil:
			call := protocol.ToolCall{ID: item.CallID(), Item: item.ID, Tool: item.Tool.Name}
			if call.Invalid = item.Tool.Status == protocol.ToolFailed; !call.Invalid {
				call.Ask = item.Tool.Ask
			}
			out.Calls = append(out.Calls, shortened(call))
		case item.Reasoning == nil && item.Assistant == nil:
			return protocol.CallModelResult{}, false, nil // no answer: it is written over
		}
	}
	// Who watches may have missed them.
	if err := a.write(ctx, in.Turn, items...); err != nil {
		return out, false, fmt.Errorf("write the answer: %w", err)
	}
	out.Usage.Unpriced = true
	out.NextSeq = items[len(items)-1].Seq + 1
	return out, true, nil
}

// shortened is a call as the workflow carries it: it judges, and does not need
// the whole text.
func shortened(call protocol.ToolCall) protocol.ToolCall {
	call.Ask.Detail = short(call.Ask.Detail, 2<<10)
	return call
}
