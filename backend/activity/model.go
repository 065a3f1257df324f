package activity

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/backend/transcript"
	"temporal-sandbox-agent/backend/workplace"
)

// CallModel asks the model once, streams its answer to who watches, and writes
// it. Each call of a tool in the answer is judged for the workflow.
func (a *Activities) CallModel(ctx context.Context, in protocol.CallModelInput) (protocol.CallModelResult, error) {
	defer alive(ctx)()
	out, err := a.callModel(ctx, in)
	return out, fail(ctx, err)
}

func (a *Activities) callModel(ctx context.Context, in protocol.CallModelInput) (protocol.CallModelResult, error) {
	var none protocol.CallModelResult
	// First of all: what the user has said stands in the conversation.
	steered, err := a.messages(ctx, in.Steered)
	if err != nil {
		return none, err
	}
	for i, m := range steered {
		if err := a.write(ctx, in.Turn, a.userItem(in.Turn, in.Seq+i, m, in.Steered[i])); err != nil {
			return none, fmt.Errorf("write the message: %w", err)
		}
	}
	place, err := a.Places.Open(ctx, in.Turn.SessionID, in.Place)
	if err != nil {
		return none, err
	}
	if err := a.putAttachments(ctx, place, steered); err != nil {
		return none, err
	}
	first := in.Seq + len(steered)

	model, err := a.Models.Open(in.Provider, in.Model)
	if err != nil {
		return none, err
	}
	if out, ok, err := a.answered(ctx, in, first); err != nil || ok {
		out.Window = model.Info().Window
		return out, err
	}
	request, err := a.request(ctx, in.Turn, place, in.Provider, model.Info())
	if err != nil {
		return none, err
	}
	request.Effort = in.Effort

	stream := &streamer{
		events: a.Events, session: in.Turn.SessionID, turn: in.Turn.TurnID,
		first: first, attempt: in.Attempt, sent: map[streamKey]int{},
	}
	started := a.Now()
	answer, err := model.Stream(ctx, request, stream.delta)
	a.Tracer.Model(trace.ModelSpan{
		SessionID: in.Turn.SessionID, TurnID: in.Turn.TurnID, Step: in.Step, Attempt: in.Attempt,
		Provider: in.Provider, Model: in.Model, Started: started, Ended: a.Now(),
		InputTokens: answer.Usage.InputTokens, OutputTokens: answer.Usage.OutputTokens, Err: err,
	})
	if err != nil {
		if ctx.Err() != nil && !closing(ctx) {
			return none, a.keepPartial(ctx, in.Turn, stream, err)
		}
		stream.clear()
		return none, err
	}
	items, calls := a.answerItems(in, first, place, answer)
	if err := a.write(ctx, in.Turn, items...); err != nil {
		return none, fmt.Errorf("write the answer: %w", err)
	}
	return protocol.CallModelResult{
		NextSeq:       first + len(items),
		Calls:         calls,
		Usage:         answer.Usage,
		ContextTokens: answer.ContextTokens,
		Window:        model.Info().Window,
	}, nil
}

// request builds the full conversation.
func (a *Activities) request(ctx context.Context, turn protocol.TurnRef, place *workplace.Place, provider string, model protocol.ModelInfo) (llm.Request, error) {
	instructions, err := tool.Instructions(ctx, place.Sandbox, place.Env(), a.Now())
	if err != nil {
		return llm.Request{}, fmt.Errorf("read the project's instructions: %w", err)
	}
	items, err := a.Transcript.Load(ctx, store.ID(turn.Head), turn.TurnID)
	if err != nil {
		return llm.Request{}, fmt.Errorf("read the conversation: %w", err)
	}
	entries, err := a.Transcript.Entries(ctx, items, transcript.ContextOptions{
		Provider: provider, Images: model.Images, Budget: model.Window / 2,
	})
	if err != nil {
		return llm.Request{}, fmt.Errorf("build the model's input: %w", err)
	}
	request := llm.Request{Instructions: instructions, Input: entries, CacheKey: turn.SessionID}
	for _, t := range a.Tools.All() {
		request.Tools = append(request.Tools, llm.ToolSpec{Name: t.Name(), Description: t.Description(), Schema: t.Schema()})
	}
	return request, nil
}

