package workflow_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/workflow"
)

func TestTurnAlternatesModelAndTools(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n <= 2 {
			out := calls(in, "make")
			out.Usage = protocol.Usage{InputTokens: 10, OutputTokens: 1}
			return out, nil
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1, Usage: protocol.Usage{InputTokens: 5}, ContextTokens: 25}, nil
	}}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		got := s.state()
		if got.State != protocol.StateIdle || got.Turns != 1 || got.Head != "commit of s.1" || got.Title != "From the message" {
			t.Errorf("after the turn: %+v", got)
		}
		if got.Usage.InputTokens != 25 || got.Usage.OutputTokens != 2 || got.ContextTokens != 25 {
			t.Errorf("usage: %+v, context %d", got.Usage, got.ContextTokens)
		}
	})
	s.run(input(protocol.ApproveNever))

	if len(w.models) != 3 || len(w.tools) != 2 || len(w.commits) != 1 {
		t.Fatalf("model %d, tools %d, commits %d", len(w.models), len(w.tools), len(w.commits))
	}
	var seqs []int
	for _, m := range w.models {
		seqs = append(seqs, m.Seq)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, seqs); diff != "" {
		t.Error("item numbers of the model's calls:", diff)
	}
	if c := w.commits[0]; c.Outcome != protocol.OutcomeDone || c.Steps != 3 || c.Provider != "p" {
		t.Errorf("commit: %+v", c)
	}
	want := []protocol.SessionState{protocol.StateIdle, protocol.StateWorking, protocol.StateIdle, protocol.StateEnded}
	got := w.states()
	if got[0] == protocol.StateWorking {
		want = want[1:] // the first record and the turn's begin fell together
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("published states:", diff)
	}
	if !w.ended || len(w.released) != 1 {
		t.Errorf("ended %v, released %d", w.ended, len(w.released))
	}
}

func TestPublishedVersionsOnlyGrow(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n < 20 {
			return calls(in, "x"), nil
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
	}}
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	last := int64(0)
	for _, p := range w.published {
		if p.Version <= last {
			t.Fatalf("version %d after %d", p.Version, last)
		}
		last = p.Version
	}
}

func TestApprovals(t *testing.T) {
	tests := []struct {
		name     string
		decision protocol.Decision
		ran      int
		denied   int
		allowed  []string
	}{
		{"allowed once", protocol.DecisionAllow, 1, 0, nil},
		{"allowed always", protocol.DecisionAlways, 1, 0, []string{"pip install"}},
		{"denied", protocol.DecisionDeny, 0, 1, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
				if n == 1 {
					return calls(in, "pip install"), nil
				}
				return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
			}}
			s := newSession(t, w)
			var answer *outcome
			// Days later: nothing may time out meanwhile.
			s.at(30*24*time.Hour, func() {
				got := s.state()
				if got.State != protocol.StateNeedsYou || len(got.Approvals) != 1 {
					t.Fatalf("waiting: %+v", got)
				}
				ask := got.Approvals[0]
				if ask.ID != "s.1-000001" || ask.Item != "s.1/000001" || ask.Ask.Title != "pip install" {
					t.Errorf("question: %+v", ask)
				}
				if len(w.tools) != 0 {
					t.Error("it ran before it was allowed")
				}
				answer = s.update(protocol.UpdateResolveApproval, "u", protocol.Resolution{ID: ask.ID, Decision: test.decision, Note: "not now"})
			})
			s.at(31*24*time.Hour, func() {
				got := s.state()
				if got.State != protocol.StateIdle || len(got.Approvals) != 0 {
					t.Errorf("after: %+v", got)
				}
				if diff := cmp.Diff(test.allowed, got.Options.AllowPrefixes); diff != "" {
					t.Error("prefixes:", diff)
				}
				s.SignalWorkflow(protocol.SignalEnd, protocol.End{})
			})
			s.ExecuteWorkflow(protocol.AgentWorkflow, input(protocol.ApproveRisky))
			if answer.rejected != nil || answer.failed != nil || !answer.done {
				t.Errorf("answer: %+v", answer)
			}
			if len(w.tools) != test.ran || len(w.outcomes) != test.denied {
				t.Fatalf("ran %d, denied %d", len(w.tools), len(w.outcomes))
			}
			if test.denied == 1 && (w.outcomes[0].Status != protocol.ToolDenied || w.outcomes[0].Text != "The user denied this call. Their reason: not now") {
				t.Errorf("denial: %+v", w.outcomes[0])
			}
		})
	}
}

