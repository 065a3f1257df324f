package workflow

import (
	"errors"
	"fmt"
	"slices"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// SessionManagerWorkflow is the registry: it makes, names and ends sessions
// and knows which there are. It is a singleton that continues as new long
// before the engine's limits.
func SessionManagerWorkflow(ctx workflow.Context, in protocol.ManagerInput) error {
	m := &manager{entries: in.Entries}
	if err := m.handle(ctx); err != nil {
		return err
	}
	err := workflow.Await(ctx, func() bool {
		return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
	})
	if err != nil {
		return err
	}
	m.draining = true
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, protocol.SessionManagerWorkflow,
		protocol.ManagerInput{Entries: m.entries})
}

type manager struct {
	entries  []protocol.RegistryEntry
	draining bool
}

// maxSessions bounds the registry: its state is carried as one payload.
const maxSessions = 5000

func (m *manager) handle(ctx workflow.Context) error {
	err := workflow.SetQueryHandler(ctx, protocol.QueryList, func() ([]protocol.RegistryEntry, error) {
		return m.entries, nil
	})
	if err != nil {
		return fmt.Errorf("register query %s: %w", protocol.QueryList, err)
	}
	updates := []struct {
		name     string
		handler  any
		validate any
	}{
		{protocol.UpdateCreate, m.onCreate, m.checkCreate},
		{protocol.UpdateFork, m.onFork, m.checkFork},
		{protocol.UpdateRename, m.onRename, m.checkRename},
		{protocol.UpdateDestroy, m.onDestroy, m.checkDestroy},
		{protocol.UpdateReconcile, m.onReconcile, m.checkReconcile},
	}
	for _, u := range updates {
		options := workflow.UpdateHandlerOptions{Validator: u.validate}
		if err := workflow.SetUpdateHandlerWithOptions(ctx, u.name, u.handler, options); err != nil {
			return fmt.Errorf("register update %s: %w", u.name, err)
		}
	}
	return nil
}

func (m *manager) open() error {
	if m.draining {
		return reject(protocol.ClassBusy, "the registry is being carried over: try again")
	}
	return nil
}

func (m *manager) find(id string) int {
	return slices.IndexFunc(m.entries, func(e protocol.RegistryEntry) bool { return e.ID == id })
}

func (m *manager) checkCreate(in protocol.CreateInput) error {
	if err := m.open(); err != nil {
		return err
	}
	switch {
	case in.ID == "" || len(in.ID) > 64:
		return reject(protocol.ClassBadInput, "a session needs an id of 1 to 64 characters")
	case in.Place.Backend == "":
		return reject(protocol.ClassBadInput, "a session needs a backend")
	case len(in.Title) > maxTitle:
		return reject(protocol.ClassBadInput, "a title has at most %d bytes", maxTitle)
	case !in.Options.Approve.Valid():
		return reject(protocol.ClassBadInput, "unknown approval mode %q", in.Options.Approve)
	case len(m.entries) >= maxSessions && m.find(in.ID) < 0:
		return reject(protocol.ClassBadInput, "there are %d sessions already: destroy some first", len(m.entries))
	}
	return nil
}

// onCreate makes a session.
func (m *manager) onCreate(ctx workflow.Context, in protocol.CreateInput) (protocol.RegistryEntry, error) {
	if at := m.find(in.ID); at >= 0 {
		return m.entries[at], nil
	}
	entry := protocol.RegistryEntry{
		ID: in.ID, Title: in.Title, Backend: in.Place.Backend, Created: workflow.Now(ctx),
	}
	session := protocol.Session{
		ID:        in.ID,
		Title:     in.Title,
		TitleAuto: in.Title == "",
		Backend:   in.Place.Backend,
		Workspace: in.Place.Workspace,
		Folder:    in.Place.Folder,
		Image:     in.Place.Image,
		Sandbox:   in.Place.Sandbox,
		State:     protocol.StateIdle,
		Options:   in.Options,
		Created:   entry.Created,
		Updated:   entry.Created,
	}
	if session.TitleAuto {
		session.Title = "New session"
		entry.Title = session.Title
	}
	return m.begin(ctx, entry, protocol.AgentInput{Session: session, First: in.First})
}

