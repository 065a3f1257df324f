package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"temporal-sandbox-agent/backend/protocol"
)

type chatChunk struct {
	Choices []struct {
		Index        int        `json:"index"`
		Delta        *chatDelta `json:"delta"`
		Message      *chatDelta `json:"message"` // a whole answer in one chunk
		FinishReason *string    `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatTokens     `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content          chatText        `json:"content"`
	Refusal          chatText        `json:"refusal"`
	ReasoningContent chatText        `json:"reasoning_content"`
	Reasoning        chatText        `json:"reasoning"`
	ToolCalls        []chatCallDelta `json:"tool_calls"`
	FunctionCall     *struct {
		Name      string       `json:"name"`
		Arguments chatArgsText `json:"arguments"`
	} `json:"function_call"`
}

type chatCallDelta struct {
	Index    *int  `json:"index"`
	ID       loose `json:"id"`
	Function struct {
		Name      string       `json:"name"`
		Arguments chatArgsText `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

type chatTokens struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// chatText is a text, null, or a list of parts with texts.
type chatText string

func (t *chatText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = chatText(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) == nil {
		for _, p := range parts {
			*t += chatText(p.Text)
		}
	}
	return nil // of another kind: no text
}

// chatArgsText is arguments: JSON in a string as it should be, or the object
// itself.
type chatArgsText string

func (t *chatArgsText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = chatArgsText(s)
		return nil
	}
	*t = chatArgsText(b)
	return nil
}

// chatStream assembles an answer of Chat Completions.
type chatStream struct {
	provider string
	sink     func(Delta)
	calls    chatCalls

	entries   int // indices given out
	textAt    int
	reasonAt  int
	text      strings.Builder
	reasoning strings.Builder
	field     string // how reasoning is called here
	think     thinkSplitter
	refusal   strings.Builder

	finish string
	done   bool // [DONE] was seen
	tokens *chatTokens
}

func newChatStream(provider string, sink func(Delta)) *chatStream {
	return &chatStream{provider: provider, sink: sink, textAt: -1, reasonAt: -1}
}

func (s *chatStream) began() bool {
	return s.entries > 0 || s.refusal.Len() > 0
}

// ended tells whether the answer may be taken as complete without [DONE]. A
// finish reason says so; without one, only [DONE] does.
func (s *chatStream) ended() bool { return s.finish != "" || s.done }

func (s *chatStream) each(ev ssestream.Event) (bool, error) {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 {
		return false, nil
	}
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		s.done = true
		return true, nil
	}
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, fmt.Errorf("%w: %s", errGarbage, shorten(string(data), 200))
	}
	if present(c.Error) || ev.Type == "error" {
		api, ok := parseAPIError(data)
		if !ok {
			api.Message = shorten(string(data), 300)
		}
		return true, &api
	}
	if c.Usage != nil {
		s.tokens = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*chatDelta{choice.Delta, choice.Message} {
			if d != nil {
				s.delta(d)
			}
		}
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			s.finish = *choice.FinishReason
		}
	}
	return false, nil
}

func (s *chatStream) delta(d *chatDelta) {
	switch {
	case d.ReasoningContent != "":
		s.field = "reasoning_content"
		s.addReasoning(string(d.ReasoningContent))
	case d.Reasoning != "":
		s.field = "reasoning"
		s.addReasoning(string(d.Reasoning))
	}
	if d.Content != "" {
		thought, text := s.think.split(string(d.Content))
		s.addReasoning(thought)
		s.addText(text)
	}
	s.refusal.WriteString(string(d.Refusal))
	for _, c := range d.ToolCalls {
		s.call(c)
	}
	if f := d.FunctionCall; f != nil {
		zero := 0
		c := chatCallDelta{Index: &zero}
		c.Function.Name, c.Function.Arguments = f.Name, f.Arguments
		s.call(c)
	}
}

func (s *chatStream) addText(text string) {
	if s.textAt < 0 { // models often begin with empty lines
		text = strings.TrimLeft(text, " \r\n")
	}
	if text == "" {
		return
	}
	if s.textAt < 0 {
		s.textAt = s.nextEntry()
	}
	s.text.WriteString(text)
	s.sink(Delta{Index: s.textAt, Channel: protocol.ChannelText, Text: text})
}

func (s *chatStream) addReasoning(text string) {
	if text == "" {
		return
	}
	if s.reasonAt < 0 {
		s.reasonAt = s.nextEntry()
	}
	s.reasoning.WriteString(text)
	s.sink(Delta{Index: s.reasonAt, Channel: protocol.ChannelReasoning, Text: text})
}

func (s *chatStream) call(d chatCallDelta) {
	c, added := s.calls.add(d)
	if c == nil {
		return
	}
	if c.index < 0 {
		c.index = s.nextEntry()
	}
	if added != "" || d.Function.Name != "" {
		s.sink(Delta{Index: c.index, Channel: protocol.ChannelArgs, Tool: c.name, Text: added})
	}
}

func (s *chatStream) nextEntry() int {
	s.entries++
	return s.entries - 1
}

// response is the whole answer; on an error it still holds the usage.
func (s *chatStream) response(p *price) (Response, error) {
	thought, text := s.think.rest()
	s.addReasoning(thought)
	s.addText(text)

	out := Response{Usage: protocol.Usage{Unpriced: p == nil}}
	if t := s.tokens; t != nil {
		out.Usage = cost(protocol.Usage{
			InputTokens: t.Prompt, CachedTokens: t.PromptDetails.Cached,
			OutputTokens: t.Completion, ReasoningTokens: t.CompletionDetails.Reasoning,
		}, p, 0)
		out.ContextTokens = t.Prompt + t.Completion
	}
	switch {
	case s.refusal.Len() > 0:
		return out, &refused{s.refusal.String()}
	case s.finish == "content_filter":
		return out, &refused{"The answer was stopped by the content filter."}
	case s.finish == "length" || s.finish == "max_tokens":
		return out, errLength
	case s.finish == "error":
		return out, &apiError{Code: "server_error", Message: "The server ended the answer with an error."}
	}
	out.Output = make([]Entry, s.entries)
	if s.reasonAt >= 0 {
		e := Entry{Kind: EntryReasoning, Text: s.reasoning.String(), Provider: s.provider}
		if s.field != "" {
			e.Raw, _ = json.Marshal(s.field) // a string always encodes
		}
		out.Output[s.reasonAt] = e
	}
	if s.textAt >= 0 {
		out.Output[s.textAt] = Entry{Kind: EntryAssistant, Text: s.text.String(), Provider: s.provider}
	}
	for _, c := range s.calls.list {
		out.Output[c.index] = Entry{
			Kind: EntryCall, CallID: c.id, Name: c.name, Args: c.arguments(), Raw: c.extra, Provider: s.provider,
		}
	}
	return out, nil
}
