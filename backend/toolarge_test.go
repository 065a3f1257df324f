package backend_test

import (
	"errors"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// A message that is far too long is refused in words that help, before
// anything of it is kept, and the session goes on as if nothing had been.
func TestAMessageOf50MegabytesIsRefused(t *testing.T) {
	p := start(t, stickyCache())
	p.model.Handle(func(llmtest.Request) llmtest.Answer { return llmtest.Text("hi") })
	id := p.create(protocol.ApproveNever, "hello")
	p.until(id, "the first turn", idle(1))
	_, err := p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: "big", Text: strings.Repeat("a line of a log\n", 50<<20/16)})
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok || fault.Class != protocol.ClassBadInput || !strings.Contains(fault.Happened, "50 MB") || fault.Remedy == "" {
		t.Fatalf("%+v", err)
	}
	_, err = p.Sessions.Create(t.Context(), protocol.CreateRequest{Workspace: p.workspace, First: &protocol.SendRequest{ID: "big2", Text: strings.Repeat("x", 50<<20)}})
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassBadInput {
		t.Fatalf("as a first message: %+v", err)
	}
	list, err := p.Sessions.List(t.Context())
	p.must(err)
	if len(list) != 1 || len(list[0].Queue) != 0 {
		t.Errorf("left behind: %+v", list)
	}
	_, err = p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: "m2", Text: strings.Repeat("y", protocol.MaxMessageBytes)})
	p.must(err)
	p.until(id, "the turn of the longest message", idle(2))
}
