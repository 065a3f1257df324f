package activity

import (
	"context"
	"fmt"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
)

// compactPart is how much of the model's window, in percent, the conversation
// may fill when a summary of it is asked for.
const compactPart = 70

// CompactContext has the model sum up the conversation; from then on the
// summary stands for it.
func (a *Activities) CompactContext(ctx context.Context, in protocol.CompactContextInput) (protocol.CompactContextResult, error) {
	defer alive(ctx)()
	out, err := a.compactContext(ctx, in)
	return out, fail(ctx, err)
}

func (a *Activities) compactContext(ctx context.Context, in protocol.CompactContextInput) (protocol.CompactContextResult, error) {
	var none protocol.CompactContextResult
	model, err := a.Models.Open(in.Provider, in.Model)
	if err != nil {
		return none, err
	}
	items, err := a.Transcript.Load(ctx, store.ID(in.Turn.Head), in.Turn.TurnID)
	if err != nil {
		return none, fmt.Errorf("read the conversation: %w", err)
	}
	entries, err := a.Transcript.Entries(ctx, items, transcript.ContextOptions{Provider: in.Provider, Images: model.Info().Images})
	if err != nil {
		return none, fmt.Errorf("build the model's input: %w", err)
	}
	before := transcript.Estimate(entries)
	// What did not fit is made smaller with each try; a window that is not
	// known is guessed from what did not fit.
	budget := model.Info().Window
	if budget == 0 {
		budget = before
	}
	budget = budget * compactPart / (100 * int64(in.Attempt))
	answer, err := model.Stream(ctx, llm.Request{
		Instructions: transcript.CompactionInstructions,
		Input:        transcript.CompactionEntries(entries, budget),
		CacheKey:     in.Turn.SessionID,
	}, func(llm.Delta) {})
	if err != nil {
		return none, err
	}
	summary := ""
	for _, entry := range answer.Output {
		if entry.Kind == llm.EntryAssistant {
			summary += entry.Text
		}
	}
	if summary == "" {
		return none, &protocol.Fault{
			Class: protocol.ClassOverloaded, Happened: "The model gave no summary of the conversation",
		}
	}
	item := protocol.NewItem(in.Turn.TurnID, in.Seq, a.Now())
	item.Kind = protocol.KindSummary
	item.Summary = &protocol.SummaryItem{Text: transcript.SummaryText(summary, items), BeforeTokens: before}
	if err := a.write(ctx, in.Turn, item); err != nil {
		return none, fmt.Errorf("write the summary: %w", err)
	}
	return protocol.CompactContextResult{NextSeq: in.Seq + 1, Usage: answer.Usage}, nil
}
