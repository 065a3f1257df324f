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
	enumsspb "go.temporal.io/server/api/enums/v1"
	persistencepb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/tasktoken"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"temporal-sandbox-agent/backend/protocol"
)

// After a crash the server still believes that the dead worker is at work: on
// activities until their heartbeat timeout of minutes, on workflow tasks until their
// timeout. On one machine we know better. Whatever was started before this
// process owned the engine was started by a process that is gone, because only
// the owner of the data folder runs a worker.
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
//   - A task that was scheduled but not started needs nothing: a start does
//     the last transfers again (settings: UpdateAck), and
//     as nobody polls the dead worker's own queue, they go to the common one.
//   - Workflow tasks that only carry an update are never written: after a
//     crash they are gone, and the client's retry with the same update id
//     makes a new one.

const hostLostText = "the process that worked on this ended before it was done"

// Reaped counts what Reap handed back.
type Reaped struct {
	// Activities ended with protocol.HostLost.
	Activities int
	// Tasks are workflow tasks that were scheduled anew.
	Tasks int
}

// Reap ends what a dead worker left started, in all workflows, so that they go
// on at once. It is for the owner, after Open and before StartWorker. What a
// worker of this process has started is left alone. It costs a few
// milliseconds, and some more for each workflow that was at work.
func (e *Engine) Reap(ctx context.Context) (Reaped, error) {
	if e.role != RoleOwner {
		return Reaped{}, ErrNotOwner
	}
	ids, err := e.db.atWork(ctx)
	if err != nil || len(ids) == 0 {
		return Reaped{}, err
	}
	conn, err := e.link.raw()
	if err != nil {
		return Reaped{}, err
	}
	defer func() { _ = conn.Close() }()
	r := reaper{engine: e, admin: adminservice.NewAdminServiceClient(conn)}
	// One that fails keeps no other from being reaped.
	errs := make([]error, len(ids))
	var group errgroup.Group
	group.SetLimit(reapLimit)
	for i, id := range ids {
		group.Go(func() error {
			errs[i] = r.workflow(ctx, id)
			return nil
		})
	}
	_ = group.Wait()
	err = errors.Join(errs...)
	return Reaped{Activities: int(r.activities.Load()), Tasks: int(r.tasks.Load())}, err
}

// reapLimit is how many workflows are reaped at once. The database has one
// connection, so that more gains little.
const reapLimit = 8

// atWork are the ids of the running workflows that have a started activity or
// workflow task, perhaps. It reads the server's tables, in which that is one
// query: the server's API can only be asked about one workflow after another,
// which takes a second and more for 300 idle ones.
func (d *database) atWork(ctx context.Context) ([]string, error) {
	rows, err := d.db.QueryContext(ctx, `
		SELECT e.workflow_id, e.data, e.data_encoding, EXISTS (
			SELECT 1 FROM activity_info_maps a WHERE a.shard_id = e.shard_id
			AND a.namespace_id = e.namespace_id AND a.workflow_id = e.workflow_id AND a.run_id = e.run_id)
		FROM current_executions c JOIN executions e
		ON e.shard_id = c.shard_id AND e.namespace_id = c.namespace_id AND e.workflow_id = c.workflow_id AND e.run_id = c.run_id
		WHERE c.state <> ?`, enumsspb.WORKFLOW_EXECUTION_STATE_COMPLETED)
	if err != nil {
		return nil, storageError(d.p.dir, "look for workflows at work", err)
	}
	defer func() { _ = rows.Close() }()
	decode := serialization.NewSerializer()
	var ids []string
	for rows.Next() {
		var id, encoding string
		var data []byte
		var activities bool
		if err := rows.Scan(&id, &data, &encoding, &activities); err != nil {
			return nil, storageError(d.p.dir, "look for workflows at work", err)
		}
		info, err := decode.WorkflowExecutionInfoFromBlob(persistence.NewDataBlob(data, encoding))
		if err != nil {
			return nil, fmt.Errorf("look at workflow %q: %w", id, err)
		}
		if activities || info.GetWorkflowTaskStartedEventId() != common.EmptyEventID {
			ids = append(ids, id)
		}
	}
	return ids, storageError(d.p.dir, "look for workflows at work", rows.Err())
}

type reaper struct {
	engine *Engine
	admin  adminservice.AdminServiceClient

	activities, tasks atomic.Int64
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
		temporal.NewNonRetryableApplicationError(hostLostText, protocol.HostLost, nil))
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil // it timed out meanwhile
	}
	if err == nil {
		r.activities.Add(1)
	}
	return err
}

// task hands a workflow task back that was started before this process owned
// the engine. The server does not tell who started it.
func (r *reaper) task(ctx context.Context, state *persistencepb.WorkflowMutableState) error {
	info := state.GetExecutionInfo()
	if info.GetWorkflowTaskStartedEventId() == common.EmptyEventID ||
		!info.GetWorkflowTaskStartedTime().AsTime().Before(r.engine.owned) {
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
				ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: protocol.HostLost},
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
