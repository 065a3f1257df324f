package llm

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"temporal-sandbox-agent/backend/protocol"
)

// maxShown is how many of Ollama's models are asked for their details.
const maxShown = 24

// ollamaDetails asks Ollama what each model can do. Models that can't chat are
// dropped, those that use tools come first; what Ollama does not answer stays
// as it was.
func ollamaDetails(ctx context.Context, r remote, root string, models []protocol.ModelInfo) []protocol.ModelInfo {
	details := make([]ollamaModel, len(models))
	windows := map[string]int64{}
	var wg sync.WaitGroup
	for i := range models[:min(len(models), maxShown)] {
		wg.Go(func() { details[i] = showOllama(ctx, r, root, models[i].ID) })
	}
	wg.Go(func() { windows = runningOllama(ctx, r, root) })
	wg.Wait()

	var tools, others []protocol.ModelInfo
	for i, m := range models {
		d := details[i]
		if d.known() && !d.can("completion") {
			continue
		}
		m.Images = m.Images || d.can("vision")
		m.Window = windows[m.ID]
		if d.can("tools") || !d.known() {
			tools = append(tools, m)
		} else {
			others = append(others, m)
		}
	}
	return append(tools, others...)
}

type ollamaModel struct {
	Capabilities []string `json:"capabilities"`
}

func (m ollamaModel) known() bool          { return len(m.Capabilities) > 0 }
func (m ollamaModel) can(what string) bool { return slices.Contains(m.Capabilities, what) }

func showOllama(ctx context.Context, r remote, root, id string) ollamaModel {
	var m ollamaModel
	ask, err := json.Marshal(struct {
		Model string `json:"model"`
	}{id})
	if err != nil {
		return m
	}
	body, err := r.ask(ctx, http.MethodPost, root+"/api/show", ask)
	if err != nil || json.Unmarshal(body, &m) != nil {
		return ollamaModel{}
	}
	return m
}

// runningOllama returns the windows of the models that are loaded. A model that
// is not gets the window of the server's settings, which it does not tell.
func runningOllama(ctx context.Context, r remote, root string) map[string]int64 {
	var l struct {
		Models []struct {
			Model   string `json:"model"`
			Context int64  `json:"context_length"`
		} `json:"models"`
	}
	out := map[string]int64{}
	body, err := r.get(ctx, root+"/api/ps")
	if err != nil || json.Unmarshal(body, &l) != nil {
		return out
	}
	for _, m := range l.Models {
		out[m.Model] = m.Context
	}
	return out
}
