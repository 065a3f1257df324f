package session

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/client"

	"temporal-sandbox-agent/backend/protocol"
)

// Stop ends the turn under way: its commands at once, in process, and the turn
// itself durably through the workflow.
func (s *Service) Stop(ctx context.Context, id string) error {
	record, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	turn := "" // one that has just begun may not be in the record yet
	if record.Turn != nil {
		turn = record.Turn.ID
	}
	// The signal first: a command that is killed before the workflow knows why
	// would be answered with its exit code, and the turn would go on.
	err = s.command(ctx, "stop", func(ctx context.Context, c client.Client) error {
		return c.SignalWorkflow(ctx, protocol.AgentID(id), "", protocol.SignalInterrupt, protocol.Interrupt{Turn: turn})
	})
	if err != nil {
		return err
	}
	s.killTurn(ctx, record)
	return nil
}

// StopCommands ends the commands that turns have left running, of which a
// session without a turn knows no other way to be rid.
func (s *Service) StopCommands(ctx context.Context, id string) error {
	record, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case record.Turn != nil:
		return &protocol.Fault{
			Class: protocol.ClassBusy, Happened: "A turn is under way, and its commands with it", Remedy: "Stop the turn first.",
		}
	case record.Sandbox == "":
		return nil // nothing ran yet
	}
	place, err := s.place(ctx, id)
	if err != nil {
		return err
	}
	if err := place.Journal.KillAll(ctx, record.ID+"."); err != nil {
		return faultOf("stop the session's commands", err)
	}
	return nil
}

// killTurn ends the turn's commands. It is only the quick way: if it fails, the
// durable one does the same a moment later.
func (s *Service) killTurn(ctx context.Context, record protocol.Session) {
	if record.Turn == nil || s.Stopper == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.Stopper.Kill(ctx, record.ID, record.Turn.ID+"-"); err != nil {
		s.Log.Warn("the quick way of stopping failed", "session", record.ID, "error", err)
	}
}

// Nudge has turns that wait try again now: all of them, or those that would
// wait longer than any turn does, because the clock was set back since. The
// engine's timers go by the clock.
func (s *Service) Nudge(ctx context.Context, all bool) error {
	sessions, err := s.List(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, record := range sessions {
		if record.Retry == nil || !all && time.Until(record.Retry.At) <= protocol.MaxRetryPause {
			continue
		}
		errs = append(errs, s.nudge(ctx, record.ID))
	}
	return errors.Join(errs...)
}

func (s *Service) nudge(ctx context.Context, id string) error {
	return s.command(ctx, "try again", func(ctx context.Context, c client.Client) error {
		return c.SignalWorkflow(ctx, protocol.AgentID(id), "", protocol.SignalNudge, nil)
	})
}

// Resolve answers a question of the agent.
func (s *Service) Resolve(ctx context.Context, id string, resolution protocol.Resolution) error {
	return s.update(ctx, protocol.AgentID(id), protocol.UpdateResolveApproval, "resolve-"+resolution.ID, resolution, nil)
}

// SetOptions changes a session's options; a change during a turn counts from
// the turn's next step, model and provider from the next turn.
func (s *Service) SetOptions(ctx context.Context, id string, change protocol.OptionsChange) error {
	return s.update(ctx, protocol.AgentID(id), protocol.UpdateSetOptions, "options-"+NewID(), change, nil)
}
