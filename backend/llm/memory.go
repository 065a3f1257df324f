package llm

import (
	"slices"
	"strings"
	"sync"

	"temporal-sandbox-agent/backend/protocol"
)

// leave says what to leave out of a request, because the other side refused it
// before. Each is something that an answer can do without.
type leave struct {
	// raw is the provider's own form of earlier items: reasoning that was
	// encrypted for another account can't be read any more.
	raw bool
	// summary is the summary of the reasoning, which needs a verified account.
	summary bool
	// encrypted is the wish for encrypted reasoning.
	encrypted bool
	// reasoning is everything that is said of reasoning.
	reasoning bool
	// usage is the wish for token counts in a stream.
	usage bool
	// images are pictures, for models that can't see.
	images bool
	// cacheKey is the prompt cache key.
	cacheKey bool
}

// concede tells what to leave out after an error; ok is false when nothing
// new helps.
func (l leave) concede(e apiError) (next leave, ok bool) {
	next = l
	m := strings.ToLower(e.Param + " " + e.Code + " " + e.Message)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(m, w) })
	}
	switch {
	case has("invalid_encrypted_content", "encrypted content", "required 'reasoning' item", "required following item", "invalid 'input["):
		next.raw = true
	case has("reasoning.summary", "reasoning summar"):
		next.summary = true
	case has("encrypted_content", "include"):
		next.encrypted = true
	case has("reasoning.effort", "reasoning_effort", "'reasoning'", "reasoning parameter"):
		next.reasoning = true
	case has("stream_options", "include_usage"):
		next.usage = true
	case has("prompt_cache_key"):
		next.cacheKey = true
	case lacksImages(e):
		next.images = true
	}
	return next, next != l
}

// lasting is what is worth remembering for the next request: the conversation's
// own trouble is not.
func (l leave) lasting() leave {
	l.raw = false
	return l
}

// memory is what providers have learnt of endpoints while the app runs.
type memory struct {
	mu     sync.Mutex
	leaves map[string]leave
	models map[string][]protocol.ModelInfo
}

func newMemory() *memory {
	return &memory{leaves: map[string]leave{}, models: map[string][]protocol.ModelInfo{}}
}

func (m *memory) leave(address, model string) leave {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leaves[address+"\n"+model]
}

func (m *memory) setLeave(address, model string, l leave) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaves[address+"\n"+model] = l.lasting()
}

// list returns the models that the endpoint listed last, nil before that.
func (m *memory) list(address string) []protocol.ModelInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.models[address])
}

func (m *memory) setList(address string, models []protocol.ModelInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.models[address] = slices.Clone(models)
}

// model returns what the endpoint's list said of one model.
func (m *memory) model(address, id string) (protocol.ModelInfo, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.models[address], func(i protocol.ModelInfo) bool { return i.ID == id })
	if i < 0 {
		return protocol.ModelInfo{}, false
	}
	return m.models[address][i], true
}
