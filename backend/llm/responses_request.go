package llm

import (
	"bytes"
	"encoding/json"
)

type responsesHead struct {
	Model             string          `json:"model"`
	Instructions      string          `json:"instructions,omitempty"`
	Stream            bool            `json:"stream"`
	Store             bool            `json:"store"`
	Include           []string        `json:"include,omitempty"`
	Reasoning         *reasoningWish  `json:"reasoning,omitempty"`
	Tools             []responsesTool `json:"tools,omitempty"`
	ToolChoice        string          `json:"tool_choice,omitempty"`
	ParallelToolCalls bool            `json:"parallel_tool_calls,omitempty"`
	PromptCacheKey    string          `json:"prompt_cache_key,omitempty"`
}

type reasoningWish struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type responsesMessage struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content []responsesPart `json:"content"`
}

type responsesPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitempty"`
	ImageURL string  `json:"image_url,omitempty"`
	Detail   string  `json:"detail,omitempty"`
}

type responsesCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responsesResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"` // a string, or []responsesPart with pictures
}

// responsesBody writes the request of a whole conversation for the Responses
// API. Nothing is stored on the other side: reasoning travels with it,
// encrypted.
func responsesBody(req Request, provider, model string, f facts, l leave) ([]byte, error) {
	head := responsesHead{Model: model, Instructions: req.Instructions, Stream: true}
	if !l.cacheKey {
		head.PromptCacheKey = req.CacheKey
	}
	if len(f.efforts) > 0 && !l.reasoning {
		if !l.encrypted {
			head.Include = []string{"reasoning.encrypted_content"}
		}
		head.Reasoning = &reasoningWish{Effort: nearestEffort(req.Effort, f.efforts)}
		if !l.summary {
			head.Reasoning.Summary = "auto"
		}
		if *head.Reasoning == (reasoningWish{}) {
			head.Reasoning = nil
		}
	}
	for _, t := range req.Tools {
		head.Tools = append(head.Tools, responsesTool{"function", t.Name, t.Description, schemaOf(t), false})
	}
	if len(head.Tools) > 0 {
		head.ToolChoice, head.ParallelToolCalls = "auto", true
	}

	b := newBody(sizeOf(req))
	b.open(head)
	b.text(`,"input":[`)
	list := items{b: b}
	images := !l.images
	for _, e := range req.Input {
		writeResponsesItem(&list, e, !l.raw && e.Provider == provider, images)
	}
	b.text("]}")
	return b.bytes(), b.err
}

func writeResponsesItem(list *items, e Entry, ours, images bool) {
	if ours && validRaw(e) {
		list.next().raw(e.Raw)
		return
	}
	switch e.Kind {
	case EntryUser:
		if parts := partsOf(e, images); len(parts) > 0 {
			list.next().put(responsesMessage{"message", "user", parts})
		}
	case EntryAssistant:
		if e.Text != "" {
			list.next().put(responsesMessage{"message", "assistant", []responsesPart{{Type: "output_text", Text: &e.Text}}})
		}
	case EntryReasoning:
		// Without its own form reasoning can't be given back.
	case EntryCall:
		list.next().put(responsesCall{"function_call", e.CallID, e.Name, e.Args})
	case EntryResult:
		out := responsesResult{Type: "function_call_output", CallID: e.CallID, Output: e.Text}
		if len(e.Images) > 0 {
			out.Output = partsOf(e, images)
		}
		list.next().put(out)
	}
}

// validRaw tells whether the entry is sent as the provider made it. Calls are
// not: what counts of them is in the entry, and its CallID is the caller's.
func validRaw(e Entry) bool {
	raw := bytes.TrimSpace(e.Raw)
	return (e.Kind == EntryAssistant || e.Kind == EntryReasoning) && len(raw) > 0 && raw[0] == '{'
}

func partsOf(e Entry, images bool) []responsesPart {
	var parts []responsesPart
	if e.Text != "" {
		parts = append(parts, responsesPart{Type: "input_text", Text: &e.Text})
	}
	for _, img := range e.Images {
		if images {
			parts = append(parts, responsesPart{Type: "input_image", ImageURL: dataURL(img), Detail: "auto"})
		} else {
			note := unseen
			parts = append(parts, responsesPart{Type: "input_text", Text: &note})
		}
	}
	return parts
}

// unseen stands for a picture that the model can't be shown.
const unseen = "[An image was here. This model can't see images.]"
