package trace

import (
	"maps"
	"sync"
	"time"
)

// maxOpenTurns bounds what is remembered of turns that never end here.
const maxOpenTurns = 1000

// openTurns remembers which turns were told of, and the step that each is in: a
// step's end is known only when the next one begins.
type openTurns struct {
	mu sync.Mutex
	by map[turnIDs]*openStep
}

type openStep struct {
	number         int // 0: none yet
	started, ended time.Time
}

// begin returns true for a turn that is new.
func (t *openTurns) begin(ids turnIDs) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[turnIDs]*openStep{}
	}
	if _, ok := t.by[ids]; ok {
		return false
	}
	for old := range t.by {
		if len(t.by) < maxOpenTurns {
			break
		}
		delete(t.by, old) // its step is not told; any will do
	}
	t.by[ids] = &openStep{}
	return true
}

// next records a model call, and returns the step before if this is a new one.
func (t *openTurns) next(ids turnIDs, step int, started, ended time.Time) (before openStep, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.by[ids]
	if s == nil {
		return openStep{}, false
	}
	if s.number == step {
		s.extend(ended) // another attempt
		return openStep{}, false
	}
	before, ok = *s, s.number > 0
	*s = openStep{number: step, started: started, ended: ended}
	return before, ok
}

// extend lengthens the step to a tool's end.
func (t *openTurns) extend(ids turnIDs, step int, ended time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.by[ids]; s != nil && s.number > 0 && (step == s.number || step == 0) {
		s.extend(ended)
	}
}

func (s *openStep) extend(ended time.Time) {
	if ended.After(s.ended) {
		s.ended = ended
	}
}

// end forgets a turn, and returns its last step.
func (t *openTurns) end(ids turnIDs) (last openStep, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.by[ids]
	if s == nil {
		return openStep{}, false
	}
	delete(t.by, ids)
	return *s, s.number > 0
}

// all forgets all turns, and returns the steps that they are in.
func (t *openTurns) all() map[turnIDs]openStep {
	t.mu.Lock()
	defer t.mu.Unlock()
	steps := map[turnIDs]openStep{}
	for ids, s := range maps.All(t.by) {
		if s.number > 0 {
			steps[ids] = *s
		}
	}
	t.by = nil
	return steps
}
