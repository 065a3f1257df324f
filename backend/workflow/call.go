package workflow

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// Time limits of activities. The engine measures them by the clock, which goes
// on while a computer sleeps, and jumps when it is set: whatever is shorter
// than a nap would end what was at work at each waking, and a worker that died
// is noticed by the reaper at the next start anyway. So the limit for signs of
// life is long: it is for a report that got lost between worker and engine (a
// full disk, say), which nobody would send again. What is given up so is done
// again: a command is found in the journal, a model is asked anew. The longer
// limit only stops what would hang for ever; what is quick can be done again.
const (
	startToClose = 365 * 24 * time.Hour
	signOfLife   = 5 * time.Minute
	quickLimit   = 5 * time.Minute
)

// once runs an activity a single time. Trying again is decided by the workflow
// alone, where it is visible: never by a retry policy as well.
func once(ctx workflow.Context, name string, in, out any) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: startToClose,
		HeartbeatTimeout:    signOfLife,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, name, in).Get(ctx, out)
}

// untilDone runs a quick, idempotent activity until it succeeds, fails for
// good, or ctx ends.
func untilDone(ctx workflow.Context, name string, in, out any) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: quickLimit,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	for attempt := 1; ; attempt++ {
		err := workflow.ExecuteActivity(ctx, name, in).Get(ctx, out)
		fault := faultOf(err)
		switch {
		case err == nil:
			return nil
		case fault.Class == protocol.ClassHostLost && attempt < maxHostLost:
			continue
		case !fault.Class.Transient() && fault.Class != protocol.ClassInternal:
			return fault
		case attempt >= maxQuick:
			return fault
		}
		if err := workflow.Sleep(ctx, backoff(attempt)); err != nil {
			return err
		}
	}
}

// How often a call is made again.
const (
	// maxHostLost bounds restarts of the app during one call: each is the
	// user's own doing, but a call that kills the app must not do so for ever.
	maxHostLost = 20
	// maxQuick bounds tries of an idempotent activity that fails.
	maxQuick = 8
)

// backoff is the pause before a try: 1, 2, 4 … 30 seconds.
func backoff(attempt int) time.Duration {
	d := time.Second << min(attempt-1, 5)
	return min(d, 30*time.Second)
}

// faultOf classifies an activity's error. Activities put a Fault into the
// details of their errors; everything else comes from the engine.
func faultOf(err error) *protocol.Fault {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	if temporal.IsCanceledError(err) {
		return &protocol.Fault{Class: protocol.ClassCancelled, Happened: "Stopped"}
	}
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		if application.Type() == protocol.HostLost {
			return &protocol.Fault{Class: protocol.ClassHostLost, Happened: "The app was closed in the middle of this step"}
		}
		var fault protocol.Fault
		if application.HasDetails() && application.Details(&fault) == nil && fault.Class != "" {
			return &fault
		}
		return &protocol.Fault{Class: protocol.ClassInternal, Happened: "Something inside the app failed", Detail: application.Error()}
	}
	if temporal.IsTimeoutError(err) {
		return &protocol.Fault{Class: protocol.ClassHostLost, Happened: "The worker of this step did not answer", Detail: err.Error()}
	}
	return &protocol.Fault{Class: protocol.ClassInternal, Happened: "Something inside the app failed", Detail: err.Error()}
}
