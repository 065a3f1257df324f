package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"temporal-sandbox-agent/backend/protocol"
)

// Reconciled counts what Reconcile set right.
type Reconciled struct {
	// Revived sessions had a record but no workflow: their workflow was begun
	// anew.
	Revived int
	// Recorded sessions had a workflow but no record.
	Recorded int
	// Removed records were of sessions that had ended.
	Removed int
	// Listed and Unlisted count changes of the registry.
	Listed, Unlisted int
}

// Reconcile sets right what the three places that know of sessions (the
// workflows that run, the registry, the records in the store) do not agree on,
// so that no session can vanish: after a crash between two steps, or after one
// of the databases was lost. Only the owner of the engine calls it.
func (s *Service) Reconcile(ctx context.Context) (Reconciled, error) {
	var done Reconciled
	c, err := s.Engine.Client(ctx)
	if err != nil {
		return done, err
	}
	running, err := runningSessions(ctx, c)
	if err != nil {
		return done, err
	}
	records, err := s.Transcript.Sessions(ctx)
	if err != nil {
		return done, fmt.Errorf("read the records: %w", err)
	}
	recorded := map[string]protocol.Session{}
	for _, record := range records {
		recorded[record.ID] = record
		if running[record.ID] {
			continue
		}
		if err := s.settleRecord(ctx, c, record, running, &done); err != nil {
			return done, err
		}
	}
	for id := range running {
		if _, ok := recorded[id]; ok {
			continue
		}
		record, err := s.record(ctx, c, id)
		if err != nil {
			// Just made or just ended: it records itself.
			s.Log.Info("a session without a record did not answer", "session", id, "error", err)
			continue
		}
		recorded[id] = record
		done.Recorded++
	}
	return done, s.reconcileRegistry(ctx, c, running, recorded, &done)
}

// runningSessions are the ids of the sessions whose workflow runs.
func runningSessions(ctx context.Context, c client.Client) (map[string]bool, error) {
	running := map[string]bool{}
	var page []byte
	for {
		response, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query:         fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", protocol.AgentWorkflow),
			PageSize:      1000,
			NextPageToken: page,
		})
		if err != nil {
			return nil, fmt.Errorf("list the running sessions: %w", err)
		}
		for _, execution := range response.GetExecutions() {
			if id, ok := strings.CutPrefix(execution.GetExecution().GetWorkflowId(), protocol.AgentIDPrefix); ok {
				running[id] = true
			}
		}
		if page = response.GetNextPageToken(); len(page) == 0 {
			return running, nil
		}
	}
}

// settleRecord deals with a record whose session was not in the list of those
// that run. The list may lag behind, so the session itself is looked at.
func (s *Service) settleRecord(ctx context.Context, c client.Client, record protocol.Session, running map[string]bool, done *Reconciled) error {
	description, err := c.DescribeWorkflowExecution(ctx, protocol.AgentID(record.ID), "")
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound):
		if err := s.revive(ctx, c, record); err != nil {
			return err
		}
		running[record.ID] = true
		done.Revived++
		return nil
	case err != nil:
		return fmt.Errorf("look at session %s: %w", record.ID, err)
	}
	switch description.GetWorkflowExecutionInfo().GetStatus() {
	case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		running[record.ID] = true
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		// It ended, and the app was killed before its record went.
		if err := s.Transcript.RemoveSession(ctx, record.ID); err != nil {
			return fmt.Errorf("remove the record of %s: %w", record.ID, err)
		}
		done.Removed++
	default:
		if err := s.revive(ctx, c, record); err != nil {
			return err
		}
		running[record.ID] = true
		done.Revived++
	}
	return nil
}

// revive begins a session's workflow anew from its record: everything that it
// needs is there.
func (s *Service) revive(ctx context.Context, c client.Client, record protocol.Session) error {
	record.Retry, record.Approvals, record.Moving = nil, nil, nil
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                    protocol.AgentID(record.ID),
		TaskQueue:             protocol.TaskQueue,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, protocol.AgentWorkflow, protocol.AgentInput{Session: record})
	if err != nil {
		return fmt.Errorf("begin session %s anew: %w", record.ID, err)
	}
	s.Log.Warn("a session's workflow was gone and was begun anew from its record", "session", record.ID)
	return nil
}

