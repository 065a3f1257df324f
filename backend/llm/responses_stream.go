package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"temporal-sandbox-agent/backend/protocol"
)

// responsesEvent has the fields of all events that we read.
type responsesEvent struct {
	Type         string             `json:"type"`
	OutputIndex  int                `json:"output_index"`
	SummaryIndex int                `json:"summary_index"`
	Delta        json.RawMessage    `json:"delta"`
	Item         json.RawMessage    `json:"item"`
	Response     *responsesResponse `json:"response"`
}

type responsesResponse struct {
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *responsesUsage `json:"usage"`
}

type responsesUsage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
		Writes int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// responsesItem is an output item, as far as we read it.
type responsesItem struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Phase     string `json:"phase"`
	Encrypted string `json:"encrypted_content"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// slot is an output item while it comes.
type slot struct {
	kind    EntryKind
	index   int // among the entries
	name    string
	callID  string
	text    strings.Builder
	summary int // the part of the summary that came last
	done    json.RawMessage
}

// responsesStream assembles an answer of the Responses API.
type responsesStream struct {
	provider string
	sink     func(Delta)
	slots    map[int]*slot // by output_index
	order    []*slot
	refusal  strings.Builder
	final    *responsesResponse
}

func newResponsesStream(provider string, sink func(Delta)) *responsesStream {
	return &responsesStream{provider: provider, sink: sink, slots: map[int]*slot{}}
}

func (s *responsesStream) began() bool { return len(s.order) > 0 }

// each takes one event. Unknown events are passed over: new ones appear often.
func (s *responsesStream) each(ev ssestream.Event) (bool, error) {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
		return false, nil
	}
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, fmt.Errorf("%w: %s", errGarbage, shorten(string(data), 200))
	}
	if e.Type == "" {
		e.Type = ev.Type
	}
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return false, s.item(e)
	case "response.output_text.delta":
		s.delta(e, EntryAssistant, protocol.ChannelText)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.delta(e, EntryReasoning, protocol.ChannelReasoning)
	case "response.function_call_arguments.delta":
		s.delta(e, EntryCall, protocol.ChannelArgs)
	case "response.refusal.delta":
		s.refusal.WriteString(deltaText(e.Delta))
	case "response.completed", "response.done", "response.incomplete", "response.failed":
		if e.Response == nil {
			return false, fmt.Errorf("%w: %s", errGarbage, shorten(string(data), 200))
		}
		s.final = e.Response
		return true, s.verdict(e.Type)
	case "error":
		api, ok := parseAPIError(data)
		if !ok {
			api.Message = shorten(string(data), 300)
		}
		if api.Type == "error" { // the event's name, not the error's
			api.Type = ""
		}
		return true, &api
	case "":
		if api, ok := parseAPIError(data); ok {
			return true, &api
		}
	}
	return false, nil
}

// verdict is the error of a terminal event, nil for a complete answer.
func (s *responsesStream) verdict(event string) error {
	r := s.final
	if event == "response.failed" || r.Status == "failed" {
		api, ok := parseAPIError(r.Error)
		if !ok {
			api.Message = "The response failed without a reason."
		}
		return &api
	}
	if event == "response.incomplete" || r.Status == "incomplete" {
		switch r.Incomplete.Reason {
		case "content_filter":
			return &refused{"The answer was stopped by the content filter."}
		case "max_output_tokens":
			return errLength
		default:
			return &apiError{Code: r.Incomplete.Reason, Message: "The answer is incomplete: " + r.Incomplete.Reason}
		}
	}
	return nil
}

func kindOf(itemType string) (EntryKind, bool) {
	switch itemType {
	case "message":
		return EntryAssistant, true
	case "reasoning":
		return EntryReasoning, true
	case "function_call":
		return EntryCall, true
	default:
		return 0, false
	}
}

func (s *responsesStream) item(e responsesEvent) error {
	var it responsesItem
	if err := json.Unmarshal(e.Item, &it); err != nil {
		return fmt.Errorf("%w: %s", errGarbage, shorten(string(e.Item), 200))
	}
	kind, ok := kindOf(it.Type)
	if !ok {
		return nil
	}
	sl := s.slot(e.OutputIndex, kind)
	sl.name = it.Name
	sl.callID = it.CallID
	if e.Type == "response.output_item.done" {
		sl.done = slices.Clone(e.Item)
	} else if kind == EntryCall {
		// The card can appear before the first argument does.
		s.sink(Delta{Index: sl.index, Channel: protocol.ChannelArgs, Tool: it.Name})
	}
	return nil
}

func (s *responsesStream) slot(output int, kind EntryKind) *slot {
	sl := s.slots[output]
	if sl == nil {
		sl = &slot{kind: kind, index: len(s.order)}
		s.slots[output] = sl
		s.order = append(s.order, sl)
	}
	return sl
}

func (s *responsesStream) delta(e responsesEvent, kind EntryKind, ch protocol.Channel) {
	text := deltaText(e.Delta)
	if text == "" {
		return
	}
	sl := s.slot(e.OutputIndex, kind)
	if kind == EntryReasoning && e.SummaryIndex != sl.summary {
		sl.summary = e.SummaryIndex
		text = "\n\n" + text
	}
	sl.text.WriteString(text)
	s.sink(Delta{Index: sl.index, Channel: ch, Tool: sl.name, Text: text})
}

func deltaText(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // a delta of another kind is no text
	return text
}

// response is the whole answer, after the last event.
func (s *responsesStream) response() (Response, error) {
	var out Response
	if len(s.final.Output) > 0 {
		for _, raw := range s.final.Output {
			if err := s.add(&out, raw); err != nil {
				return out, err
			}
		}
	} else {
		for _, sl := range s.order {
			if err := s.addSlot(&out, sl); err != nil {
				return out, err
			}
		}
	}
	if s.refusal.Len() > 0 {
		return out, &refused{s.refusal.String()}
	}
	return out, nil
}

// add takes an output item as the service sent it.
func (s *responsesStream) add(out *Response, raw json.RawMessage) error {
	var it responsesItem
	if err := json.Unmarshal(raw, &it); err != nil {
		return fmt.Errorf("%w: %s", errGarbage, shorten(string(raw), 200))
	}
	e := Entry{Provider: s.provider}
	switch it.Type {
	case "message":
		e.Kind = EntryAssistant
		for _, c := range it.Content {
			if c.Type == "refusal" {
				return &refused{c.Refusal}
			}
			e.Text += c.Text
		}
		// Only what the text does not tell is worth keeping.
		if it.Phase != "" {
			e.Raw = slices.Clone(raw)
		}
	case "reasoning":
		e.Kind = EntryReasoning
		var parts []string
		for _, p := range it.Summary {
			parts = append(parts, p.Text)
		}
		if len(parts) == 0 {
			for _, c := range it.Content {
				parts = append(parts, c.Text)
			}
		}
		e.Text = strings.Join(parts, "\n\n")
		if it.Encrypted != "" || len(it.Content) > 0 {
			e.Raw = slices.Clone(raw)
		}
	case "function_call":
		e.Kind, e.CallID, e.Name, e.Args = EntryCall, it.CallID, it.Name, it.Arguments
		if e.CallID == "" {
			e.CallID = newCallID()
		}
	default:
		return nil
	}
	out.Output = append(out.Output, e)
	return nil
}

// addSlot takes an item from its own events, for services whose last event
// does not repeat the output.
func (s *responsesStream) addSlot(out *Response, sl *slot) error {
	if sl.done != nil {
		return s.add(out, sl.done)
	}
	e := Entry{Kind: sl.kind, Provider: s.provider}
	if sl.kind == EntryCall {
		e.CallID, e.Name, e.Args = sl.callID, sl.name, sl.text.String()
		if e.CallID == "" {
			e.CallID = newCallID()
		}
	} else {
		e.Text = sl.text.String()
	}
	out.Output = append(out.Output, e)
	return nil
}

func (u *responsesUsage) usage(p *price) (protocol.Usage, int64) {
	if u == nil {
		return protocol.Usage{Unpriced: true}, 0
	}
	out := protocol.Usage{
		InputTokens: u.Input, CachedTokens: u.InputDetails.Cached,
		OutputTokens: u.Output, ReasoningTokens: u.OutputDetails.Reasoning,
	}
	return cost(out, p, u.InputDetails.Writes), u.Input + u.Output
}
