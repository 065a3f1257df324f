package workflow_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/workflow"
)

// world stands for what activities touch. Its functions say what each activity
// does; what was asked of it is kept for the test to look at.
type world struct {
	mu        sync.Mutex
	model     func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error)
	tool      func(ctx context.Context, n int, in protocol.RunToolInput) (protocol.RunToolResult, error)
	prepare   func(in protocol.PrepareTurnInput) (protocol.PrepareTurnResult, error)
	models    []protocol.CallModelInput
	tools     []protocol.RunToolInput
	prepared  []protocol.PrepareTurnInput
	outcomes  []protocol.RecordOutcomeInput
	commits   []protocol.CommitTurnInput
	compacted []protocol.CompactContextInput
	published []protocol.Session
	released  []protocol.ReleaseSandboxInput
	ended     bool

	publish func() error
	// capture and place say what the snapshot activities do; by default each
	// capture finds a new snapshot, and everything is placed.
	capture  func(n int, in protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error)
	place    func(n int, in protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error)
	create   func(n int, in protocol.CreateSandboxInput) (protocol.PrepareSandboxResult, error)
	captured []protocol.CaptureSnapshotInput
	placed   []protocol.PlaceSnapshotInput
	created  []protocol.CreateSandboxInput
	marks    []protocol.CommitMarkInput
	noticed  []protocol.RecordNoticeInput
}

func (w *world) register(env *testsuite.TestWorkflowEnvironment) {
	r := func(name string, f any) { env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
	w.branches(r)
	r(protocol.ActivityPrepareSandbox, func(context.Context, protocol.PrepareSandboxInput) (protocol.PrepareSandboxResult, error) {
		return protocol.PrepareSandboxResult{Sandbox: "ref", Workspace: "/w"}, nil
	})
	r(protocol.ActivityPrepareTurn, func(_ context.Context, in protocol.PrepareTurnInput) (protocol.PrepareTurnResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.prepared = append(w.prepared, in)
		if w.prepare != nil {
			return w.prepare(in)
		}
		return protocol.PrepareTurnResult{Sandbox: "ref", Workspace: "/w", Provider: "p", Model: "m", Title: "From the message", NextSeq: 1}, nil
	})
	r(protocol.ActivityCallModel, func(_ context.Context, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.models = append(w.models, in)
		if w.model == nil {
			return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
		}
		return w.model(len(w.models), in)
	})
	r(protocol.ActivityRunTool, func(ctx context.Context, in protocol.RunToolInput) (protocol.RunToolResult, error) {
		w.mu.Lock()
		w.tools = append(w.tools, in)
		n := len(w.tools)
		w.mu.Unlock()
		if w.tool == nil {
			return protocol.RunToolResult{Status: protocol.ToolDone}, nil
		}
		return w.tool(ctx, n, in)
	})
	r(protocol.ActivityRecordOutcome, func(_ context.Context, in protocol.RecordOutcomeInput) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.outcomes = append(w.outcomes, in)
		return nil
	})
	r(protocol.ActivityCommitTurn, func(_ context.Context, in protocol.CommitTurnInput) (protocol.CommitTurnResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.commits = append(w.commits, in)
		return protocol.CommitTurnResult{Head: "commit of " + in.Turn.TurnID}, nil
	})
	r(protocol.ActivityCompactContext, func(_ context.Context, in protocol.CompactContextInput) (protocol.CompactContextResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.compacted = append(w.compacted, in)
		return protocol.CompactContextResult{NextSeq: in.Seq + 1}, nil
	})
	r(protocol.ActivityPublishSession, func(_ context.Context, in protocol.PublishSessionInput) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.publish != nil {
			if err := w.publish(); err != nil {
				return err
			}
		}
		w.published = append(w.published, in.Session)
		w.ended = w.ended || in.Ended
		return nil
	})
	r(protocol.ActivityReleaseSandbox, func(_ context.Context, in protocol.ReleaseSandboxInput) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.released = append(w.released, in)
		return nil
	})
}

