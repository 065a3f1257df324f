package llmtest

import (
	"encoding/json"
	"fmt"
)

type chunk struct {
	ID      string           `json:"id"`
	Object  string           `json:"object"`
	Created int64            `json:"created"`
	Model   string           `json:"model"`
	Choices []choice         `json:"choices"`
	Usage   *chatUsage       `json:"usage,omitempty"`
	Error   *json.RawMessage `json:"error,omitempty"`
}

type choice struct {
	Index  int     `json:"index"`
	Delta  delta   `json:"delta"`
	Finish *string `json:"finish_reason"`
}

type delta struct {
	Role             string      `json:"role,omitempty"`
	Content          *string     `json:"content,omitempty"`
	Refusal          *string     `json:"refusal,omitempty"`
	ReasoningContent *string     `json:"reasoning_content,omitempty"`
	Reasoning        *string     `json:"reasoning,omitempty"`
	ToolCalls        []callDelta `json:"tool_calls,omitempty"`
}

type callDelta struct {
	Index    *int            `json:"index,omitempty"`
	ID       string          `json:"id,omitempty"`
	Type     string          `json:"type,omitempty"`
	Function callFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type callFunction struct {
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

type chatUsage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	Total         int64 `json:"total_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (o *sender) chunk(req Request, choices []choice, u *chatUsage) {
	c := chunk{
		ID: fmt.Sprintf("chatcmpl-%04d", req.Number), Object: "chat.completion.chunk", Created: 1_790_000_000,
		Model: req.Model, Choices: choices, Usage: u,
	}
	if o.a.Chat.NullError {
		c.Error = ptr(json.RawMessage("null"))
	}
	o.event("", mustJSON(c))
}

func (o *sender) say(req Request, d delta) { o.chunk(req, []choice{{Delta: d}}, nil) }

func (o *sender) chat(req Request) {
	q := o.a.Chat
	o.say(req, delta{Role: "assistant", Content: ptr("")})
	if o.a.Fail != nil {
		o.event("", mustJSON(struct {
			Error *Error `json:"error"`
		}{o.a.Fail}))
		return
	}
	finish, calls := "stop", 0
	for _, it := range o.a.Items {
		switch {
		case it.Call != "":
			o.call(req, calls, it)
			calls++
			finish = "tool_calls"
		case it.Reasoning != "":
			o.chatReasoning(req, it.Reasoning)
		case it.Refusal != "":
			for _, p := range parts(it.Refusal) {
				o.say(req, delta{Refusal: ptr(p)})
			}
		default:
			for _, p := range parts(it.Text) {
				o.say(req, delta{Content: ptr(p)})
			}
		}
	}
	switch o.a.Incomplete {
	case "max_output_tokens":
		finish = "length"
	case "content_filter":
		finish = "content_filter"
	}
	if q.Finish != "" {
		finish = q.Finish
	}
	if finish != "-" {
		o.chunk(req, []choice{{Finish: ptr(finish)}}, nil)
	}
	if u := o.a.Usage; u != nil && wantsUsage(req) {
		c := &chatUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
		c.PromptDetails.Cached, c.CompletionDetails.Reasoning = u.Cached, u.Reasoning
		o.chunk(req, []choice{}, c)
	}
	if !q.NoDone {
		o.event("", "[DONE]")
	}
}

func wantsUsage(req Request) bool {
	var b struct {
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	return json.Unmarshal(req.Body, &b) == nil && b.StreamOptions.IncludeUsage
}

func (o *sender) chatReasoning(req Request, text string) {
	field := o.a.Chat.ReasoningField
	if field == "think" {
		text = "<think>\n" + text + "\n</think>\n\n"
	}
	for _, p := range parts(text) {
		switch field {
		case "think":
			o.say(req, delta{Content: ptr(p)})
		case "reasoning":
			o.say(req, delta{Reasoning: ptr(p)})
		default:
			o.say(req, delta{ReasoningContent: ptr(p)})
		}
	}
}

func (o *sender) call(req Request, number int, it Item) {
	q := o.a.Chat
	index, id := ptr(number), it.CallID
	if id == "" {
		id = fmt.Sprintf("call_%d_%d", req.Number, number)
	}
	if q.SameID != "" {
		id = q.SameID
	}
	if q.NoID {
		id = ""
	}
	if q.NoIndex {
		index = nil
	} else if q.ZeroIndex {
		index = ptr(0)
	}
	first := callDelta{Index: index, ID: id, Type: "function", Function: callFunction{Name: it.Call}, Extra: q.Extra}
	if q.ObjectArgs || q.WholeCalls {
		first.Function.Arguments = json.RawMessage(mustJSON(it.Args))
		if q.ObjectArgs {
			first.Function.Arguments = json.RawMessage(it.Args)
		}
		o.say(req, delta{ToolCalls: []callDelta{first}})
		return
	}
	first.Function.Arguments = json.RawMessage(`""`)
	o.say(req, delta{ToolCalls: []callDelta{first}})
	for _, p := range parts(it.Args) {
		d := callDelta{Index: index, Function: callFunction{Arguments: json.RawMessage(mustJSON(p))}}
		if q.RepeatID {
			d.ID, d.Function.Name = id, it.Call
		}
		o.say(req, delta{ToolCalls: []callDelta{d}})
	}
}
