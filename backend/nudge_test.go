package backend_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// A turn that waits for a service goes on when it is told to, on the real
// engine: its timers go by a clock that may be set back.
func TestNudgeOnTheRealEngine(t *testing.T) {
	p := start(t, stickyCache())
	limited := llmtest.Failure(http.StatusTooManyRequests, llmtest.Error{Code: "rate_limit_exceeded", Message: "Slow down."})
	limited.Header = http.Header{"Retry-After": {"600"}}
	p.model.Push(limited)
	p.model.Handle(func(llmtest.Request) llmtest.Answer { return llmtest.Text("Hello.") })
	id := p.create(protocol.ApproveNever, "hello")
	p.until(id, "the wait", func(s protocol.Session) bool { return s.State == protocol.StateWaiting && s.Retry != nil })
	p.must(p.Sessions.Nudge(t.Context(), false)) // it waits no longer than it may
	for _, event := range p.history(protocol.AgentID(id)).Events {
		if event.GetWorkflowExecutionSignaledEventAttributes() != nil {
			t.Error("a turn that waits no longer than it may was nudged")
		}
	}
	p.must(p.Sessions.Nudge(t.Context(), true))
	p.until(id, "the end", idle(1))
	checkHistory(t, p.history(protocol.AgentID(id)))
	p.record(map[string]string{"nudged": protocol.AgentID(id)})
}

// A turn with trouble on the real engine: a service that wants a pause, and a
// user who says more in the middle of it.
func TestPauseAndSteeringOnTheRealEngine(t *testing.T) {
	p := start(t, stickyCache())
	limited := llmtest.Failure(http.StatusTooManyRequests, llmtest.Error{Code: "rate_limit_exceeded", Message: "Slow down."})
	limited.Header = http.Header{"Retry-After": {"1"}}
	p.model.Push(limited, llmtest.Call("exec_command", `{"cmd":"echo begun > log; until [ -e more ]; do sleep 0.1; done"}`))
	p.model.Handle(func(r llmtest.Request) llmtest.Answer { return llmtest.Text("heard " + r.LastUser) })
	id := p.create(protocol.ApproveNever, "hello")
	p.until(id, "the command", func(protocol.Session) bool {
		_, err := os.Stat(filepath.Join(p.workspace, "log"))
		return err == nil
	})
	_, err := p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: "m2", Text: "more", Steer: true})
	p.must(err)
	p.must(os.WriteFile(filepath.Join(p.workspace, "more"), nil, 0o600))
	p.until(id, "the end", idle(1))
	said := ""
	for _, item := range p.items(id) {
		if item.Assistant != nil {
			said += item.Assistant.Text
		}
	}
	if said != "heard more" {
		t.Errorf("the model said %q", said)
	}
	if n := len(p.model.Requests()); n != 3 {
		t.Errorf("the model was asked %d times", n)
	}
	p.record(map[string]string{"paused": protocol.AgentID(id)})
}