// answerItems turns an answer into items, and its calls into what the workflow
// needs to know of them.
func (a *Activities) answerItems(in protocol.CallModelInput, first int, place *workplace.Place, answer llm.Response) ([]protocol.Item, []protocol.ToolCall) {
	now := a.Now()
	var items []protocol.Item
	var calls []protocol.ToolCall
	for i, entry := range answer.Output {
		item := protocol.NewItem(in.Turn.TurnID, first+i, now)
		switch entry.Kind {
		case llm.EntryReasoning:
			item.Kind = protocol.KindReasoning
			item.Reasoning = &protocol.ReasoningItem{Summary: entry.Text, Provider: in.Provider, Raw: entry.Raw}
		case llm.EntryCall:
			item.Kind = protocol.KindTool
			item.Tool = &protocol.ToolItem{CallID: entry.CallID, Name: entry.Name, Args: entry.Args, Raw: entry.Raw, Step: in.Step, Status: protocol.ToolPending}
			call := protocol.ToolCall{ID: item.CallID(), Item: item.ID, Tool: entry.Name}
			ask, err := a.assess(entry, place)
			if err != nil {
				// Told to the model, which can do better.
				call.Invalid = true
				item.Tool.Ask = protocol.Ask{Title: entry.Name}
				item.Tool.Status = protocol.ToolFailed
				item.Tool.Result.Output = err.Error()
			} else {
				call.Ask, item.Tool.Ask = ask, ask
			}
			calls = append(calls, shortened(call))
		default:
			item.Kind = protocol.KindAssistant
			item.Assistant = &protocol.AssistantItem{Text: entry.Text, Raw: entry.Raw}
		}
		items = append(items, item)
	}
	return items, calls
}

// short cuts a text to at most n bytes, at a rune.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func (a *Activities) assess(call llm.Entry, place *workplace.Place) (protocol.Ask, error) {
	t, ok := a.Tools.Lookup(call.Name)
	if !ok {
		return protocol.Ask{}, fmt.Errorf("there is no tool %q; the tools are %s", call.Name, strings.Join(a.Tools.Names(), ", "))
	}
	return t.Assess(json.RawMessage(call.Args), place.Env())
}

// keepPartial writes the text that had arrived when the user stopped the turn.
func (a *Activities) keepPartial(ctx context.Context, turn protocol.TurnRef, s *streamer, cause error) error {
	text := s.text.String()
	if strings.TrimSpace(text) == "" {
		s.clear()
		return cause
	}
	item := protocol.NewItem(turn.TurnID, s.first+s.textIndex, a.Now())
	item.Kind = protocol.KindAssistant
	item.Assistant = &protocol.AssistantItem{Text: text, Partial: true}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.write(saving, turn, item); err != nil {
		return fmt.Errorf("write the stopped answer: %w", err)
	}
	return cause
}

// streamer gives a model's answer to who watches, piece by piece.
type streamer struct {
	events        Publisher
	session, turn string
	first         int
	attempt       int
	sent          map[streamKey]int
	// text is what arrived of the last text entry.
	text      strings.Builder
	textIndex int
}

type streamKey struct {
	index   int
	channel protocol.Channel
}

func (s *streamer) delta(d llm.Delta) {
	if d.Channel == protocol.ChannelText {
		if d.Index != s.textIndex {
			s.text.Reset()
			s.textIndex = d.Index
		}
		s.text.WriteString(d.Text)
	}
	key := streamKey{d.Index, d.Channel}
	s.publish(protocol.Delta{
		Turn: s.turn, Item: protocol.NewItem(s.turn, s.first+d.Index, time.Time{}).ID,
		Attempt: s.attempt, Channel: d.Channel, Tool: d.Tool, Offset: s.sent[key], Text: d.Text,
	})
	s.sent[key] += len(d.Text)
}

// clear takes back what was streamed: a higher attempt without text.
func (s *streamer) clear() {
	for key := range s.sent {
		s.publish(protocol.Delta{
			Turn: s.turn, Item: protocol.NewItem(s.turn, s.first+key.index, time.Time{}).ID,
			Attempt: s.attempt + 1, Channel: key.channel,
		})
	}
}

func (s *streamer) publish(d protocol.Delta) {
	s.events.Publish(protocol.Event{Type: protocol.EventDelta, SessionID: s.session, Delta: &d})
}
