package backend_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
)

// While several people write to one session at once, its workflow continues as
// new again and again: every message is worked exactly once, and those of one
// sender in the order in which they were sent.
func TestNoMessageIsLostWhenAWorkflowContinuesAsNew(t *testing.T) {
	p := startWith(t, backend.Config{LongRun: 50})
	p.model.Handle(func(r llmtest.Request) llmtest.Answer { return llmtest.Text("heard " + r.LastUser) })
	id := p.create(protocol.ApproveNever, "hello")

	const senders, each = 3, 10
	var wait sync.WaitGroup
	for sender := range senders {
		wait.Go(func() {
			for n := range each {
				text := fmt.Sprintf("%d says %02d", sender, n)
				message := session.NewID()
				for range 2 { // the second time as a client does that got no answer
					if _, err := p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: message, Text: text}); err != nil {
						t.Errorf("send %q: %v", text, err)
					}
				}
				// A change between the messages is an update of another kind.
				if err := p.Sessions.Rename(t.Context(), id, text); err != nil {
					t.Errorf("rename to %q: %v", text, err)
				}
			}
		})
	}
	wait.Wait()
	p.until(id, "all turns", idle(1+senders*each))

	heard := make([][]string, senders)
	for _, item := range p.items(id) {
		if item.User == nil || item.User.Text == "hello" {
			continue
		}
		var sender, n int
		if _, err := fmt.Sscanf(item.User.Text, "%d says %d", &sender, &n); err != nil {
			t.Fatalf("a message nobody sent: %q", item.User.Text)
		}
		heard[sender] = append(heard[sender], item.User.Text)
	}
	for sender, messages := range heard {
		if len(messages) != each || !slices.IsSorted(messages) {
			t.Errorf("of sender %d came: %q", sender, messages)
		}
	}
	p.record(map[string]string{"carried": protocol.AgentID(id), "manager-carried": protocol.SessionManagerID})
	if runs := p.runs(protocol.AgentID(id)); runs < 3 {
		t.Errorf("the workflow had %d runs: it never continued as new under load", runs)
	}
	if runs := p.runs(protocol.SessionManagerID); runs < 2 {
		t.Errorf("the registry had %d runs", runs)
	}
}
