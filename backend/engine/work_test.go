package engine

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const testQueue = "test"

// registerTestWork is the work that the tests give to a worker.
func registerTestWork(r worker.Registry) {
	for name, f := range map[string]any{
		"Chain": chainWorkflow, "Wait": waitWorkflow, "Block": blockWorkflow, "Think": thinkWorkflow,
		"Talk": talkWorkflow,
	} {
		r.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name})
	}
	r.RegisterActivityWithOptions(say, activity.RegisterOptions{Name: "Echo"})
	r.RegisterActivityWithOptions(block, activity.RegisterOptions{Name: "Block"})
}

func say(_ context.Context, s string) (string, error) { return s, nil }

// block runs until it is cancelled, and tells by its return when it was.
func block(ctx context.Context) (time.Time, error) {
	activity.RecordHeartbeat(ctx)
	<-ctx.Done()
	return time.Now(), nil
}

func withActivities(ctx workflow.Context, heartbeat time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
}

// chainWorkflow runs activities one after another and returns the time that
// each took.
func chainWorkflow(ctx workflow.Context, n int) (string, error) {
	ctx = withActivities(ctx, 0)
	var out string
	for range n {
		if err := workflow.ExecuteActivity(ctx, "Echo", "echo").Get(ctx, &out); err != nil {
			return "", err
		}
	}
	return out, nil
}

// waitWorkflow waits for a signal, then runs an activity.
func waitWorkflow(ctx workflow.Context) (string, error) {
	var s string
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, &s)
	var out string
	err := workflow.ExecuteActivity(withActivities(ctx, 0), "Echo", s).Get(ctx, &out)
	return out, err
}

// blockWorkflow runs an activity that does not end, and returns the type of
// the error that it ended with, or when it was cancelled.
func blockWorkflow(ctx workflow.Context, heartbeat time.Duration) (string, error) {
	actx, cancel := workflow.WithCancel(withActivities(ctx, heartbeat))
	workflow.Go(ctx, func(ctx workflow.Context) {
		workflow.GetSignalChannel(ctx, "stop").Receive(ctx, nil)
		cancel()
	})
	var when time.Time
	err := workflow.ExecuteActivity(actx, "Block").Get(ctx, &when)
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &app):
		return app.Type(), nil
	case err != nil:
		return "", err
	default:
		return when.Format(time.RFC3339Nano), nil
	}
}

// thinkFor makes workflow code slow in the process that has it in its
// environment: so that it can be killed in the middle of a workflow task.
const thinkFor = "ENGINE_TEST_THINK"

func thinkWorkflow(ctx workflow.Context) (string, error) {
	var s string
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, &s)
	if d, err := time.ParseDuration(os.Getenv(thinkFor)); err == nil {
		time.Sleep(d) // the workflow under test misbehaves on purpose
	}
	return s, nil
}

// testEngine opens an engine and closes it with the test.
func testEngine(t testing.TB, dir string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

// testWorker starts a worker for the test's work.
func testWorker(t testing.TB, e *Engine) {
	t.Helper()
	if _, err := e.StartWorker(registerTestWork, WorkerOptions{TaskQueue: testQueue}); err != nil {
		t.Fatal(err)
	}
}

// start starts a workflow of the test's work.
func start(t testing.TB, c client.Client, id, workflowType string, args ...any) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: id, TaskQueue: testQueue, WorkflowTaskTimeout: 10 * time.Second,
	}, workflowType, args...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// result waits for a workflow and returns what it returned.
func result(t testing.TB, run client.WorkflowRun, within time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var s string
	if err := run.Get(ctx, &s); err != nil {
		t.Fatalf("workflow %s: %v", run.GetID(), err)
	}
	return s
}

// eventually polls until the condition holds.
func eventually(t testing.TB, within time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		if cond() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// runChain starts a worker and a short workflow.
func runChain(t testing.TB, e *Engine) client.WorkflowRun {
	t.Helper()
	testWorker(t, e)
	return start(t, e.Client(), "after", "Chain", 1)
}
