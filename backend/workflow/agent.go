// Package workflow holds the product's two workflows: the registry of
// sessions, and the session itself. Everything here is deterministic: no
// clocks, no files, no models. What acts on the world are activities, named in
// protocol and implemented elsewhere.
package workflow

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// AgentWorkflow is one session. It idles between turns, for months if need be,
// works one message after the other, and continues as new between turns before
// its history grows too long.
func AgentWorkflow(ctx workflow.Context, in protocol.AgentInput) error {
	a := newAgent(ctx, in)
	if err := a.handle(ctx); err != nil {
		return err
	}
	workflow.Go(ctx, a.publishLoop)
	if a.s.Turn != nil {
		a.closeLostTurn(ctx)
	}
	switch {
	case a.s.Setup != nil:
		a.stoppable(ctx, func(ctx workflow.Context) { _ = a.setUp(ctx) }) // the record tells
	case in.Session.Version == 0 && in.First == nil:
		a.settle(ctx)
	}
	for {
		err := workflow.Await(ctx, func() bool {
			return a.end != nil || len(a.moves) > 0 || len(a.s.Queue) > 0 || a.isLong(ctx)
		})
		switch {
		case err != nil:
			return err
		case a.end != nil:
			return a.finish(ctx)
		case len(a.moves) > 0:
			a.move(ctx)
		case a.isLong(ctx):
			return a.continueAsNew(ctx)
		case a.s.Setup != nil && a.s.Queue[0].Retry:
			// Nothing was said yet: it is the files that are tried again.
			a.s.Queue = slices.Clone(a.s.Queue[1:])
			a.stoppable(ctx, func(ctx workflow.Context) { _ = a.setUp(ctx) })
		default:
			a.turn(ctx)
		}
	}
}

// agent is the state of a session's workflow. s is what is projected to the
// outside; the rest is needed only here.
type agent struct {
	s protocol.Session
	// recent are the ids of the last messages: one that is sent again is the
	// same message. Update ids are deduplicated within one run only.
	recent    []string
	published int64
	// decided holds answers to approvals until the turn takes them.
	decided map[string]protocol.Resolution
	// stopTurn cancels the turn under way.
	stopTurn func()
	end      *protocol.End
	// moves wait to be done between two turns; stopMove cancels the one under way.
	moves    []*move
	stopMove func()
	// arrived is of the sandbox that was made last.
	arrived protocol.PrepareSandboxResult
	// nudged ends the wait of a turn that waits to try again.
	nudged bool
	// draining refuses updates while the workflow continues as new.
	draining bool
}

// recentLimit bounds the message ids that are carried for deduplication; a
// client that sends again does so within seconds.
const recentLimit = 256

func newAgent(ctx workflow.Context, in protocol.AgentInput) *agent {
	a := &agent{
		s:       in.Session,
		recent:  in.Recent,
		decided: map[string]protocol.Resolution{},
		end:     in.End,
	}
	// The last change of the run before may not have been projected.
	a.published = in.Session.Version - 1
	if in.First != nil {
		a.enqueue(ctx, *in.First)
	}
	if a.s.Version == 0 {
		a.touch()
	}
	return a
}

// settle has a new session's sandbox made before its first message, so that
// its files can be seen. If that fails nothing is lost: the first turn tries
// again and tells why it can't.
func (a *agent) settle(ctx workflow.Context) {
	var out protocol.PrepareSandboxResult
	in := protocol.PrepareSandboxInput{SessionID: a.s.ID, Place: a.place()}
	if err := once(ctx, protocol.ActivityPrepareSandbox, in, &out); err != nil {
		workflow.GetLogger(ctx).Info("no sandbox yet", "session", a.s.ID, "error", err)
		return
	}
	a.s.Sandbox, a.s.Workspace = out.Sandbox, out.Workspace
	a.s.OwnWorkspace, a.s.Confined = out.OwnWorkspace, out.Confined
	a.touch()
}

