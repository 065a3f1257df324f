package workflow

import (
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// patience is how often a class of fault is met before the turn fails.
func patience(class protocol.Class) int {
	switch class {
	case protocol.ClassRateLimit:
		return 30
	case protocol.ClassOverloaded:
		return 10
	case protocol.ClassConnection:
		return 8
	case protocol.ClassBackendDown:
		return 2000 // most of a day: somebody has to start it
	default:
		return 0
	}
}

// retries counts the tries of one step.
type retries struct {
	lost  int
	tries int
}

// again decides whether a failed step is tried again, and waits for it. The
// wait is part of the session's record, so that the window can count down and
// a restart goes on waiting. It returns nil when the step is to be tried
// again, else the fault that ends the turn.
func (a *agent) again(ctx workflow.Context, r *retries, fault *protocol.Fault) *protocol.Fault {
	if fault.Class == protocol.ClassHostLost {
		if r.lost++; r.lost >= maxHostLost {
			return fault
		}
		return nil
	}
	if r.tries++; r.tries > patience(fault.Class) {
		return fault
	}
	pause := backoff(r.tries)
	if fault.RetryAfter > 0 {
		pause = fault.RetryAfter
	}
	if pause > protocol.MaxRetryPause {
		return fault
	}
	a.s.State = protocol.StateWaiting
	a.s.Retry = &protocol.Retry{
		At:      workflow.Now(ctx).Add(pause),
		Attempt: r.tries,
		Class:   string(fault.Class),
		Reason:  fault.Happened,
	}
	a.touch()
	a.nudged = false
	_, err := workflow.AwaitWithTimeout(ctx, pause, func() bool { return a.nudged })
	a.s.State = protocol.StateWorking
	a.s.Retry = nil
	a.touch()
	if err != nil {
		return faultOf(err)
	}
	return nil
}
