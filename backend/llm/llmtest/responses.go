package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The events of the Responses API, with the fields that the real ones have.

type event struct {
	Type     string `json:"type"`
	Sequence int    `json:"sequence_number"`

	ItemID       string    `json:"item_id,omitempty"`
	OutputIndex  *int      `json:"output_index,omitempty"`
	ContentIndex *int      `json:"content_index,omitempty"`
	SummaryIndex *int      `json:"summary_index,omitempty"`
	Delta        *string   `json:"delta,omitempty"`
	Text         *string   `json:"text,omitempty"`
	Refusal      *string   `json:"refusal,omitempty"`
	Arguments    *string   `json:"arguments,omitempty"`
	Part         *part     `json:"part,omitempty"`
	Item         *item     `json:"item,omitempty"`
	Response     *response `json:"response,omitempty"`
	Logprobs     *[]string `json:"logprobs,omitempty"`
	Obfuscation  string    `json:"obfuscation,omitempty"`

	Code    *string `json:"code,omitempty"`
	Message *string `json:"message,omitempty"`
	Param   *string `json:"param,omitempty"`
}

type part struct {
	Type        string    `json:"type"`
	Text        *string   `json:"text,omitempty"`
	Refusal     *string   `json:"refusal,omitempty"`
	Annotations *[]string `json:"annotations,omitempty"`
	Logprobs    *[]string `json:"logprobs,omitempty"`
}