// branches registers what snapshots and moves call.
func (w *world) branches(r func(name string, f any)) {
	r(protocol.ActivityCaptureSnapshot, func(_ context.Context, in protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.captured = append(w.captured, in)
		if w.capture != nil {
			return w.capture(len(w.captured), in)
		}
		return protocol.CaptureSnapshotResult{Captured: protocol.Captured{Snapshot: fmt.Sprintf("snapshot %d", len(w.captured))}}, nil
	})
	r(protocol.ActivityPlaceSnapshot, func(_ context.Context, in protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.placed = append(w.placed, in)
		if w.place != nil {
			return w.place(len(w.placed), in)
		}
		return protocol.PlaceSnapshotResult{Files: 3, Written: 3}, nil
	})
	r(protocol.ActivityCreateSandbox, func(_ context.Context, in protocol.CreateSandboxInput) (protocol.PrepareSandboxResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.created = append(w.created, in)
		if w.create != nil {
			return w.create(len(w.created), in)
		}
		n := len(w.created)
		return protocol.PrepareSandboxResult{Sandbox: fmt.Sprintf("ref %d", n), Workspace: fmt.Sprintf("/made/%d", n), OwnWorkspace: true}, nil
	})
	r(protocol.ActivityCommitMark, func(_ context.Context, in protocol.CommitMarkInput) (protocol.CommitTurnResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.marks = append(w.marks, in)
		return protocol.CommitTurnResult{Head: "mark " + in.Turn.TurnID}, nil
	})
	r(protocol.ActivityRecordNotice, func(_ context.Context, in protocol.RecordNoticeInput) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.noticed = append(w.noticed, in)
		return nil
	})
}

// states are the states that were published, without repetitions.
func (w *world) states() []protocol.SessionState {
	var states []protocol.SessionState
	for _, s := range w.published {
		if len(states) == 0 || states[len(states)-1] != s.State {
			states = append(states, s.State)
		}
	}
	return states
}

// session runs an AgentWorkflow whose session gets one first message.
type session struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T
	w *world
}

func newSession(t *testing.T, w *world) *session {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(30 * time.Second)
	env.SetStartTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	workflow.Register(env)
	w.register(env)
	return &session{TestWorkflowEnvironment: env, t: t, w: w}
}

func input(mode protocol.ApprovalMode) protocol.AgentInput {
	return protocol.AgentInput{
		Session: protocol.Session{ID: "s", Title: "New session", TitleAuto: true, Backend: "local", State: protocol.StateIdle, Options: protocol.Options{Approve: mode}},
		First:   &protocol.QueuedMessage{ID: "m1", Content: "c1"},
	}
}

// run runs the workflow until it is idle and then ends it.
func (s *session) run(in protocol.AgentInput) {
	s.t.Helper()
	s.at(time.Hour, func() { s.SignalWorkflow(protocol.SignalEnd, protocol.End{}) })
	s.ExecuteWorkflow(protocol.AgentWorkflow, in)
	if !s.IsWorkflowCompleted() {
		s.t.Fatal("the workflow did not end")
	}
}

func (s *session) at(after time.Duration, f func()) { s.RegisterDelayedCallback(f, after) }

func (s *session) state() protocol.Session {
	s.t.Helper()
	value, err := s.QueryWorkflow(protocol.QueryState)
	if err != nil {
		s.t.Fatal(err)
	}
	var record protocol.Session
	if err := value.Get(&record); err != nil {
		s.t.Fatal(err)
	}
	return record
}

// outcome is what became of an update.
type outcome struct {
	rejected, failed error
	done             bool
}

// update sends an update and returns where its outcome will be.
func (s *session) update(name, id string, arg any) *outcome {
	o := &outcome{}
	s.UpdateWorkflow(name, id, &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { o.rejected = err },
		OnComplete: func(_ any, err error) {
			o.done, o.failed = true, err
		},
	}, arg)
	return o
}

// fault is an activity's error of a class.
func fault(class protocol.Class, wait time.Duration) error {
	f := &protocol.Fault{Class: class, Happened: string(class), RetryAfter: wait}
	return temporal.NewApplicationErrorWithOptions(f.Happened, string(class), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{f}})
}

// calls answers with n risky calls, numbered from the step.
func calls(in protocol.CallModelInput, titles ...string) protocol.CallModelResult {
	out := protocol.CallModelResult{NextSeq: in.Seq + len(titles)}
	for i, title := range titles {
		item := protocol.NewItem(in.Turn.TurnID, in.Seq+i, time.Time{})
		out.Calls = append(out.Calls, protocol.ToolCall{
			ID: item.CallID(), Item: item.ID, Tool: "exec_command",
			Ask: protocol.Ask{Acts: true, Risky: true, Title: title, Prefixes: []string{title}},
		})
	}
	return out
}
