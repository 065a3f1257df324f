// Package trace tells tracing services what turns did. It never blocks, never
// fails a turn, and sends nothing unless a mode asks for it.
package trace

import (
	"context"
	"errors"
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

// Tracer takes spans of what was done. Its methods return at once. The ids of
// what it sends are made of the ids in the spans, so a span that is told again
// after a crash is the same one.
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

// started is when the turn began.
func (s TurnSpan) started() time.Time {
	return s.Ended.Add(-time.Duration(s.DurationMs) * time.Millisecond)
}

// ModelSpan is one call of the model.
type ModelSpan struct {
	SessionID, TurnID         string
	Step, Attempt             int
	Provider, Model           string
	Started, Ended            time.Time
	InputTokens, OutputTokens int64
	// Input and Output may be left out. What is long is cut.
	Input, Output []Message
	Err           error
}

// Message is a piece of a conversation, for people to read.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ToolSpan is one call of a tool.
type ToolSpan struct {
	SessionID, TurnID, CallID string
	// Step is the model call that asked for it; 0 when it is not known.
	Step                int
	Name, Input, Output string
	Started, Ended      time.Time
	Err                 error
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

// both tells several tracers.
type both []Tracer

func (b both) Turn(s TurnSpan) {
	for _, t := range b {
		t.Turn(s)
	}
}

func (b both) Model(s ModelSpan) {
	for _, t := range b {
		t.Model(s)
	}
}

func (b both) Tool(s ToolSpan) {
	for _, t := range b {
		t.Tool(s)
	}
}

func (b both) Close(ctx context.Context) error {
	var errs []error
	for _, t := range b {
		errs = append(errs, t.Close(ctx))
	}
	return errors.Join(errs...)
}