func TestApprovalIsWithdrawnByModeAndPrefix(t *testing.T) {
	never := protocol.ApproveNever
	prefixes := []string{"go test"}
	for name, change := range map[string]protocol.OptionsChange{
		"mode": {Approve: &never}, "prefix": {AllowPrefixes: &prefixes},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
				if n == 1 {
					return calls(in, "go test"), nil
				}
				return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
			}}
			s := newSession(t, w)
			s.at(time.Minute, func() { s.update(protocol.UpdateSetOptions, "u", change) })
			s.run(input(protocol.ApproveRisky))
			if len(w.tools) != 1 {
				t.Fatalf("ran %d", len(w.tools))
			}
		})
	}
}

func TestUnknownApprovalIsRefused(t *testing.T) {
	s := newSession(t, &world{})
	var o *outcome
	s.at(time.Minute, func() {
		o = s.update(protocol.UpdateResolveApproval, "u", protocol.Resolution{ID: "nope", Decision: protocol.DecisionAllow})
	})
	s.run(input(protocol.ApproveRisky))
	wantClass(t, o.rejected, protocol.ClassNotFound)
}

func wantClass(t *testing.T, err error, class protocol.Class) {
	t.Helper()
	application, ok := err.(*temporal.ApplicationError)
	if !ok || application.Type() != string(class) {
		t.Errorf("error %v, want class %s", err, class)
	}
}

func TestInterruptEndsTheTurn(t *testing.T) {
	w := &world{
		model: func(_ int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			return calls(in, "sleep"), nil
		},
		tool: func(ctx context.Context, _ int, _ protocol.RunToolInput) (protocol.RunToolResult, error) {
			<-ctx.Done()
			return protocol.RunToolResult{}, temporal.NewCanceledError()
		},
	}
	s := newSession(t, w)
	s.at(time.Second, func() { s.SignalWorkflow(protocol.SignalInterrupt, protocol.Interrupt{Turn: "s.99"}) })
	s.at(2*time.Second, func() {
		if got := s.state(); got.Turn == nil || got.Turn.Stopping {
			t.Errorf("an interrupt of another turn stopped this one: %+v", got.Turn)
		}
		s.SignalWorkflow(protocol.SignalInterrupt, protocol.Interrupt{Turn: "s.1"})
	})
	// The test clock does not skip after an activity was cancelled.
	s.at(3*time.Second, func() { s.SignalWorkflow(protocol.SignalEnd, protocol.End{}) })
	s.run(input(protocol.ApproveNever))
	if len(w.commits) != 1 || w.commits[0].Outcome != protocol.OutcomeInterrupted || w.commits[0].Fault != nil {
		t.Fatalf("commits: %+v", w.commits)
	}
	if !slices.Contains(w.states(), protocol.StateIdle) {
		t.Errorf("states %v", w.states())
	}
}

func TestInterruptWhileAsking(t *testing.T) {
	w := &world{model: func(_ int, in protocol.CallModelInput) (protocol.CallModelResult, error) { return calls(in, "rm"), nil }}
	s := newSession(t, w)
	s.at(time.Minute, func() { s.SignalWorkflow(protocol.SignalInterrupt, protocol.Interrupt{}) })
	s.at(2*time.Minute, func() {
		if got := s.state(); got.State != protocol.StateIdle || len(got.Approvals) != 0 {
			t.Errorf("after the stop: %+v", got)
		}
	})
	s.run(input(protocol.ApproveRisky))
	if len(w.tools) != 0 || w.commits[0].Outcome != protocol.OutcomeInterrupted {
		t.Errorf("tools %d, commit %+v", len(w.tools), w.commits[0])
	}
}

