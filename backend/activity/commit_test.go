package activity_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"temporal-sandbox-agent/backend/protocol"
)

// A message that was put into a turn whose last step never got to write it is
// written when the turn is closed, once, and in its place.
func TestSteeredMessagesAreNotLostWithTheirStep(t *testing.T) {
	a, conversations, work := activities(t, "http://127.0.0.1:1")
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.RegisterActivity(a.CommitTurn)
	turn := protocol.TurnRef{SessionID: "s", TurnID: "s.1", Index: 1}
	user := protocol.NewItem("s.1", 0, time.Now())
	user.Kind, user.User = protocol.KindUser, &protocol.UserItem{MessageID: "m1", Text: "go"}
	var steered []protocol.QueuedMessage
	for _, id := range []string{"m2", "m3"} {
		content, err := json.Marshal(protocol.Message{ID: id, Text: "text of " + id})
		if err != nil {
			t.Fatal(err)
		}
		object, err := a.Objects.Put(t.Context(), content)
		if err != nil {
			t.Fatal(err)
		}
		steered = append(steered, protocol.QueuedMessage{ID: id, Content: string(object), Steer: true, Sent: time.Now()})
	}
	// The step wrote the first of the two.
	written := protocol.NewItem("s.1", 1, time.Now())
	written.Kind, written.User = protocol.KindUser, &protocol.UserItem{MessageID: "m2", Text: "text of m2", Steered: true}
	if err := conversations.Write(t.Context(), turn, user, written); err != nil {
		t.Fatal(err)
	}
	in := protocol.CommitTurnInput{
		Turn: turn, Place: protocol.Place{Backend: "local", Workspace: work}, Outcome: protocol.OutcomeInterrupted,
		Steered: steered, SteeredSeq: 1,
	}
	for range 2 { // the second time as after a crash
		value, err := env.ExecuteActivity(a.CommitTurn, in)
		if err != nil {
			t.Fatal(err)
		}
		var out protocol.CommitTurnResult
		if err := value.Get(&out); err != nil {
			t.Fatal(err)
		}
		page, err := conversations.Page(t.Context(), protocol.Session{ID: "s", Head: out.Head, Turns: 1}, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, item := range page.Items {
			if item.User != nil {
				said = append(said, item.User.Text)
			}
		}
		if !slices.Equal(said, []string{"go", "text of m2", "text of m3"}) {
			t.Errorf("the conversation has %q", said)
		}
	}
}
