package session

import (
	"context"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"temporal-sandbox-agent/backend/protocol"
)

// Create makes a session and, with Request.First, sends its first message in
// the same step. It returns once both are durable.
func (s *Service) Create(ctx context.Context, request protocol.CreateRequest) (protocol.Session, error) {
	in := protocol.CreateInput{
		ID:    request.ID,
		Title: request.Title,
		Place: protocol.Place{
			Backend:   request.Backend,
			Workspace: request.Workspace,
			Image:     request.Image,
		},
		Options: request.Options,
	}
	if in.ID == "" {
		in.ID = NewID()
	}
	s.fillIn(&in)
	if in.Place.Workspace == "" {
		about := in.Title
		if about == "" && request.First != nil {
			about, _, _ = strings.Cut(strings.TrimSpace(request.First.Text), "\n")
		}
		about = about[:min(len(about), 400)] // more is not looked at
		in.Place.Folder = folderName(in.ID, about, time.Now())
	}
	backend, err := s.Places.Backend(in.Place.Backend)
	if err != nil {
		return protocol.Session{}, err
	}
	if err := s.settle(backend, &in.Place); err != nil {
		return protocol.Session{}, err
	}
	if request.First != nil {
		message, err := s.keep(ctx, *request.First)
		if err != nil {
			return protocol.Session{}, err
		}
		in.First = &message
	}
	var entry protocol.RegistryEntry
	if err := s.manage(ctx, protocol.UpdateCreate, "create-"+in.ID, in, &entry); err != nil {
		return protocol.Session{}, err
	}
	if request.First != nil {
		// The turn begins at once; its record is on the way.
		return protocol.Session{
			ID: entry.ID, Title: entry.Title, TitleAuto: request.Title == "", Backend: entry.Backend,
			Workspace: in.Place.Workspace, State: protocol.StateWorking, Options: in.Options,
			Created: entry.Created, Updated: entry.Created,
		}, nil
	}
	return s.waitRecord(ctx, entry.ID)
}

func (s *Service) fillIn(in *protocol.CreateInput) {
	settings := s.Defaults.SessionDefaults()
	or := func(to *string, v string) {
		if *to == "" {
			*to = v
		}
	}
	or(&in.Place.Backend, settings.Backend)
	or(&in.Place.Backend, "local")
	if in.Options.Provider == "" && in.Options.Model == "" {
		in.Options.Provider, in.Options.Model = settings.Provider, settings.Model
	}
	or(&in.Options.Effort, settings.Effort)
	if in.Options.Approve == "" {
		in.Options.Approve = settings.Approve
	}
	if in.Options.Approve == "" {
		in.Options.Approve = protocol.ApproveRisky
	}
}

// waitRecord waits for the record that the new session's workflow projects.
func (s *Service) waitRecord(ctx context.Context, id string) (protocol.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		record, err := s.Transcript.Session(ctx, id)
		if err == nil {
			return record, nil
		}
		select {
		case <-ctx.Done():
			return protocol.Session{}, faultOf("read the new session", err)
		case <-time.After(3 * time.Millisecond):
		}
	}
}

// Rename gives a session the user's title.
func (s *Service) Rename(ctx context.Context, id, title string) error {
	return s.manage(ctx, protocol.UpdateRename, "rename-"+NewID(), protocol.RenameInput{ID: id, Title: title}, nil)
}

// Destroy ends a session, and removes what only it had in the store. Its
// workspace is removed only if we made it and removeWorkspace is set.
func (s *Service) Destroy(ctx context.Context, id string, removeWorkspace bool) error {
	record, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if record.Turn != nil {
		s.killTurn(ctx, record)
	}
	err = s.manage(ctx, protocol.UpdateDestroy, "destroy-"+NewID(), protocol.DestroyInput{ID: id, RemoveWorkspace: removeWorkspace}, nil)
	if err != nil {
		return err
	}
	if err := s.waitGone(ctx, id); err != nil {
		return err
	}
	if s.Forget != nil {
		s.Forget(ctx, record)
	}
	return nil
}

// waitGone waits for the session's workflow to have ended.
func (s *Service) waitGone(ctx context.Context, id string) error {
	return s.command(ctx, "end the session", func(ctx context.Context, c client.Client) error {
		return c.GetWorkflow(ctx, protocol.AgentID(id), "").Get(ctx, nil)
	})
}
