// Package session is the typed client of the workflows and of what they leave
// in the store: everything that the window and the command line can do with
// sessions is a method here. A command is acknowledged only once it is
// durable; one that is sent again under the same id is the same command.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
	"temporal-sandbox-agent/backend/workplace"
)

// Engine gives the client of the engine that is running now. It may be another
// one a moment later, when the process that owned the engine has ended.
type Engine interface {
	Client(ctx context.Context) (client.Client, error)
}

// Stopper ends a turn's commands at once, wherever they run, ahead of the
// durable way through the workflow.
type Stopper interface {
	Kill(ctx context.Context, session, prefix string) error
}

// Defaults fill in what a request for a new session leaves open.
type Defaults interface {
	SessionDefaults() protocol.Settings
}

// Service is the client.
type Service struct {
	Engine     Engine
	Transcript *transcript.Transcript
	Objects    store.Objects
	Snapshots  snapshot.Store
	Places     *workplace.Places
	Stopper    Stopper
	Defaults   Defaults
	Log        *slog.Logger
	// Forget removes what only a destroyed session had in the store; may be nil.
	Forget func(ctx context.Context, gone protocol.Session)
}

// patience is how long a command is tried again while the engine is being
// taken over by another process or the session is carried over.
const patience = 20 * time.Second

// command runs one attempt after the other until it is decided. Every attempt
// must carry the same id, so that the command is carried out once.
func (s *Service) command(ctx context.Context, what string, attempt func(context.Context, client.Client) error) error {
	return s.commandWithin(ctx, patience, what, attempt)
}

func (s *Service) commandWithin(ctx context.Context, limit time.Duration, what string, attempt func(context.Context, client.Client) error) error {
	deadline := time.Now().Add(limit)
	pause := 20 * time.Millisecond
	for {
		c, err := s.Engine.Client(ctx)
		if err == nil {
			err = attempt(ctx, c)
		}
		if err == nil {
			return nil
		}
		if !again(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return faultOf(what, err)
		}
		select {
		case <-ctx.Done():
			return faultOf(what, ctx.Err())
		case <-time.After(pause):
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// update sends an update and waits for its result.
func (s *Service) update(ctx context.Context, workflowID, name, id string, arg, result any) error {
	return s.updateWithin(ctx, patience, workflowID, name, id, arg, result)
}

// longPatience is how long a command may be under way that waits for a turn's
// end, or moves many files.
const longPatience = 7 * 24 * time.Hour

func (s *Service) updateWithin(ctx context.Context, limit time.Duration, workflowID, name, id string, arg, result any) error {
	return s.commandWithin(ctx, limit, name, func(ctx context.Context, c client.Client) error {
		handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			UpdateID:     id,
			WorkflowID:   workflowID,
			UpdateName:   name,
			Args:         []any{arg},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, result)
	})
}

// manage sends an update to the registry, which is started if it does not run.
func (s *Service) manage(ctx context.Context, name, id string, arg, result any) error {
	return s.command(ctx, name, func(ctx context.Context, c client.Client) error {
		start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID:                       protocol.SessionManagerID,
			TaskQueue:                protocol.TaskQueue,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, protocol.SessionManagerWorkflow, protocol.ManagerInput{})
		handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: start,
			UpdateOptions: client.UpdateWorkflowOptions{
				UpdateID:     id,
				UpdateName:   name,
				Args:         []any{arg},
				WaitForStage: client.WorkflowUpdateStageCompleted,
			},
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, result)
	})
}

// again tells whether an attempt failed in a way that passes by itself.
func again(err error) bool {
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return application.Type() == string(protocol.ClassBusy)
	}
	var unavailable *serviceerror.Unavailable
	var timeout *client.WorkflowUpdateServiceTimeoutOrCanceledError
	var taskFailed *serviceerror.WorkflowNotReady
	if errors.As(err, &unavailable) || errors.As(err, &timeout) || errors.As(err, &taskFailed) {
		return true
	}
	// A run that was handed over between two steps of the server, or a server
	// that is just ending.
	switch status.Code(err) {
	case codes.Unavailable, codes.Aborted:
		return true
	}
	var failed *serviceerror.Internal
	return errors.As(err, &failed)
}

// faultOf says what went wrong with a command.
func faultOf(what string, err error) error {
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok && application.Type() != "" {
		var fault protocol.Fault
		if application.HasDetails() && application.Details(&fault) == nil && fault.Class != "" {
			return &fault
		}
		return &protocol.Fault{Class: protocol.Class(application.Type()), Happened: sentence(application.Message())}
	}
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return &protocol.Fault{Class: protocol.ClassNotFound, Happened: "This session does not exist or has ended", Detail: err.Error()}
	}
	if errors.Is(err, context.Canceled) {
		return &protocol.Fault{Class: protocol.ClassCancelled, Happened: "Stopped", Detail: err.Error()}
	}
	return &protocol.Fault{
		Class: protocol.ClassUnavailable, Happened: "The engine did not answer",
		Kept: "What was acknowledged before is kept.", Remedy: "Try again in a moment.",
		Detail: fmt.Sprintf("%s: %v", what, err),
	}
}

// sentence begins a message with a capital letter.
func sentence(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// NewID makes an id for a session or a message.
func NewID() string { return uuid.NewString() }
