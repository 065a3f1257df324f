// Package llm speaks with models. A Provider lists and opens models; a Model
// streams one answer to one full conversation. Nothing is kept on the other
// side, and nothing is retried here: who calls decides by the class of the
// *protocol.Fault that Stream returns.
package llm

import (
	"context"
	"encoding/json"

	"temporal-sandbox-agent/backend/protocol"
)

// Provider is a source of models.
type Provider interface {
	// Info tells what it is and whether it can be used now. It answers within
	// 5 seconds and lists models only if that is cheap.
	Info(ctx context.Context) protocol.ProviderInfo
	// Models lists the models that can hold a conversation with tools.
	Models(ctx context.Context) ([]protocol.ModelInfo, error)
	// Open returns a model by its id.
	Open(model string) Model
}

// Model answers.
type Model interface {
	// Stream sends the conversation and gives each piece of the answer to sink
	// as it arrives. The Response is the whole answer. An error is always a
	// *protocol.Fault; what was streamed before it is void.
	Stream(ctx context.Context, req Request, sink func(Delta)) (Response, error)
	// Info is what is known of the model without asking (window, images).
	Info() protocol.ModelInfo
}

// Request is one full conversation.
type Request struct {
	Instructions string
	Input        []Entry
	Tools        []ToolSpec
	// Effort is the reasoning effort; empty is the model's own.
	Effort string
	// CacheKey is the same for all requests of one session.
	CacheKey string
}

// EntryKind says which fields of an Entry count.
type EntryKind int

// The kinds of entries.
const (
	EntryUser      EntryKind = iota // Text, Images
	EntryAssistant                  // Text, Raw
	EntryReasoning                  // Text (summary), Raw
	EntryCall                       // CallID, Name, Args, Raw
	EntryResult                     // CallID, Text, Images
)

// Entry is one piece of the conversation.
type Entry struct {
	Kind   EntryKind
	Text   string
	Images []Image
	// CallID is unique within the conversation, not beyond it.
	CallID string
	Name   string
	// Args is the JSON text that the model sent.
	Args string
	// Raw is the provider's own form and Provider who made it; another provider
	// ignores it.
	Raw      json.RawMessage
	Provider string
}

// Image is a picture shown to the model.
type Image struct {
	MIME string
	Data []byte
}

// ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON schema of the arguments.
	Schema json.RawMessage
}

// Delta is a streamed piece. Index counts the output entries of this answer.
type Delta struct {
	Index   int
	Channel protocol.Channel
	// Tool is the tool's name on the channel of arguments. The first delta of a
	// call may bring only that.
	Tool string
	Text string
}

// Response is a whole answer.
type Response struct {
	// Output holds entries of the kinds Assistant, Reasoning and Call, in order.
	Output []Entry
	Usage  protocol.Usage
	// ContextTokens is input plus output of this request, 0 when unknown.
	ContextTokens int64
}