func TestContinueAsNewCarriesTheState(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		s.SignalWorkflow(protocol.SignalTitle, protocol.SetTitle{Title: "Named"})
	})
	s.at(2*time.Minute, func() {
		s.SetContinueAsNewSuggested(true)
		s.SignalWorkflow(protocol.SignalInterrupt, protocol.Interrupt{}) // wakes it up
	})
	s.ExecuteWorkflow(protocol.AgentWorkflow, input(protocol.ApproveNever))
	err := s.GetWorkflowError()
	var again *sdk.ContinueAsNewError
	if !temporalAs(err, &again) {
		t.Fatalf("ended with %v", err)
	}
	var carried protocol.AgentInput
	if err := s.decode(again, &carried); err != nil {
		t.Fatal(err)
	}
	if carried.Session.Title != "Named" || carried.Session.Serial != 1 || carried.Session.Turns != 1 || carried.First != nil {
		t.Errorf("carried %+v", carried)
	}
	if diff := cmp.Diff([]string{"m1"}, carried.Recent); diff != "" {
		t.Error("recent ids:", diff)
	}
}

func TestStepLimit(t *testing.T) {
	w := &world{model: func(_ int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		return calls(in, "true"), nil
	}}
	s := newSession(t, w)
	s.SetTestTimeout(2 * time.Minute)
	s.run(input(protocol.ApproveNever))
	if len(w.tools) != workflow.MaxSteps {
		t.Errorf("ran %d tools, want %d", len(w.tools), workflow.MaxSteps)
	}
	c := w.commits[0]
	if c.Outcome != protocol.OutcomeFailed || c.Fault.Class != protocol.ClassStepLimit || c.Steps != workflow.MaxSteps {
		t.Errorf("commit %+v", c)
	}
}

func TestEndDuringATurn(t *testing.T) {
	w := &world{
		model: func(_ int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			return calls(in, "sleep"), nil
		},
		tool: func(ctx context.Context, _ int, _ protocol.RunToolInput) (protocol.RunToolResult, error) {
			<-ctx.Done()
			return protocol.RunToolResult{}, temporal.NewCanceledError()
		},
		prepare: func(protocol.PrepareTurnInput) (protocol.PrepareTurnResult, error) {
			return protocol.PrepareTurnResult{Sandbox: "ref", OwnWorkspace: true, NextSeq: 1}, nil
		},
	}
	s := newSession(t, w)
	s.at(time.Second, func() { s.SignalWorkflow(protocol.SignalEnd, protocol.End{RemoveWorkspace: true}) })
	s.ExecuteWorkflow(protocol.AgentWorkflow, input(protocol.ApproveNever))
	if err := s.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if len(w.released) != 1 || !w.released[0].RemoveWorkspace || !w.ended {
		t.Errorf("released %+v, ended %v", w.released, w.ended)
	}
}

func TestLostTurnIsClosed(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	in := protocol.AgentInput{Session: input(protocol.ApproveNever).Session}
	in.Session.Version, in.Session.Serial, in.Session.Turns, in.Session.Head = 9, 4, 3, "head"
	in.Session.State = protocol.StateWorking
	in.Session.Turn = &protocol.OpenTurn{ID: "s.4", Index: 4}
	s.at(time.Minute, func() {
		if got := s.state(); got.State != protocol.StateFailed || got.Turn != nil || got.Turns != 4 {
			t.Errorf("session %+v", got)
		}
	})
	s.run(in)
	if len(w.commits) != 1 || w.commits[0].Turn.TurnID != "s.4" || w.commits[0].Fault == nil || w.commits[0].Turn.Head != "head" {
		t.Errorf("commits %+v", w.commits)
	}
}
