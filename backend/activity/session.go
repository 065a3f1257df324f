package activity

import (
	"context"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
)

// PublishSession projects a session's record into the store and to who
// watches.
func (a *Activities) PublishSession(ctx context.Context, in protocol.PublishSessionInput) error {
	return fail(ctx, a.publishSession(ctx, in))
}

func (a *Activities) publishSession(ctx context.Context, in protocol.PublishSessionInput) error {
	if in.Ended {
		if err := a.Transcript.RemoveSession(ctx, in.Session.ID); err != nil {
			return fmt.Errorf("remove the session's record: %w", err)
		}
		a.Events.Publish(protocol.Event{Type: protocol.EventRemoved, SessionID: in.Session.ID})
		return nil
	}
	saved, err := a.Transcript.SaveSession(ctx, in.Session)
	if err != nil {
		return fmt.Errorf("save the session's record: %w", err)
	}
	if !saved {
		return nil // a newer one is there
	}
	session := in.Session
	a.Events.Publish(protocol.Event{Type: protocol.EventSession, SessionID: session.ID, Session: &session})
	return nil
}

// ReleaseSandbox ends what a session has running and, if asked, removes the
// folder that we made for it.
func (a *Activities) ReleaseSandbox(ctx context.Context, in protocol.ReleaseSandboxInput) error {
	if in.Moved {
		return fail(ctx, a.Places.Leave(ctx, in.SessionID, in.Place, in.RemoveWorkspace))
	}
	return fail(ctx, a.Places.Release(ctx, in.SessionID, in.Place, in.RemoveWorkspace))
}
