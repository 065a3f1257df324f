// Package trace tells tracing services what turns did. It never blocks, never
// fails a turn, and sends nothing unless a mode asks for it.
package trace

import (
	"context"
	"fmt"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// Mode says what is sent to OpenAI's tracing.
type Mode string

// The modes, as EXAMPLES_TEMPORAL_TRACE names them.
const (
	ModeNone   Mode = "none"
	ModeOpenAI Mode = "openai"
	// ModeTemporal adds spans of the engine's activities to those of the agent.
	ModeTemporal Mode = "openai_with_temporal_spans"
)

// ParseMode reads a mode; the error lists the three that there are.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModeNone, ModeOpenAI, ModeTemporal:
		return m, nil
	default:
		return "", fmt.Errorf("%q is not a trace mode: use %s, %s or %s", s, ModeOpenAI, ModeNone, ModeTemporal)
	}
}

// Tracer takes spans of what was done. Its methods return at once.
type Tracer interface {
	Turn(TurnSpan)
	Model(ModelSpan)
	Tool(ToolSpan)
	// Close sends what waits, until ctx ends.
	Close(ctx context.Context) error
}

// TurnSpan is a turn that ended.
type TurnSpan struct {
	SessionID, TurnID string
	Index             int
	Ended             time.Time
	DurationMs        int64
	Outcome           string
	Tools             []string
	Fault             *protocol.Fault
}

// ModelSpan is one call of the model.
type ModelSpan struct {
	SessionID, TurnID         string
	Step, Attempt             int
	Provider, Model           string
	Started, Ended            time.Time
	InputTokens, OutputTokens int64
	Err                       error
}

// ToolSpan is one call of a tool.
type ToolSpan struct {
	SessionID, TurnID, CallID string
	Name, Input, Output       string
	Started, Ended            time.Time
	Err                       error
}

// Off is a Tracer that sends nothing.
type Off struct{}

// Turn implements Tracer.
func (Off) Turn(TurnSpan) {}

// Model implements Tracer.
func (Off) Model(ModelSpan) {}

// Tool implements Tracer.
func (Off) Tool(ToolSpan) {}

// Close implements Tracer.
func (Off) Close(context.Context) error { return nil }