type item struct {
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	Status    string  `json:"status,omitempty"`
	Role      string  `json:"role,omitempty"`
	Phase     string  `json:"phase,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Content   *[]part `json:"content,omitempty"`
	Summary   *[]part `json:"summary,omitempty"`
	Encrypted *string `json:"encrypted_content,omitempty"`
}

type response struct {
	ID         string      `json:"id"`
	Object     string      `json:"object"`
	CreatedAt  int64       `json:"created_at"`
	Status     string      `json:"status"`
	Background bool        `json:"background"`
	Error      *Error      `json:"error"`
	Incomplete *incomplete `json:"incomplete_details"`
	Model      string      `json:"model"`
	Output     []item      `json:"output"`
	Parallel   bool        `json:"parallel_tool_calls"`
	Store      bool        `json:"store"`
	Usage      *usage      `json:"usage"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type usage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
		Writes int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

func ptr[T any](v T) *T { return &v }

func (o *sender) emit(e event) {
	e.Sequence = o.seq
	o.seq++
	o.event(e.Type, mustJSON(e))
}

func (o *sender) responses(req Request) {
	r := response{
		ID: fmt.Sprintf("resp_%04d", req.Number), Object: "response", CreatedAt: 1_790_000_000,
		Status: "in_progress", Model: req.Model, Output: []item{}, Parallel: true,
	}
	o.emit(event{Type: "response.created", Response: ptr(r)})
	o.emit(event{Type: "response.in_progress", Response: ptr(r)})
	if o.a.Fail != nil && o.a.BareError {
		o.emit(event{Type: "error", Code: ptr(o.a.Fail.Code), Message: ptr(o.a.Fail.Message), Param: ptr(o.a.Fail.Param)})
		return
	}
	for i, it := range o.a.Items {
		r.Output = append(r.Output, o.output(req, i, it))
	}
	r.Usage = &usage{}
	if u := o.a.Usage; u != nil {
		r.Usage.Input, r.Usage.Output, r.Usage.Total = u.Input, u.Output, u.Input+u.Output
		r.Usage.InputDetails.Cached, r.Usage.InputDetails.Writes = u.Cached, u.CacheWrites
		r.Usage.OutputDetails.Reasoning = u.Reasoning
	}
	if o.a.EmptyOutput {
		r.Output = []item{}
	}
	switch {
	case o.a.Fail != nil:
		r.Status, r.Error, r.Usage = "failed", o.a.Fail, nil
		o.emit(event{Type: "response.failed", Response: &r})
	case o.a.Incomplete != "":
		r.Status, r.Incomplete = "incomplete", &incomplete{o.a.Incomplete}
		o.emit(event{Type: "response.incomplete", Response: &r})
	default:
		r.Status = "completed"
		o.emit(event{Type: "response.completed", Response: &r})
	}
}

// output streams one item and returns it as it is at the end.
func (o *sender) output(req Request, index int, it Item) item {
	at := ptr(index)
	id := fmt.Sprintf("%04d%02d", req.Number, index)
	switch {
	case it.Call != "":
		callID := it.CallID
		if callID == "" {
			callID = fmt.Sprintf("call_%d_%d", req.Number, index)
		}
		whole := item{ID: "fc_" + id, Type: "function_call", Status: "in_progress", CallID: callID, Name: it.Call, Arguments: ptr("")}
		o.emit(event{Type: "response.output_item.added", OutputIndex: at, Item: ptr(whole)})
		for _, p := range parts(it.Args) {
			o.emit(event{Type: "response.function_call_arguments.delta", ItemID: whole.ID, OutputIndex: at, Delta: ptr(p), Obfuscation: "aQ8z"})
		}
		o.emit(event{Type: "response.function_call_arguments.done", ItemID: whole.ID, OutputIndex: at, Arguments: ptr(it.Args)})
		whole.Status, whole.Arguments = "completed", ptr(it.Args)
		o.emit(event{Type: "response.output_item.done", OutputIndex: at, Item: ptr(whole)})
		return whole
	case it.Reasoning != "" || it.Encrypted != "":
		return o.reasoning(it, index, "rs_"+id)
	default:
		return o.message(it, index, "msg_"+id)
	}
}

func (o *sender) reasoning(it Item, index int, id string) item {
	at := ptr(index)
	whole := item{ID: id, Type: "reasoning", Summary: &[]part{}}
	o.emit(event{Type: "response.output_item.added", OutputIndex: at, Item: ptr(whole)})
	var summary []part
	if it.Reasoning != "" {
		for i, text := range strings.Split(it.Reasoning, "\n\n") {
			n := ptr(i)
			o.emit(event{Type: "response.reasoning_summary_part.added", ItemID: id, OutputIndex: at, SummaryIndex: n, Part: &part{Type: "summary_text", Text: ptr("")}})
			for _, p := range parts(text) {
				o.emit(event{Type: "response.reasoning_summary_text.delta", ItemID: id, OutputIndex: at, SummaryIndex: n, Delta: ptr(p)})
			}
			o.emit(event{Type: "response.reasoning_summary_text.done", ItemID: id, OutputIndex: at, SummaryIndex: n, Text: ptr(text)})
			done := part{Type: "summary_text", Text: ptr(text)}
			o.emit(event{Type: "response.reasoning_summary_part.done", ItemID: id, OutputIndex: at, SummaryIndex: n, Part: &done})
			summary = append(summary, done)
		}
		whole.Summary = &summary
	}
	if it.Encrypted != "" {
		whole.Encrypted = ptr(it.Encrypted)
	}
	o.emit(event{Type: "response.output_item.done", OutputIndex: at, Item: ptr(whole)})
	return whole
}

func (o *sender) message(it Item, index int, id string) item {
	at, zero := ptr(index), ptr(0)
	whole := item{ID: id, Type: "message", Status: "in_progress", Role: "assistant", Phase: it.Phase, Content: &[]part{}}
	o.emit(event{Type: "response.output_item.added", OutputIndex: at, Item: ptr(whole)})
	begun := part{Type: "output_text", Text: ptr(""), Annotations: &[]string{}, Logprobs: &[]string{}}
	done := begun
	done.Text = ptr(it.Text)
	if it.Refusal != "" {
		begun, done = part{Type: "refusal", Refusal: ptr("")}, part{Type: "refusal", Refusal: ptr(it.Refusal)}
	}
	o.emit(event{Type: "response.content_part.added", ItemID: id, OutputIndex: at, ContentIndex: zero, Part: &begun})
	if it.Refusal != "" {
		for _, p := range parts(it.Refusal) {
			o.emit(event{Type: "response.refusal.delta", ItemID: id, OutputIndex: at, ContentIndex: zero, Delta: ptr(p)})
		}
		o.emit(event{Type: "response.refusal.done", ItemID: id, OutputIndex: at, ContentIndex: zero, Refusal: ptr(it.Refusal)})
	} else {
		for _, p := range parts(it.Text) {
			o.emit(event{Type: "response.output_text.delta", ItemID: id, OutputIndex: at, ContentIndex: zero, Delta: ptr(p), Logprobs: &[]string{}, Obfuscation: "x7"})
		}
		o.emit(event{Type: "response.output_text.done", ItemID: id, OutputIndex: at, ContentIndex: zero, Text: ptr(it.Text), Logprobs: &[]string{}})
	}
	o.emit(event{Type: "response.content_part.done", ItemID: id, OutputIndex: at, ContentIndex: zero, Part: &done})
	whole.Status, whole.Content = "completed", &[]part{done}
	o.emit(event{Type: "response.output_item.done", OutputIndex: at, Item: ptr(whole)})
	return whole
}

// requestBody is what both APIs send, as far as a script wants to know.
type requestBody struct {
	Model string `json:"model"`
	Tools []struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	Input    []inputItem `json:"input"`
	Messages []inputItem `json:"messages"`
}

type inputItem struct {
	Type       string          `json:"type"`
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	CallID     string          `json:"call_id"`
	ToolCallID string          `json:"tool_call_id"`
	Output     json.RawMessage `json:"output"`
}

// parseRequest reads what a script decides by. A body that can't be read
// leaves it empty: Body has it all.
func parseRequest(api string, body []byte) Request {
	r := Request{API: api, Body: body}
	var b requestBody
	if json.Unmarshal(body, &b) != nil {
		return r
	}
	r.Model = b.Model
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Name+t.Function.Name)
	}
	for _, it := range append(b.Input, b.Messages...) {
		switch {
		case it.Role == "user":
			text, images := content(it.Content)
			if api == "chat" && len(images) > 0 && len(r.Results) > 0 {
				// The pictures of results, which follow them there.
				last := &r.Results[len(r.Results)-1]
				last.Images = append(last.Images, images...)
				continue
			}
			r.LastUser, r.Results = text, nil
		case it.Type == "function_call_output", it.Role == "tool":
			raw := it.Output
			if it.Role == "tool" {
				raw = it.Content
			}
			text, images := content(raw)
			r.Results = append(r.Results, Result{it.CallID + it.ToolCallID, text, images})
		}
	}
	return r
}

// content reads a text, or a list of parts with texts and pictures.
func content(raw json.RawMessage) (text string, images []string) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var list []struct {
		Text  string          `json:"text"`
		Image json.RawMessage `json:"image_url"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", nil
	}
	for _, p := range list {
		text += p.Text
		var plain string
		var object struct {
			URL string `json:"url"`
		}
		switch {
		case json.Unmarshal(p.Image, &plain) == nil:
			images = append(images, plain)
		case json.Unmarshal(p.Image, &object) == nil && object.URL != "":
			images = append(images, object.URL)
		}
	}
	return text, images
}
