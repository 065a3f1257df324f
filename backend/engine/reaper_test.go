package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"temporal-sandbox-agent/backend/protocol"
)

// recovery is how long it may take from Open until a workflow goes on that a
// killed process was at work on. It is 0.3 s on a quiet machine; the rest is
// for a busy one. Without the reaper it would be ten seconds and more.
const recovery = 8 * time.Second

func TestActivityOfAKilledProcessEndsAsHostLost(t *testing.T) {
	dir := t.TempDir()
	owner := startChild(t, "work", dir)
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	run := start(t, e.Client(), "block", "Block", time.Hour)
	waitForActivity(t, e.Client(), run)
	// An idle one, which must be left as it is.
	idle := start(t, e.Client(), "wait", "Wait")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner.kill()

	begin := time.Now()
	e = testEngine(t, dir)
	reaped, err := e.Reap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if reaped != (Reaped{Activities: 1}) {
		t.Errorf("reaped %+v", reaped)
	}
	testWorker(t, e)
	got := result(t, e.Client().GetWorkflow(t.Context(), run.GetID(), ""), 10*time.Second)
	if took := time.Since(begin); got != protocol.HostLost || took > recovery {
		t.Errorf("got %q after %s, want %s within %s", got, took, protocol.HostLost, recovery)
	} else {
		t.Logf("went on %s after the start", took)
	}
	if !signalled(t, e, idle) {
		t.Error("the idle workflow does not go on")
	}
}

func signalled(t *testing.T, e *Engine, run client.WorkflowRun) bool {
	t.Helper()
	if err := e.Client().SignalWorkflow(t.Context(), run.GetID(), "", "go", "on"); err != nil {
		t.Fatal(err)
	}
	return result(t, e.Client().GetWorkflow(t.Context(), run.GetID(), ""), 10*time.Second) == "on"
}

func TestWorkflowTaskOfAKilledProcessIsHandedBack(t *testing.T) {
	t.Setenv(thinkFor, "1m") // for the child; this process has no worker yet
	dir := t.TempDir()
	owner := startChild(t, "work", dir)
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	run := start(t, e.Client(), "think", "Think")
	eventually(t, 10*time.Second, "the first task is done", func() bool {
		d, err := e.Client().DescribeWorkflow(t.Context(), run.GetID(), "")
		return err == nil && d.HistoryLength >= 4
	})
	if err := e.Client().SignalWorkflow(t.Context(), run.GetID(), "", "go", "on"); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the second task starts", func() bool {
		d, err := e.Client().DescribeWorkflowExecution(t.Context(), run.GetID(), "")
		return err == nil && d.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
	})
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner.kill()
	t.Setenv(thinkFor, "")

	begin := time.Now()
	e = testEngine(t, dir)
	reaped, err := e.Reap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if reaped != (Reaped{Tasks: 1}) {
		t.Errorf("reaped %+v", reaped)
	}
	testWorker(t, e)
	got := result(t, e.Client().GetWorkflow(t.Context(), run.GetID(), ""), 30*time.Second)
	// Without the reaper it would be 10 s, the timeout of a workflow task.
	if took := time.Since(begin); got != "on" || took > recovery {
		t.Errorf("got %q after %s, want it within %s", got, took, recovery)
	} else {
		t.Logf("went on %s after the start", took)
	}
}

func TestReapLeavesTheLivingAlone(t *testing.T) {
	e := testEngine(t, t.TempDir())
	testWorker(t, e)
	run := start(t, e.Client(), "block", "Block", time.Hour)
	waitForActivity(t, e.Client(), run)
	if ids, err := e.db.atWork(t.Context()); err != nil || len(ids) != 1 {
		t.Fatalf("at work: %v %v", ids, err)
	}
	if reaped, err := e.Reap(t.Context()); err != nil || reaped != (Reaped{}) {
		t.Fatalf("reaped the living: %+v %v", reaped, err)
	}
	// It still runs and hears its cancel.
	if err := e.Client().SignalWorkflow(t.Context(), run.GetID(), "", "stop", nil); err != nil {
		t.Fatal(err)
	}
	if got := result(t, run, 30*time.Second); got == protocol.HostLost {
		t.Error("the activity was reaped")
	}
}

func TestReapBesideAWorker(t *testing.T) {
	dir := t.TempDir()
	owner := startChild(t, "work", dir)
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	runs := make([]client.WorkflowRun, 5)
	for i := range runs {
		runs[i] = start(t, e.Client(), fmt.Sprint("block-", i), "Block", time.Hour)
	}
	for _, run := range runs {
		waitForActivity(t, e.Client(), run)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner.kill()

	e = testEngine(t, dir)
	testWorker(t, e)
	alive := start(t, e.Client(), "alive", "Block", time.Hour)
	waitForActivity(t, e.Client(), alive)
	reaped, err := e.Reap(t.Context())
	if err != nil || reaped.Activities != len(runs) {
		t.Fatalf("reaped %+v, %v", reaped, err)
	}
	for _, run := range runs {
		if got := result(t, e.Client().GetWorkflow(t.Context(), run.GetID(), ""), 10*time.Second); got != protocol.HostLost {
			t.Errorf("%s: got %q", run.GetID(), got)
		}
	}
	waitForActivity(t, e.Client(), alive)
}

func TestReapIsForTheOwner(t *testing.T) {
	dir := t.TempDir()
	testEngine(t, dir)
	e := testEngine(t, dir)
	if _, err := e.Reap(t.Context()); !errors.Is(err, ErrNotOwner) {
		t.Errorf("got %v", err)
	}
}
