package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
)

// listedModel is one model of an endpoint's list, with what the various
// servers say of it.
type listedModel struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Created loose  `json:"created"`
	// MaxModelLen is vLLM's window, ContextLength OpenRouter's, MaxContext and
	// Loaded LM Studio's, Meta.Ctx llama.cpp's.
	MaxModelLen   int64 `json:"max_model_len"`
	ContextLength int64 `json:"context_length"`
	MaxContext    int64 `json:"max_context_length"`
	Loaded        int64 `json:"loaded_context_length"`
	Meta          struct {
		Ctx int64 `json:"n_ctx"`
	} `json:"meta"`
	// Type is LM Studio's: "llm", "vlm" or "embeddings".
	Type         string `json:"type"`
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
	Capabilities json.RawMessage `json:"capabilities"` // a list, or an object
}

// parseModels reads {"data":[…]} as OpenAI lists models, and {"models":[…]} as
// some others do.
func parseModels(body []byte) ([]listedModel, error) {
	var l struct {
		Data   []listedModel `json:"data"`
		Models []listedModel `json:"models"`
	}
	body = bytes.TrimSpace(body)
	var err error
	if len(body) > 0 && body[0] == '[' {
		err = json.Unmarshal(body, &l.Data)
	} else {
		err = json.Unmarshal(body, &l)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errGarbage, plainText(body))
	}
	all := l.Data
	if all == nil {
		all = l.Models
	}
	for i := range all {
		if all[i].ID == "" {
			all[i].ID = all[i].Name
		}
	}
	return slices.DeleteFunc(all, func(m listedModel) bool { return m.ID == "" }), nil
}

// made is when the model was made, in seconds; 0 when the list does not say.
func (m listedModel) made() int64 {
	n, _ := strconv.ParseFloat(string(m.Created), 64) // 0 when it is no number
	return int64(n)
}

// can tells whether a capability is in the list.
func (m listedModel) can(what string) bool {
	var list []string
	if json.Unmarshal(m.Capabilities, &list) == nil {
		return slices.Contains(list, what)
	}
	return false
}

// info adds what the list says to what is known.
func (m listedModel) info(known protocol.ModelInfo) protocol.ModelInfo {
	known.ID = m.ID
	if m.Name != "" && m.Name != m.ID {
		known.Label = m.Name
	}
	for _, w := range []int64{m.Loaded, m.Meta.Ctx, m.MaxModelLen, m.ContextLength, m.MaxContext} {
		if w > 0 {
			known.Window = w
			break
		}
	}
	if m.Type == "vlm" || slices.Contains(m.Architecture.Input, "image") || m.can("vision") || m.can("multimodal") {
		known.Images = true
	}
	return known
}

// forChat keeps the models that are not certain to be useless to an agent.
func forChat(all []listedModel) []listedModel {
	return slices.DeleteFunc(all, func(m listedModel) bool {
		id := strings.ToLower(m.ID)
		return m.Type == "embeddings" || strings.Contains(id, "embed") || strings.Contains(id, "rerank") || strings.Contains(id, "whisper")
	})
}
