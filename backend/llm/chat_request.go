package llm

import (
	"encoding/json"
	"strings"
)

type chatHead struct {
	Model           string     `json:"model"`
	Stream          bool       `json:"stream"`
	StreamOptions   *chatUsage `json:"stream_options,omitempty"`
	ReasoningEffort string     `json:"reasoning_effort,omitempty"`
	Tools           []chatTool `json:"tools,omitempty"`
}

type chatUsage struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// chatMessage is a message; Content is a string, or a list of parts with
// pictures, or nil for an assistant that only calls.
type chatMessage struct {
	Role             string     `json:"role"`
	Content          any        `json:"content"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ToolCalls        []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatCallBody `json:"function"`
	// Extra is what the server attached to the call and wants back.
	Extra json.RawMessage `json:"extra_content,omitempty"`
}

type chatCallBody struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatPart struct {
	Type     string     `json:"type"`
	Text     string     `json:"text,omitempty"`
	ImageURL *chatImage `json:"image_url,omitempty"`
}

type chatImage struct {
	URL string `json:"url"`
}

// chatBody writes the request of a whole conversation for Chat Completions.
func chatBody(req Request, provider, model string, f facts, l leave) ([]byte, error) {
	head := chatHead{Model: model, Stream: true}
	if !l.usage {
		head.StreamOptions = &chatUsage{true}
	}
	if !l.reasoning {
		head.ReasoningEffort = nearestEffort(req.Effort, f.efforts)
	}
	for _, t := range req.Tools {
		head.Tools = append(head.Tools, chatTool{"function", chatFunction{t.Name, t.Description, schemaOf(t)}})
	}
	b := newBody(sizeOf(req))
	b.open(head)
	b.text(`,"messages":[`)
	w := chatWriter{list: items{b: b}, provider: provider, leave: l, turn: lastUser(req.Input)}
	if req.Instructions != "" {
		w.list.next().put(chatMessage{Role: "system", Content: req.Instructions})
	}
	for i, e := range req.Input {
		w.entry(i, e)
	}
	w.flush()
	b.text("]}")
	return b.bytes(), b.err
}

// lastUser is the index of the last message of the user, which begins the turn.
func lastUser(in []Entry) int {
	for i := len(in) - 1; i >= 0; i-- {
		if in[i].Kind == EntryUser {
			return i
		}
	}
	return 0
}

// chatWriter turns entries into messages. An answer of several entries is one
// message there, and pictures of results have to follow all the results.
type chatWriter struct {
	list     items
	provider string
	leave    leave
	turn     int
	answer   *chatMessage // being gathered
	pictures []Image      // of the results since the last answer
}

func (w *chatWriter) entry(i int, e Entry) {
	switch e.Kind {
	case EntryUser:
		w.flush()
		if content := chatContent(e.Text, e.Images, !w.leave.images); content != nil {
			w.list.next().put(chatMessage{Role: "user", Content: content})
		}
	case EntryAssistant:
		if e.Text == "" {
			return
		}
		m := w.gather()
		if m.Content != nil || len(m.ToolCalls) > 0 {
			w.flush()
			m = w.gather()
		}
		m.Content = e.Text
	case EntryReasoning:
		w.reasoning(i, e)
	case EntryCall:
		c := chatCall{ID: e.CallID, Type: "function", Function: chatCallBody{e.Name, chatArgs(e.Args)}}
		if e.Provider == w.provider && !w.leave.raw {
			c.Extra = e.Raw
		}
		m := w.gather()
		m.ToolCalls = append(m.ToolCalls, c)
	case EntryResult:
		w.flushAnswer()
		w.list.next().put(chatMessage{Role: "tool", ToolCallID: e.CallID, Content: e.Text})
		w.pictures = append(w.pictures, e.Images...)
	}
}

// reasoning gives reasoning back within its turn to who made it, under the name
// it came by: models that think between tool calls go on where they were.
func (w *chatWriter) reasoning(i int, e Entry) {
	if e.Provider != w.provider || i < w.turn || w.leave.raw || w.leave.reasoning {
		return
	}
	var field string
	if json.Unmarshal(e.Raw, &field) != nil {
		return
	}
	m := w.gather()
	if m.Content != nil || len(m.ToolCalls) > 0 {
		w.flush()
		m = w.gather()
	}
	switch field {
	case "reasoning_content":
		m.ReasoningContent = e.Text
	case "reasoning":
		m.Reasoning = e.Text
	}
}

// gather returns the assistant's message under way.
func (w *chatWriter) gather() *chatMessage {
	if w.answer == nil {
		w.flushPictures()
		w.answer = &chatMessage{Role: "assistant"}
	}
	return w.answer
}

func (w *chatWriter) flush() {
	w.flushAnswer()
	w.flushPictures()
}

func (w *chatWriter) flushAnswer() {
	if m := w.answer; m != nil && (m.Content != nil || len(m.ToolCalls) > 0) {
		w.list.next().put(m)
	}
	w.answer = nil
}

func (w *chatWriter) flushPictures() {
	if len(w.pictures) == 0 {
		return
	}
	if content := chatContent("Images from the tool results above:", w.pictures, !w.leave.images); content != nil {
		w.list.next().put(chatMessage{Role: "user", Content: content})
	}
	w.pictures = nil
}

func chatContent(text string, images []Image, show bool) any {
	if len(images) == 0 {
		if text == "" {
			return nil
		}
		return text
	}
	if !show {
		notes := append([]string{text}, make([]string, len(images))...)
		for i := range images {
			notes[i+1] = unseen
		}
		return strings.TrimSpace(strings.Join(notes, "\n"))
	}
	var parts []chatPart
	if text != "" {
		parts = append(parts, chatPart{Type: "text", Text: text})
	}
	for _, img := range images {
		parts = append(parts, chatPart{Type: "image_url", ImageURL: &chatImage{dataURL(img)}})
	}
	return parts
}

// chatArgs gives arguments back as an object in any case: the templates of many
// local models fail on anything else.
func chatArgs(args string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) == nil && object != nil {
		return args
	}
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	wrapped, err := json.Marshal(struct {
		Malformed string `json:"malformed_arguments"`
	}{args})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}
