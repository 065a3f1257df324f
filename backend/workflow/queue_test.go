package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

func temporalAs(err error, target **sdk.ContinueAsNewError) bool { return errors.As(err, target) }

func (s *session) decode(e *sdk.ContinueAsNewError, to any) error {
	return converter.GetDefaultDataConverter().FromPayloads(e.Input, to)
}

// slow makes the first turn last until release is closed.
func slow(w *world) (release func()) {
	done := make(chan struct{})
	w.model = func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n == 1 {
			return calls(in, "wait"), nil
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1 + len(in.Steered)}, nil
	}
	w.tool = func(context.Context, int, protocol.RunToolInput) (protocol.RunToolResult, error) {
		<-done
		return protocol.RunToolResult{Status: protocol.ToolDone}, nil
	}
	return func() { close(done) }
}

func ids(queue []protocol.QueuedMessage) []string {
	var out []string
	for _, m := range queue {
		out = append(out, m.ID)
	}
	return out
}

func TestQueueIsWorkedInOrder(t *testing.T) {
	w := &world{}
	release := slow(w)
	s := newSession(t, w)
	s.at(time.Second, func() {
		for i, id := range []string{"m2", "m3", "m4", "m5", "m2"} {
			s.update(protocol.UpdateSendMessage, fmt.Sprintf("u%d", i), protocol.QueuedMessage{ID: id, Content: "c" + id})
		}
	})
	var late *outcome
	s.at(1100*time.Millisecond, func() {
		if diff := cmp.Diff([]string{"m2", "m3", "m4", "m5"}, ids(s.state().Queue)); diff != "" {
			t.Error("sent:", diff)
		}
		s.update(protocol.UpdateEditQueue, "e1", protocol.QueueChange{Op: protocol.QueueRemove, ID: "m3"})
		s.update(protocol.UpdateEditQueue, "e2", protocol.QueueChange{Op: protocol.QueueMove, ID: "m5", To: 0})
		s.update(protocol.UpdateEditQueue, "e3", protocol.QueueChange{Op: protocol.QueueEdit, ID: "m4", Content: "edited", Preview: "new"})
		late = s.update(protocol.UpdateEditQueue, "e4", protocol.QueueChange{Op: protocol.QueueRemove, ID: "m1"})
	})
	s.at(1200*time.Millisecond, func() {
		if diff := cmp.Diff([]string{"m5", "m2", "m4"}, ids(s.state().Queue)); diff != "" {
			t.Error("changed:", diff)
		}
		wantClass(t, late.rejected, protocol.ClassNotFound)
		release()
	})
	s.run(input(protocol.ApproveNever))
	var contents []string
	for _, p := range w.prepared {
		contents = append(contents, p.Messages[0].Content)
	}
	if diff := cmp.Diff([]string{"c1", "cm5", "cm2", "edited"}, contents); diff != "" {
		t.Error("worked:", diff)
	}
	if len(w.commits) != 4 || w.commits[3].Turn.Head != "commit of s.3" || w.commits[3].Turn.Index != 4 {
		t.Errorf("commits %+v", w.commits)
	}
}

func TestSteeringGoesIntoTheTurnUnderWay(t *testing.T) {
	w := &world{}
	release := slow(w)
	s := newSession(t, w)
	s.at(time.Second, func() {
		s.update(protocol.UpdateSendMessage, "u2", protocol.QueuedMessage{ID: "m2", Content: "c2", Steer: true})
		s.update(protocol.UpdateSendMessage, "u3", protocol.QueuedMessage{ID: "m3", Content: "c3"})
		s.update(protocol.UpdateEditQueue, "e3", protocol.QueueChange{Op: protocol.QueueSteer, ID: "m3"})
		release()
	})
	s.run(input(protocol.ApproveNever))
	if len(w.commits) != 1 || len(w.models) != 2 {
		t.Fatalf("commits %d, model calls %d", len(w.commits), len(w.models))
	}
	if diff := cmp.Diff([]string{"m2", "m3"}, ids(w.models[1].Steered)); diff != "" {
		t.Error("steered:", diff)
	}
}

func TestSteeringAfterTheLastAnswerIsNotLost(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	sent := false
	w.model = func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n == 1 {
			sent = true
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1 + len(in.Steered)}, nil
	}
	// It arrives while the model gives what would be its last answer.
	s.at(0, func() {
		s.update(protocol.UpdateSendMessage, "u2", protocol.QueuedMessage{ID: "m2", Content: "c2", Steer: true})
	})
	s.run(input(protocol.ApproveNever))
	if !sent {
		t.Fatal("the model was not asked")
	}
	got := 0
	for _, m := range w.models {
		got += len(m.Steered)
	}
	for _, p := range w.prepared[1:] {
		got += len(p.Messages)
	}
	if got != 1 {
		t.Errorf("the message was given to the model %d times", got)
	}
}

// A message that steers a turn whose next step fails or is stopped is handed to
// the commit, which writes it if the step did not.
func TestSteeringIsNotLostWithTheStepThatTookIt(t *testing.T) {
	for _, class := range []protocol.Class{protocol.ClassSandboxGone, protocol.ClassContext} {
		w := &world{}
		release := slow(w)
		asked := w.model
		w.model = func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			if n == 2 {
				return protocol.CallModelResult{}, fault(class, 0)
			}
			return asked(n, in)
		}
		s := newSession(t, w)
		s.at(time.Second, func() {
			s.update(protocol.UpdateSendMessage, "u2", protocol.QueuedMessage{ID: "m2", Content: "c2", Steer: true})
			release()
		})
		s.run(input(protocol.ApproveNever))
		commit := w.commits[0]
		if class == protocol.ClassSandboxGone {
			if got := ids(commit.Steered); len(got) != 1 || got[0] != "m2" || commit.SteeredSeq != w.models[1].Seq {
				t.Errorf("%s: the commit has %q at %d; the step was asked for at %d", class, got, commit.SteeredSeq, w.models[1].Seq)
			}
			continue
		}
		// The model was asked, so the message is written; the summary that makes
		// room must not take its place.
		if len(w.compacted) != 1 || w.compacted[0].Seq != w.models[1].Seq+1 || len(w.models[2].Steered) != 0 || len(commit.Steered) != 0 {
			t.Errorf("%s: summary at %+v; then asked %+v; commit %+v", class, w.compacted, w.models[2], commit)
		}
	}
}

func TestBadMessagesAreRefused(t *testing.T) {
	s := newSession(t, &world{})
	var refused []*outcome
	s.at(time.Minute, func() {
		bad := protocol.ApprovalMode("sometimes")
		refused = append(refused,
			s.update(protocol.UpdateSendMessage, "no id", protocol.QueuedMessage{Content: "c"}),
			s.update(protocol.UpdateSendMessage, "no content", protocol.QueuedMessage{ID: "x"}),
			s.update(protocol.UpdateSetOptions, "mode", protocol.OptionsChange{Approve: &bad}))
	})
	s.run(input(protocol.ApproveNever))
	if len(refused) != 3 {
		t.Fatal("not all were sent")
	}
	for _, o := range refused {
		wantClass(t, o.rejected, protocol.ClassBadInput)
	}
}
