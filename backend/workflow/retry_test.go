package workflow_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"temporal-sandbox-agent/backend/protocol"
)

func hostLost() error {
	return temporal.NewNonRetryableApplicationError("gone", protocol.HostLost, nil)
}

func TestModelIsAskedAgainByClass(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		fails  int // how often it fails before it answers
		calls  int
		failed bool
		// waits is how long the turn must have lasted at least.
		waits time.Duration
	}{
		{"rate limit waits as told", fault(protocol.ClassRateLimit, 90*time.Second), 1, 2, false, 90 * time.Second},
		{"overloaded backs off", fault(protocol.ClassOverloaded, 0), 3, 4, false, 7 * time.Second},
		{"connection lost", fault(protocol.ClassConnection, 0), 2, 3, false, 3 * time.Second},
		{"connection lost for good", fault(protocol.ClassConnection, 0), 99, 9, true, time.Minute},
		{"a limit that lasts too long", fault(protocol.ClassRateLimit, time.Hour), 1, 1, true, 0},
		{"host lost goes on at once", hostLost(), 3, 4, false, 0},
		{"host lost for ever", hostLost(), 99, 20, true, 0},
		{"bad key", fault(protocol.ClassBadKey, 0), 1, 1, true, 0},
		{"refusal", fault(protocol.ClassRefusal, 0), 1, 1, true, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
				if in.Attempt != n {
					t.Errorf("call %d has attempt %d", n, in.Attempt)
				}
				if n <= test.fails {
					return protocol.CallModelResult{}, test.err
				}
				return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
			}}
			s := newSession(t, w)
			s.run(input(protocol.ApproveNever))
			if len(w.models) != test.calls {
				t.Errorf("asked %d times, want %d", len(w.models), test.calls)
			}
			c := w.commits[0]
			if failed := c.Outcome == protocol.OutcomeFailed; failed != test.failed {
				t.Errorf("outcome %s, fault %+v", c.Outcome, c.Fault)
			}
			if took := time.Duration(c.DurationMs) * time.Millisecond; took < test.waits || took > test.waits+10*time.Minute {
				t.Errorf("took %s, want at least %s", took, test.waits)
			}
		})
	}
}

func TestCountdownIsShown(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n == 1 {
			return protocol.CallModelResult{}, fault(protocol.ClassRateLimit, 10*time.Minute)
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
	}}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		got := s.state()
		if got.State != protocol.StateWaiting || got.Retry == nil || got.Retry.Class != string(protocol.ClassRateLimit) {
			t.Fatalf("waiting: %+v", got)
		}
		if left := got.Retry.At.Sub(s.Now()); left != 9*time.Minute {
			t.Errorf("left %s", left)
		}
		s.SignalWorkflow(protocol.SignalInterrupt, protocol.Interrupt{})
	})
	s.at(2*time.Minute, func() {
		if got := s.state(); got.State != protocol.StateIdle || got.Retry != nil {
			t.Errorf("after the stop: %+v", got)
		}
	})
	s.run(input(protocol.ApproveNever))
	if len(w.models) != 1 {
		t.Errorf("asked %d times", len(w.models))
	}
}

func TestToolOfALostHostIsResumed(t *testing.T) {
	w := &world{
		model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			if n == 1 {
				return calls(in, "make"), nil
			}
			return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
		},
		tool: func(_ context.Context, n int, _ protocol.RunToolInput) (protocol.RunToolResult, error) {
			if n == 1 {
				return protocol.RunToolResult{}, hostLost()
			}
			return protocol.RunToolResult{Status: protocol.ToolDone}, nil
		},
	}
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	if len(w.tools) != 2 || w.tools[0].Resumed || !w.tools[1].Resumed || w.tools[0].Call != w.tools[1].Call {
		t.Errorf("tools %+v", w.tools)
	}
	if w.commits[0].Outcome != protocol.OutcomeDone {
		t.Errorf("commit %+v", w.commits[0])
	}
}

func TestContextTooLongIsCompactedOnce(t *testing.T) {
	for _, fails := range []int{1, 2} {
		w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			if n <= fails {
				return protocol.CallModelResult{}, fault(protocol.ClassContext, 0)
			}
			return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
		}}
		s := newSession(t, w)
		s.run(input(protocol.ApproveNever))
		if len(w.compacted) != 1 || len(w.models) != 2 {
			t.Fatalf("%d failures: compacted %d, asked %d", fails, len(w.compacted), len(w.models))
		}
		if w.models[1].Seq != w.models[0].Seq+1 {
			t.Errorf("the answer would overwrite the summary: seq %d", w.models[1].Seq)
		}
		if failed := w.commits[0].Outcome == protocol.OutcomeFailed; failed != (fails == 2) {
			t.Errorf("%d failures: outcome %s", fails, w.commits[0].Outcome)
		}
	}
}

func TestFullWindowIsCompactedBeforeTheNextCall(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		out := protocol.CallModelResult{NextSeq: in.Seq + 1, ContextTokens: 900, Window: 1000}
		if n == 1 {
			out.Calls = calls(in, "ls").Calls
		}
		return out, nil
	}}
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	if len(w.compacted) != 1 || len(w.models) != 2 {
		t.Errorf("compacted %d, asked %d", len(w.compacted), len(w.models))
	}
}

func TestFailedTurnIsRetried(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n == 1 {
			return protocol.CallModelResult{}, fault(protocol.ClassBadKey, 0)
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
	}}
	s := newSession(t, w)
	var late *outcome
	s.at(time.Minute, func() {
		if got := s.state(); got.State != protocol.StateFailed || got.Fault == nil || got.Fault.Class != protocol.ClassBadKey {
			t.Errorf("failed: %+v", got)
		}
		s.update(protocol.UpdateRetryTurn, "r1", protocol.QueuedMessage{ID: "r1"})
	})
	s.at(2*time.Minute, func() {
		if got := s.state(); got.State != protocol.StateIdle || got.Fault != nil || got.Turns != 2 {
			t.Errorf("after the retry: %+v", got)
		}
		late = s.update(protocol.UpdateRetryTurn, "r2", protocol.QueuedMessage{ID: "r2"})
	})
	s.run(input(protocol.ApproveNever))
	wantClass(t, late.rejected, protocol.ClassBadInput)
	if len(w.prepared) != 2 || !w.prepared[1].Messages[0].Retry {
		t.Errorf("prepared %+v", w.prepared)
	}
}

// A clock that is set back must not make a turn wait for hours.
func TestANudgeEndsTheWait(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n <= 2 {
			return protocol.CallModelResult{}, fault(protocol.ClassRateLimit, 10*time.Minute)
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
	}}
	s := newSession(t, w)
	s.at(time.Minute, func() { s.SignalWorkflow(protocol.SignalNudge, nil) })
	s.at(2*time.Minute, func() {
		// It is asked again, and waits again: one nudge ends one wait.
		if got := s.state(); len(w.models) != 2 || got.State != protocol.StateWaiting {
			t.Errorf("asked %d times, %s", len(w.models), got.State)
		}
	})
	s.run(input(protocol.ApproveNever))
	if len(w.models) != 3 || w.commits[0].Outcome != protocol.OutcomeDone {
		t.Errorf("asked %d times: %+v", len(w.models), w.commits)
	}
	if took := time.Duration(w.commits[0].DurationMs) * time.Millisecond; took < 11*time.Minute || took > 12*time.Minute {
		t.Errorf("it took %s", took)
	}
}