// closeLostTurn closes a turn that the session had under way when the engine's
// database was lost: the session was begun anew from its record, and what the
// turn had done is in the store.
func (a *agent) closeLostTurn(ctx workflow.Context) {
	a.endTurn(ctx, &turn{agent: a, ref: protocol.TurnRef{
		SessionID: a.s.ID, TurnID: a.s.Turn.ID, Index: a.s.Turn.Index, Head: a.s.Head,
	}}, a.s.Turn.Started, &protocol.Fault{
		Class:    protocol.ClassHostLost,
		Happened: "The engine's database was lost while this turn was under way",
		Kept:     "What was said and done until then is kept.",
		Remedy:   "Retry goes on from here.",
	})
}

// touch marks the record as changed; publishLoop projects it.
func (a *agent) touch() { a.s.Version++ }

// isLong tells whether the run should be followed by a new one.
func (a *agent) isLong(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// continueAsNew hands the state to a new run. Nothing acknowledged may be lost
// on the way: updates are refused (their senders try again with the same id),
// running handlers end, buffered signals are taken, and only then it goes.
func (a *agent) continueAsNew(ctx workflow.Context) error {
	a.draining = true
	err := workflow.Await(ctx, func() bool {
		return workflow.AllHandlersFinished(ctx)
	})
	if err != nil {
		return err
	}
	a.drainSignals(ctx)
	return workflow.NewContinueAsNewError(ctx, protocol.AgentWorkflow, protocol.AgentInput{
		Session: a.s,
		Recent:  a.recent,
		End:     a.end,
	})
}

// finish ends the session: what runs is ended, what we made is removed, and
// the record goes away last, so that a crash in between is noticed and done
// again.
func (a *agent) finish(ctx workflow.Context) error {
	a.draining = true
	a.dropMoves()
	err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
	if err != nil {
		return err
	}
	a.s.State = protocol.StateEnded
	release := protocol.ReleaseSandboxInput{
		SessionID:       a.s.ID,
		Place:           a.place(),
		RemoveWorkspace: a.end.RemoveWorkspace && a.s.OwnWorkspace,
	}
	// A sandbox that can't be released now is left to the orphan sweep: the
	// user's wish to be rid of the session goes first.
	if err := untilDone(ctx, protocol.ActivityReleaseSandbox, release, nil); err != nil {
		workflow.GetLogger(ctx).Warn("sandbox not released", "session", a.s.ID, "error", err)
	}
	for _, left := range a.s.Left {
		a.release(ctx, left, a.end.RemoveWorkspace)
	}
	a.touch()
	return untilDone(ctx, protocol.ActivityPublishSession,
		protocol.PublishSessionInput{Session: a.s, Ended: true}, nil)
}

// ref names the turn, or the line between two turns, with the session's number
// of now.
func (a *agent) ref() protocol.TurnRef {
	return protocol.TurnRef{
		SessionID: a.s.ID,
		TurnID:    fmt.Sprintf("%s.%d", a.s.ID, a.s.Serial),
		Index:     a.s.Turns,
		Head:      a.s.Head,
	}
}

func (a *agent) place() protocol.Place {
	return protocol.Place{
		Backend:   a.s.Backend,
		Workspace: a.s.Workspace,
		Folder:    a.s.Folder,
		Image:     a.s.Image,
		Sandbox:   a.s.Sandbox,
	}
}

// publishAgain is the pause before a record is projected again that could not
// be.
const publishAgain = 30 * time.Second

// publishLoop projects the record whenever it changed. It is the only place
// that does, so that records leave in the order of their versions.
func (a *agent) publishLoop(ctx workflow.Context) {
	for {
		err := workflow.Await(ctx, func() bool {
			return a.published < a.s.Version && a.s.State != protocol.StateEnded
		})
		if err != nil {
			return
		}
		record := a.s
		err = untilDone(ctx, protocol.ActivityPublishSession,
			protocol.PublishSessionInput{Session: record}, nil)
		if err != nil {
			// A full disk, say: it passes. What is swept goes by the records, so they
			// must not stay behind.
			again := workflow.GetVersion(ctx, changePublish, workflow.DefaultVersion, 1) == 1
			if !again || workflow.Sleep(ctx, publishAgain) != nil {
				return
			}
			continue
		}
		a.published = record.Version
	}
}