// record writes the record of a session that has none.
func (s *Service) record(ctx context.Context, c client.Client, id string) (protocol.Session, error) {
	record, err := ask(ctx, c, id)
	if err != nil {
		return protocol.Session{}, err
	}
	if _, err := s.Transcript.SaveSession(ctx, record); err != nil {
		return protocol.Session{}, fmt.Errorf("save the record of session %s: %w", id, err)
	}
	return record, nil
}

// ask has a session itself say what its record is.
func ask(ctx context.Context, c client.Client, id string) (protocol.Session, error) {
	value, err := c.QueryWorkflow(ctx, protocol.AgentID(id), "", protocol.QueryState)
	if err != nil {
		return protocol.Session{}, fmt.Errorf("ask session %s: %w", id, err)
	}
	var record protocol.Session
	if err := value.Get(&record); err != nil {
		return protocol.Session{}, fmt.Errorf("read the state of session %s: %w", id, err)
	}
	return record, nil
}

// Now is a session's record as the session itself knows it. What is in the
// store may be older by a moment, or by a crash; this is slower.
func (s *Service) Now(ctx context.Context, id string) (protocol.Session, error) {
	var record protocol.Session
	err := s.command(ctx, "ask the session", func(ctx context.Context, c client.Client) error {
		var err error
		record, err = ask(ctx, c, id)
		return err
	})
	return record, err
}

// settleLimit bounds Settle: what it waits for comes by itself, at the next
// start at the latest.
const settleLimit = 5 * time.Second

// Settle waits until the store knows what the session knows now, so that who
// changed something can leave and the next one reads it.
func (s *Service) Settle(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	now, err := s.Now(ctx, id)
	for err == nil {
		var record protocol.Session
		if record, err = s.Transcript.Session(ctx, id); err == nil && record.Version >= now.Version {
			return nil
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return faultOf("wait for the session's record", err)
}

// reconcileRegistry tells the registry what runs, if it knows otherwise.
func (s *Service) reconcileRegistry(ctx context.Context, c client.Client, running map[string]bool, recorded map[string]protocol.Session, done *Reconciled) error {
	var entries []protocol.RegistryEntry
	value, err := c.QueryWorkflow(ctx, protocol.SessionManagerID, "", protocol.QueryList)
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound): // there was never a session, or it was lost
	case err != nil:
		return fmt.Errorf("ask the registry: %w", err)
	default:
		if err := value.Get(&entries); err != nil {
			return fmt.Errorf("read the registry: %w", err)
		}
	}
	var change protocol.ReconcileInput
	listed := map[string]bool{}
	for _, entry := range entries {
		listed[entry.ID] = true
		if !running[entry.ID] && s.hasEnded(ctx, c, entry.ID) {
			change.Gone = append(change.Gone, entry.ID)
		}
	}
	for id := range running {
		if record, ok := recorded[id]; ok && !listed[id] {
			change.Running = append(change.Running, protocol.RegistryEntry{
				ID: id, Title: record.Title, Backend: record.Backend, Parent: record.Parent, Created: record.Created,
			})
		}
	}
	if len(change.Gone) == 0 && len(change.Running) == 0 {
		return nil
	}
	var result protocol.ReconcileResult
	if err := s.manage(ctx, protocol.UpdateReconcile, "reconcile-"+NewID(), change, &result); err != nil {
		return err
	}
	done.Listed, done.Unlisted = len(result.Added), len(result.Removed)
	return nil
}

// hasEnded tells whether a session's workflow certainly does not run.
func (s *Service) hasEnded(ctx context.Context, c client.Client, id string) bool {
	description, err := c.DescribeWorkflowExecution(ctx, protocol.AgentID(id), "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return true
	}
	return err == nil && description.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING
}