// begin starts a session's workflow, which outlives this one.
func (m *manager) begin(ctx workflow.Context, entry protocol.RegistryEntry, in protocol.AgentInput) (protocol.RegistryEntry, error) {
	// The entry goes in first, so that two commands with one id make one session.
	m.entries = append(slices.Clone(m.entries), entry)
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            protocol.AgentID(entry.ID),
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
	})
	future := workflow.ExecuteChildWorkflow(child, protocol.AgentWorkflow, in)
	err := future.GetChildWorkflowExecution().Get(ctx, nil)
	if _, already := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); err != nil && !already {
		if at := m.find(entry.ID); at >= 0 {
			m.entries = slices.Delete(slices.Clone(m.entries), at, at+1)
		}
		return protocol.RegistryEntry{}, fmt.Errorf("start the session's workflow: %w", err)
	}
	return entry, nil
}

func (m *manager) checkRename(in protocol.RenameInput) error {
	if err := m.open(); err != nil {
		return err
	}
	switch {
	case in.Title == "" || len(in.Title) > maxTitle:
		return reject(protocol.ClassBadInput, "a title has 1 to %d bytes", maxTitle)
	case m.find(in.ID) < 0:
		return reject(protocol.ClassNotFound, "there is no session %s", in.ID)
	}
	return nil
}

func (m *manager) onRename(ctx workflow.Context, in protocol.RenameInput) error {
	err := workflow.SignalExternalWorkflow(ctx, protocol.AgentID(in.ID), "",
		protocol.SignalTitle, protocol.SetTitle{Title: in.Title}).Get(ctx, nil)
	if err != nil {
		return reject(protocol.ClassNotFound, "the session %s does not run: %v", in.ID, err)
	}
	if at := m.find(in.ID); at >= 0 {
		m.entries = slices.Clone(m.entries)
		m.entries[at].Title = in.Title
	}
	return nil
}

func (m *manager) checkDestroy(in protocol.DestroyInput) error {
	if err := m.open(); err != nil {
		return err
	}
	if m.find(in.ID) < 0 {
		return reject(protocol.ClassNotFound, "there is no session %s", in.ID)
	}
	return nil
}

// onDestroy tells the session to end and forgets it. A session whose workflow
// is gone already is forgotten as well.
func (m *manager) onDestroy(ctx workflow.Context, in protocol.DestroyInput) error {
	err := workflow.SignalExternalWorkflow(ctx, protocol.AgentID(in.ID), "",
		protocol.SignalEnd, protocol.End{RemoveWorkspace: in.RemoveWorkspace}).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Info("a session to destroy did not run", "session", in.ID, "error", err)
	}
	if at := m.find(in.ID); at >= 0 {
		m.entries = slices.Delete(slices.Clone(m.entries), at, at+1)
	}
	return nil
}

func (m *manager) checkReconcile(protocol.ReconcileInput) error { return m.open() }

// onReconcile sets the registry right by what really runs. An entry younger
// than the listing may be missing in it, so entries are only removed when the
// caller says that they are gone.
func (m *manager) onReconcile(_ workflow.Context, in protocol.ReconcileInput) (protocol.ReconcileResult, error) {
	var result protocol.ReconcileResult
	entries := slices.Clone(m.entries)
	for _, e := range in.Running {
		if m.find(e.ID) < 0 {
			entries = append(entries, e)
			result.Added = append(result.Added, e.ID)
		}
	}
	for _, id := range in.Gone {
		at := slices.IndexFunc(entries, func(e protocol.RegistryEntry) bool { return e.ID == id })
		if at >= 0 {
			entries = slices.Delete(entries, at, at+1)
			result.Removed = append(result.Removed, id)
		}
	}
	m.entries = entries
	return result, nil
}
