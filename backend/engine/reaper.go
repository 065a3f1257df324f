package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/server/api/adminservice/v1"
	persistencepb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common"
	"go.temporal.io/server/common/tasktoken"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// After a crash the server still believes that the dead worker is at work: on
// activities until their heartbeat timeout, on workflow tasks until their
// timeout. On one machine we know better. Whatever was started before this
// process opened the engine was started by a process that is gone, because
// only the owner of the data folder runs a worker.
//
// What was found about it (server 1.32.1):
//
//   - A started activity is completed by its id, with an error that the
//     workflow sees as what it is, instead of a timeout.
//   - A started workflow task has no such call, but RespondWorkflowTaskFailed
//     takes a task token, which is made of ids that the server tells (see
//     tasktoken.NewWorkflowTaskToken). The server then schedules the task anew
//     at once, on the common queue. ResetStickyTaskQueue and a signal do not
//     help: both leave a started task alone.
//   - A task that was scheduled but not started is in the queue of the dead
//     worker at worst, and leaves it after stickyTimeout. When new tasks come,
//     the server sees that nobody polls that queue and uses the common one.
//   - Workflow tasks that only carry an update are never written: after a
//     crash they are gone, and the client's retry with the same update id
//     makes a new one.

// HostLost is the type of the application error that an activity ends with
// when the process that ran it is gone. It is not retried by the server: the
// workflow decides.
const HostLost = "HostLost"

const hostLostText = "the process that worked on this ended before it was done"

// reapLimit is how many workflows are looked at at once.
const reapLimit = 16

// Reaped counts what Reap handed back.
type Reaped struct {
	// Looked is how many workflows were looked at.
	Looked int
	// Activities ended with HostLost.
	Activities int
	// Tasks are workflow tasks that were scheduled anew.
	Tasks int
}

// Reap ends what a dead worker left started in the given workflows, so that
// they go on at once. It is for the owner, after Open and before StartWorker,
// with the workflows that may have been at work; ids that do not exist are no
// error. What a living worker of this process has started is left alone.
func (e *Engine) Reap(ctx context.Context, workflowIDs []string) (Reaped, error) {
	if e.role != RoleOwner {
		return Reaped{}, ErrNotOwner
	}
	conn, err := e.link.raw()
	if err != nil {
		return Reaped{}, err
	}
	defer func() { _ = conn.Close() }()
	r := reaper{
		engine: e, admin: adminservice.NewAdminServiceClient(conn),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reapLimit)
	for _, id := range workflowIDs {
		group.Go(func() error { return r.workflow(ctx, id) })
	}
	err = group.Wait()
	return Reaped{
		Looked: int(r.looked.Load()), Activities: int(r.activities.Load()), Tasks: int(r.tasks.Load()),
	}, err
}

// ReapAll is Reap for every running workflow. It may run while a worker is
// running, as the fallback for workflows that nobody knew to be at work.
func (e *Engine) ReapAll(ctx context.Context) (Reaped, error) {
	if e.role != RoleOwner {
		return Reaped{}, ErrNotOwner
	}
	var ids []string
	var page []byte
	for {
		resp, err := e.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: `ExecutionStatus = 'Running'`, PageSize: 1000, NextPageToken: page,
		})
		if err != nil {
			return Reaped{}, fmt.Errorf("list the running workflows: %w", err)
		}
		for _, x := range resp.GetExecutions() {
			ids = append(ids, x.GetExecution().GetWorkflowId())
		}
		if page = resp.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	return e.Reap(ctx, ids)
}

type reaper struct {
	engine *Engine
	admin  adminservice.AdminServiceClient

	looked, activities, tasks atomic.Int64
}

func (r *reaper) workflow(ctx context.Context, id string) error {
	resp, err := r.admin.DescribeMutableState(ctx, &adminservice.DescribeMutableStateRequest{
		Namespace:       r.engine.link.namespace,
		Execution:       &commonpb.WorkflowExecution{WorkflowId: id},
		SkipForceReload: true, // leave in memory what is only there
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at workflow %q: %w", id, err)
	}
	r.looked.Add(1)
	state := resp.GetDatabaseMutableState()
	if state.GetExecutionState().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	for _, a := range state.GetActivityInfos() {
		if err := r.activity(ctx, state, a); err != nil {
			return fmt.Errorf("end activity %q of workflow %q: %w", a.GetActivityId(), id, err)
		}
	}
	if err := r.task(ctx, state); err != nil {
		return fmt.Errorf("hand back the task of workflow %q: %w", id, err)
	}
	return nil
}

// activity ends one that was started by another process. Who started it is
// compared, not when: the clock may have been set.
func (r *reaper) activity(ctx context.Context, state *persistencepb.WorkflowMutableState, a *persistencepb.ActivityInfo) error {
	if a.GetStartedEventId() == common.EmptyEventID || a.GetStartedIdentity() == r.engine.link.identity {
		return nil
	}
	err := r.engine.client.CompleteActivityByID(ctx, r.engine.link.namespace,
		state.GetExecutionInfo().GetWorkflowId(), state.GetExecutionState().GetRunId(), a.GetActivityId(), nil,
		temporal.NewNonRetryableApplicationError(hostLostText, HostLost, nil))
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil // it timed out meanwhile
	}
	if err == nil {
		r.activities.Add(1)
	}
	return err
}

// task hands a workflow task back that was started before this process opened
// the engine. The server does not tell who started it.
func (r *reaper) task(ctx context.Context, state *persistencepb.WorkflowMutableState) error {
	info := state.GetExecutionInfo()
	if info.GetWorkflowTaskStartedEventId() == common.EmptyEventID ||
		!info.GetWorkflowTaskStartedTime().AsTime().Before(r.engine.opened) {
		return nil
	}
	tok, err := tasktoken.NewSerializer().Serialize(tasktoken.NewWorkflowTaskToken(
		info.GetNamespaceId(), info.GetWorkflowId(), state.GetExecutionState().GetRunId(),
		info.GetWorkflowTaskScheduledEventId(), info.GetWorkflowTaskStartedEventId(), nil,
		info.GetWorkflowTaskAttempt(), nil, info.GetWorkflowTaskVersion(),
	))
	if err != nil {
		return err
	}
	_, err = r.engine.client.WorkflowService().RespondWorkflowTaskFailed(ctx, &workflowservice.RespondWorkflowTaskFailedRequest{
		Namespace: r.engine.link.namespace,
		TaskToken: tok,
		Identity:  r.engine.link.identity,
		Cause:     enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
		Failure: &failurepb.Failure{
			Message: hostLostText,
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
				ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: HostLost},
			},
		},
	})
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil // it timed out meanwhile
	}
	if err == nil {
		r.tasks.Add(1)
	}
	return err
}
