package activity_test

import (
	"reflect"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// An answer that was written is the answer, also if the app was killed before
// the workflow knew of it: the model is not asked again, and what it then would
// have said does not get mixed with what it did say.
func TestAnAnswerCountsOnce(t *testing.T) {
	model := llmtest.New(t)
	model.Push(
		llmtest.Answer{Items: []llmtest.Item{
			{Text: "Two things."}, {Call: "exec_command", Args: `{"cmd":"echo one >> log"}`}, {Call: "no_such_tool", Args: `{}`},
		}, Usage: &llmtest.Usage{Input: 10, Output: 2}},
		llmtest.Text("asked again"),
	)
	a, conversations, work := activities(t, model.URL)
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.RegisterActivity(a.CallModel)
	turn := protocol.TurnRef{SessionID: "s", TurnID: "s.1", Index: 1}
	user := protocol.NewItem("s.1", 0, time.Now())
	user.Kind, user.User = protocol.KindUser, &protocol.UserItem{MessageID: "m", Text: "go"}
	if err := conversations.Write(t.Context(), turn, user); err != nil {
		t.Fatal(err)
	}
	call := func(seq int) protocol.CallModelResult {
		t.Helper()
		value, err := env.ExecuteActivity(a.CallModel, protocol.CallModelInput{
			Turn: turn, Place: protocol.Place{Backend: "local", Workspace: work}, Step: 1, Attempt: 1, Seq: seq,
			Provider: "openai", Model: "gpt-5.4-mini",
		})
		if err != nil {
			t.Fatal(err)
		}
		var out protocol.CallModelResult
		if err := value.Get(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := call(1)
	before, err := conversations.OpenItems(t.Context(), turn.TurnID)
	if err != nil || len(first.Calls) != 2 || first.Calls[0].Invalid || !first.Calls[1].Invalid {
		t.Fatalf("%+v, %v", first, err)
	}
	again := call(1)
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if !reflect.DeepEqual(again.Calls, first.Calls) || again.NextSeq != first.NextSeq || again.Window != first.Window {
		t.Errorf("the first time %+v\nthen           %+v", first, again)
	}
	after, err := conversations.OpenItems(t.Context(), turn.TurnID)
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the conversation changed: %+v\n%+v, %v", before, after, err)
	}
	// The next step is asked for.
	if next := call(first.NextSeq); len(next.Calls) != 0 || next.NextSeq != first.NextSeq+1 || len(model.Requests()) != 2 {
		t.Errorf("the next step: %+v, asked %d times", next, len(model.Requests()))
	}
}
