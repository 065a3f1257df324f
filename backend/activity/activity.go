// Package activity is where workflows touch the world. An activity has no
// business of its own: it adapts models, tools, sandboxes and the transcript
// to the names and data of protocol, and classifies what goes wrong, once.
//
// Every activity may be run again after a crash with the same input and then
// does no harm: items are written under fixed numbers, commands are journalled,
// commits are named by their content.
package activity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/backend/transcript"
	"temporal-sandbox-agent/backend/workplace"
)

// Models finds models by name.
type Models interface {
	// Resolve names the provider and the model to use when either is empty.
	Resolve(ctx context.Context, provider, model string) (string, string, error)
	Open(provider, model string) (llm.Model, error)
}

// Publisher tells whoever watches. It never blocks.
type Publisher interface {
	Publish(event protocol.Event)
}

// Activities are the activities with what they work on.
type Activities struct {
	Transcript *transcript.Transcript
	Objects    store.Objects
	Snapshots  snapshot.Store
	Models     Models
	Tools      *tool.Set
	Places     *workplace.Places
	Events     Publisher
	Tracer     trace.Tracer
	Log        *slog.Logger
	Now        func() time.Time
}

// Register makes the activities known to a worker under their constant names.
func (a *Activities) Register(r worker.ActivityRegistry) {
	for name, f := range map[string]any{
		protocol.ActivityPrepareSandbox:  a.PrepareSandbox,
		protocol.ActivityPrepareTurn:     a.PrepareTurn,
		protocol.ActivityCallModel:       a.CallModel,
		protocol.ActivityRunTool:         a.RunTool,
		protocol.ActivityRecordOutcome:   a.RecordOutcome,
		protocol.ActivityCommitTurn:      a.CommitTurn,
		protocol.ActivityCompactContext:  a.CompactContext,
		protocol.ActivityPublishSession:  a.PublishSession,
		protocol.ActivityReleaseSandbox:  a.ReleaseSandbox,
		protocol.ActivityCreateSandbox:   a.CreateSandbox,
		protocol.ActivityCaptureSnapshot: a.CaptureSnapshot,
		protocol.ActivityPlaceSnapshot:   a.PlaceSnapshot,
		protocol.ActivityCommitMark:      a.CommitMark,
		protocol.ActivityRecordNotice:    a.RecordNotice,
	} {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// beat is how often a long activity tells that it is alive, and so learns that
// it was cancelled if the quicker way fails.
const beat = 3 * time.Second

// alive heartbeats until the returned function is called.
func alive(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return cancel
}

// closing tells whether ctx ended because the process is being closed, or
// because the engine gave this attempt up, not because the user stopped the
// turn. What runs then must go on running.
func closing(ctx context.Context) bool {
	if _, lost := errors.AsType[*serviceerror.NotFound](context.Cause(ctx)); lost {
		return true
	}
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}

// write puts items into the store and then tells who watches: what is shown is
// durable.
func (a *Activities) write(ctx context.Context, turn protocol.TurnRef, items ...protocol.Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := a.Transcript.Write(ctx, turn, items...); err != nil {
		return err
	}
	for i := range items {
		a.tell(turn.SessionID, items[i])
	}
	return nil
}

func (a *Activities) tell(session string, item protocol.Item) {
	a.Events.Publish(protocol.Event{Type: protocol.EventItem, SessionID: session, Item: &item})
}

// openItem returns a tool call of the turn under way.
func (a *Activities) openItem(ctx context.Context, turn protocol.TurnRef, id string) (protocol.Item, error) {
	items, err := a.Transcript.OpenItems(ctx, turn.TurnID)
	if err != nil {
		return protocol.Item{}, err
	}
	at := slices.IndexFunc(items, func(i protocol.Item) bool { return i.ID == id })
	if at < 0 || items[at].Tool == nil {
		return protocol.Item{}, fmt.Errorf("call %s: %w", id, store.ErrNotFound)
	}
	return items[at], nil
}
