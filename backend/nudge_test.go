package backend_test

import (
	"net/http"
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
	p.until(id, "the wait", func(s protocol.Session) bool { return s.State == protocol.StateWaiting })
	if n := len(p.model.Requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	p.must(p.Sessions.Nudge(t.Context(), true))
	p.until(id, "the end", idle(1))
	checkHistory(t, p.history(protocol.AgentID(id)))
}
