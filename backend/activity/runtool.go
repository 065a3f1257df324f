package activity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
)

// showRunningAfter is how long a tool runs before its state "running" is made
// durable: most tools end sooner and cost one write, not two.
const showRunningAfter = 150 * time.Millisecond

// RunTool runs one call and writes its result. A call whose result is written
// already is not run again.
func (a *Activities) RunTool(ctx context.Context, in protocol.RunToolInput) (protocol.RunToolResult, error) {
	defer alive(ctx)()
	status, err := a.runTool(ctx, in)
	return protocol.RunToolResult{Status: status}, fail(ctx, err)
}

func (a *Activities) runTool(ctx context.Context, in protocol.RunToolInput) (protocol.ToolStatus, error) {
	item, err := a.openItem(ctx, in.Turn, in.Item)
	if err != nil {
		return "", fmt.Errorf("read the call: %w", err)
	}
	if item.Tool.Status.Ended() {
		return item.Tool.Status, nil
	}
	t, ok := a.Tools.Lookup(item.Tool.Name)
	if !ok {
		return "", fmt.Errorf("there is no tool %q", item.Tool.Name)
	}
	place, err := a.Places.Open(ctx, in.Turn.SessionID, in.Place)
	if err != nil {
		return "", err
	}
	running := *item.Tool
	running.Status = protocol.ToolRunning
	running.Started = a.Now().UTC()
	show := a.showRunning(ctx, in.Turn, item, running)

	started := a.Now()
	outcome, err := t.Run(ctx, tool.Call{
		ID:      in.Call,
		Args:    json.RawMessage(item.Tool.Args),
		Env:     place.Env(),
		Sandbox: place.Sandbox,
		Journal: place.Journal,
		Live:    a.live(in.Turn.SessionID, item.ID),
		Seen:    func(ctx context.Context, log string) (int64, error) { return a.seen(ctx, in.Turn, log) },
	})
	show.stop()
	a.Tracer.Tool(trace.ToolSpan{
		SessionID: in.Turn.SessionID, TurnID: in.Turn.TurnID, CallID: in.Call, Step: item.Tool.Step, Name: item.Tool.Name,
		Input: item.Tool.Args, Output: outcome.Result.Output, Started: started, Ended: a.Now(), Err: err,
	})
	if ctx.Err() != nil && err != nil {
		if closing(ctx) {
			return "", ctx.Err() // the command goes on; the next start attaches
		}
		return "", errors.Join(ctx.Err(), a.stopped(ctx, in, place, item, running))
	}
	if err != nil {
		if kind := sandbox.KindOf(err); kind == sandbox.KindGone {
			a.Places.Forget(in.Turn.SessionID)
		}
		return "", err
	}
	// What was done is told even if the user stopped the turn meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	done := running
	done.Status = outcome.Status
	done.Result = outcome.Result
	if len(outcome.Image) > 0 {
		id, err := a.Objects.Put(ctx, outcome.Image)
		if err != nil {
			return "", fmt.Errorf("store the image: %w", err)
		}
		done.Result.Image, done.Result.ImageMIME = string(id), outcome.ImageMIME
	}
	item.Tool = &done
	item.Time = a.Now().UTC()
	if err := a.write(ctx, in.Turn, item); err != nil {
		return "", fmt.Errorf("write the result: %w", err)
	}
	return done.Status, nil
}

// seen tells how many bytes of a command's output the conversation's results
// have shown to the model.
func (a *Activities) seen(ctx context.Context, turn protocol.TurnRef, log string) (int64, error) {
	items, err := a.Transcript.Load(ctx, store.ID(turn.Head), turn.TurnID)
	if err != nil {
		return 0, fmt.Errorf("read the conversation: %w", err)
	}
	var bytes int64
	for _, i := range items {
		if i.Tool != nil && i.Tool.Result.Log == log {
			bytes = max(bytes, i.Tool.Result.OutputBytes)
		}
	}
	return bytes, nil
}

// writeLimit bounds the writing of what a stopped turn leaves.
const writeLimit = 10 * time.Second

// stopped ends the command of a call that the user stopped and writes what it
// had put out.
func (a *Activities) stopped(ctx context.Context, in protocol.RunToolInput, place *workplace.Place, item protocol.Item, running protocol.ToolItem) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	done := running
	done.Status = protocol.ToolInterrupted
	done.Result.Output = "The user stopped this call."
	done.Result.DurationMs = a.Now().Sub(running.Started).Milliseconds()
	command, err := place.Journal.Find(ctx, in.Call)
	switch {
	case sandbox.KindOf(err) == sandbox.KindNotFound:
	case err != nil:
		return fmt.Errorf("find the stopped command: %w", err)
	default:
		if err := command.Kill(ctx); err != nil {
			return fmt.Errorf("end the stopped command: %w", err)
		}
		done.Result.Log = in.Call
		if data, size, err := command.ReadOutput(ctx, 0, stoppedOutput); err == nil {
			done.Result.OutputBytes = size
			done.Result.Truncated = size > int64(len(data))
			if text := strings.ToValidUTF8(string(data), "\uFFFD"); text != "" {
				done.Result.Output += " Its output until then:\n" + text
			}
		}
	}
	item.Tool = &done
	item.Time = a.Now().UTC()
	return a.write(ctx, in.Turn, item)
}

// stoppedOutput is how much output of a stopped command the model is shown.
const stoppedOutput = 8 << 10

// shower makes "running" durable if the tool is not over soon, and never after
// the result was written.
type shower struct {
	mu    sync.Mutex
	over  bool
	timer *time.Timer
}

func (a *Activities) showRunning(ctx context.Context, turn protocol.TurnRef, item protocol.Item, running protocol.ToolItem) *shower {
	item.Tool = &running
	a.tell(turn.SessionID, item)
	s := &shower{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(showRunningAfter, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over {
			return
		}
		// Only for readers of the store; the result does not depend on it.
		if err := a.Transcript.Write(ctx, turn, item); err != nil {
			a.Log.Debug("running state not written", "item", item.ID, "error", err)
		}
	})
	return s
}

func (s *shower) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.timer.Stop()
}

// live gives a tool's output to who watches, as text. A rune that is cut
// between two pieces is held back until its rest arrives.
func (a *Activities) live(session, item string) func(int64, []byte) {
	var held []byte
	return func(offset int64, data []byte) {
		offset -= int64(len(held))
		data = append(held, data...)
		keep := incomplete(data)
		held = append([]byte(nil), data[len(data)-keep:]...)
		data = data[:len(data)-keep]
		if len(data) == 0 {
			return
		}
		a.Events.Publish(protocol.Event{Type: protocol.EventOutput, SessionID: session, Output: &protocol.Output{
			Item: item, Offset: offset, Text: strings.ToValidUTF8(string(data), "\uFFFD"),
		}})
	}
}

// incomplete returns how many bytes at the end begin a rune without ending it.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// RecordOutcome writes the end of a call that was not run.
func (a *Activities) RecordOutcome(ctx context.Context, in protocol.RecordOutcomeInput) error {
	return fail(ctx, a.recordOutcome(ctx, in))
}

func (a *Activities) recordOutcome(ctx context.Context, in protocol.RecordOutcomeInput) error {
	item, err := a.openItem(ctx, in.Turn, in.Item)
	if err != nil {
		return fmt.Errorf("read the call: %w", err)
	}
	if item.Tool.Status.Ended() {
		return nil
	}
	done := *item.Tool
	done.Status = in.Status
	done.Result.Output = in.Text
	item.Tool = &done
	item.Time = a.Now().UTC()
	return a.write(ctx, in.Turn, item)
}
