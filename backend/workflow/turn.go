package workflow

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// MaxSteps is how many times the model is asked in one turn before the turn is
// ended: a model that never stops calling tools must not run for ever, and the
// history of a run must stay far below the engine's limit of 51,200 events (a
// step is about 14).
const MaxSteps = 1000

// compactAt is the part of the model's window, in percent, at which the
// conversation is compacted before the next call.
const compactAt = 85

// turn is one user message worked to its end.
type turn struct {
	*agent
	ref      protocol.TurnRef
	provider string
	model    string
	seq      int
	steps    int
	usage    protocol.Usage
	// context and window are of the last model call.
	context, window int64
	// steered are messages that the step under way has taken out of the queue:
	// until it ends they may not be written. The first belongs at seq.
	steered []protocol.QueuedMessage

	// snapshots is false in a run that began before there were any.
	snapshots bool
	// capturing is true until base, the files before the turn, is known.
	capturing bool
	base      string
	noBase    *protocol.Fault
	// acted is true once a tool was to run.
	acted bool
	// remade counts sandboxes that were made anew; notices are to be written.
	remade  int
	notices []protocol.NoticeItem
}

// turn takes the next message and works it. It always ends with a commit.
func (a *agent) turn(ctx workflow.Context) {
	message := a.s.Queue[0]
	a.s.Serial++
	started := workflow.Now(ctx)
	t := &turn{agent: a, ref: a.ref()}
	t.ref.Index++
	t.snapshots = workflow.GetVersion(ctx, changeSnapshots, workflow.DefaultVersion, 1) == 1
	working, stop := workflow.WithCancel(ctx)
	a.stopTurn = stop
	a.s.Queue = slices.Clone(a.s.Queue[1:])
	a.s.Turn = &protocol.OpenTurn{ID: t.ref.TurnID, Index: t.ref.Index, Step: 1, Started: started}
	t.works(message)
	a.s.State = protocol.StateWorking
	a.s.Fault = nil
	a.s.Updated = started
	a.touch()

	fault := t.work(working, message)
	// The model may have been quicker than the snapshot of the beginning; Stop
	// ends both.
	_ = t.awaitBase(working)
	stop()
	a.stopTurn = nil

	a.endTurn(ctx, t, started, fault)
}

// endTurn commits a turn and makes the session ready for the next one.
func (a *agent) endTurn(ctx workflow.Context, t *turn, started time.Time, fault *protocol.Fault) {
	outcome := protocol.OutcomeDone
	if fault != nil {
		outcome = protocol.OutcomeFailed
		if fault.Class == protocol.ClassCancelled {
			outcome, fault = protocol.OutcomeInterrupted, nil
		}
	}
	var commit protocol.CommitTurnResult
	in := protocol.CommitTurnInput{
		Turn:       t.ref,
		Place:      a.place(),
		Outcome:    outcome,
		Fault:      fault,
		DurationMs: max(workflow.Now(ctx).Sub(started), 0).Milliseconds(), // the clock may have been set back
		Steps:      t.steps,
		Usage:      t.usage,
		Provider:   t.provider,
		Model:      t.model,
		Steered:    t.steered,
		SteeredSeq: t.seq,
	}
	t.captureEnd(ctx, &in)
	err := untilDone(ctx, protocol.ActivityCommitTurn, in, &commit)
	if err != nil {
		// The items are still in the store under the turn's id; only the commit
		// is missing, and a retry makes it anew.
		fault = faultOf(err)
		outcome = protocol.OutcomeFailed
	} else {
		a.s.Head = commit.Head
		a.s.Turns = t.ref.Index
	}
	a.s.Turn = nil
	a.s.Retry = nil
	a.s.Approvals = nil
	clear(a.decided)
	a.s.Usage = a.s.Usage.Add(t.usage)
	a.s.ContextTokens = t.context
	a.s.Fault = fault
	a.s.State = protocol.StateIdle
	if outcome == protocol.OutcomeFailed {
		a.s.State = protocol.StateFailed
	}
	a.s.Updated = workflow.Now(ctx)
	a.touch()
}

// work prepares the turn and alternates model and tools until the model
// answers without calls. It returns nil at a good end.
func (t *turn) work(ctx workflow.Context, message protocol.QueuedMessage) *protocol.Fault {
	if t.s.Setup != nil {
		if fault := t.setUp(ctx); fault != nil {
			return fault
		}
		t.s.State = protocol.StateWorking
		t.ref.Head = t.s.Head // after the line that tells of it
	}
	if fault := t.prepare(ctx, message); fault != nil {
		return fault
	}
	t.tell(ctx)
	t.captureBase(ctx)
	for t.steps = 1; t.steps <= MaxSteps; t.steps++ {
		t.s.Turn.Step = t.steps
		if t.window > 0 && t.context*100 > t.window*compactAt {
			if fault := t.compact(ctx); fault != nil {
				return fault
			}
		}
		calls, fault := t.ask(ctx)
		if fault != nil {
			return fault
		}
		for _, call := range calls {
			if fault := t.do(ctx, call); fault != nil {
				return fault
			}
		}
		if len(calls) == 0 && !slices.ContainsFunc(t.s.Queue, steers) {
			return nil
		}
	}
	t.steps = MaxSteps
	return &protocol.Fault{
		Class:    protocol.ClassStepLimit,
		Happened: fmt.Sprintf("The model called tools %d times without coming to an answer", MaxSteps),
		Kept:     "Everything it did is kept.",
		Remedy:   "Retry goes on from here, or send a message with a clearer goal.",
	}
}

func steers(m protocol.QueuedMessage) bool { return m.Steer }

// prepare writes the message and has the sandbox ready.
func (t *turn) prepare(ctx workflow.Context, message protocol.QueuedMessage) *protocol.Fault {
	in := protocol.PrepareTurnInput{
		Turn:      t.ref,
		Place:     t.place(),
		Options:   t.s.Options,
		Messages:  []protocol.QueuedMessage{message},
		WantTitle: t.s.TitleAuto && t.s.Turns == 0,
	}
	var tries retries
	for {
		var out protocol.PrepareTurnResult
		err := once(ctx, protocol.ActivityPrepareTurn, in, &out)
		if err == nil {
			t.provider, t.model, t.seq = out.Provider, out.Model, out.NextSeq
			t.s.Sandbox, t.s.Workspace = out.Sandbox, out.Workspace
			t.s.OwnWorkspace, t.s.Confined = out.OwnWorkspace, out.Confined
			if out.Title != "" && t.s.TitleAuto {
				t.s.Title = out.Title
			}
			t.touch()
			return nil
		}
		fault := faultOf(err)
		if fault = t.remake(ctx, fault); fault == nil {
			in.Place = t.place()
			continue
		}
		if fault := t.again(ctx, &tries, fault); fault != nil {
			return fault
		}
	}
}

// ask has the model answer once and returns its calls.
func (t *turn) ask(ctx workflow.Context) ([]protocol.ToolCall, *protocol.Fault) {
	t.steered = t.takeSteered()
	in := protocol.CallModelInput{
		Turn:     t.ref,
		Place:    t.place(),
		Step:     t.steps,
		Seq:      t.seq,
		Provider: t.provider,
		Model:    t.model,
		Effort:   t.s.Options.Effort,
		Steered:  t.steered,
	}
	var tries retries
	compacted := false
	for in.Attempt = 1; ; in.Attempt++ {
		var out protocol.CallModelResult
		err := once(ctx, protocol.ActivityCallModel, in, &out)
		if err == nil {
			t.seq, t.steered = out.NextSeq, nil
			t.tell(ctx)
			t.usage = t.usage.Add(out.Usage)
			t.context, t.window = out.ContextTokens, out.Window
			return out.Calls, nil
		}
		fault := faultOf(err)
		if fault = t.remake(ctx, fault); fault == nil {
			in.Place = t.place()
			continue
		}
		if fault.Class == protocol.ClassContext && !compacted {
			compacted = true
			// The model was asked, so the messages are written: the summary's place
			// is behind them.
			t.seq += len(t.steered)
			t.steered, in.Steered = nil, nil
			if fault := t.compact(ctx); fault != nil {
				return nil, fault
			}
			in.Seq = t.seq
			continue
		}
		if fault := t.again(ctx, &tries, fault); fault != nil {
			return nil, fault
		}
	}
}

// works notes the messages that the turn works.
func (t *turn) works(messages ...protocol.QueuedMessage) {
	for _, m := range messages {
		if m.Content != "" {
			t.s.Turn.Content = append(slices.Clone(t.s.Turn.Content), m.Content)
		}
	}
}

// takeSteered takes the messages that steer this turn out of the queue.
func (t *turn) takeSteered() []protocol.QueuedMessage {
	var taken, left []protocol.QueuedMessage
	for _, m := range t.s.Queue {
		if m.Steer {
			taken = append(taken, m)
		} else {
			left = append(left, m)
		}
	}
	if len(taken) > 0 {
		t.s.Queue = left
		t.works(taken...)
		t.touch()
	}
	return taken
}

// compact has the conversation so far replaced, in the model's eyes, by a
// summary.
func (t *turn) compact(ctx workflow.Context) *protocol.Fault {
	in := protocol.CompactContextInput{Turn: t.ref, Seq: t.seq, Provider: t.provider, Model: t.model}
	var tries retries
	for in.Attempt = 1; ; in.Attempt++ {
		var out protocol.CompactContextResult
		err := once(ctx, protocol.ActivityCompactContext, in, &out)
		if err == nil {
			t.seq = out.NextSeq
			t.usage = t.usage.Add(out.Usage)
			t.context = 0
			return nil
		}
		if fault := t.again(ctx, &tries, faultOf(err)); fault != nil {
			return fault
		}
	}
}

// do runs one call, after the user's consent where it is needed.
func (t *turn) do(ctx workflow.Context, call protocol.ToolCall) *protocol.Fault {
	if call.Invalid {
		return nil
	}
	if ctx.Err() != nil {
		return faultOf(ctx.Err())
	}
	if protocol.NeedsApproval(t.s.Options.Approve, call.Ask, t.s.Options.AllowPrefixes) {
		allowed, fault := t.consent(ctx, call)
		if fault != nil || !allowed {
			return fault
		}
	}
	if fault := t.awaitBase(ctx); fault != nil {
		return fault
	}
	t.acted = true
	in := protocol.RunToolInput{Turn: t.ref, Place: t.place(), Item: call.Item, Call: call.ID}
	var tries retries
	for {
		var out protocol.RunToolResult
		err := once(ctx, protocol.ActivityRunTool, in, &out)
		if err == nil {
			return nil
		}
		fault := faultOf(err)
		if fault.Class == protocol.ClassSandboxGone {
			return t.lostCall(ctx, call, fault)
		}
		if fault := t.again(ctx, &tries, fault); fault != nil {
			return fault
		}
		in.Resumed = true
	}
}

// lostCall goes on after the sandbox went in the middle of a call: it may have
// been partly done, so it is not done again, and the model is told.
func (t *turn) lostCall(ctx workflow.Context, call protocol.ToolCall, fault *protocol.Fault) *protocol.Fault {
	if fault := t.remake(ctx, fault); fault != nil {
		return fault
	}
	err := untilDone(ctx, protocol.ActivityRecordOutcome, protocol.RecordOutcomeInput{
		Turn: t.ref, Item: call.Item, Status: protocol.ToolInterrupted,
		Text: "The sandbox was lost while this call ran. It was made anew with the files of the last snapshot: what this turn had changed before is gone. Look at the files before you go on.",
	}, nil)
	if err != nil {
		return faultOf(err)
	}
	t.tell(ctx)
	return nil
}

// consent asks the user and waits, for days if need be.
func (t *turn) consent(ctx workflow.Context, call protocol.ToolCall) (bool, *protocol.Fault) {
	t.s.Approvals = append(slices.Clone(t.s.Approvals), protocol.Approval{
		ID:      call.ID,
		Turn:    t.ref.TurnID,
		Item:    call.Item,
		Tool:    call.Tool,
		Backend: t.s.Backend,
		Ask:     call.Ask,
		Asked:   workflow.Now(ctx),
	})
	t.s.State = protocol.StateNeedsYou
	t.touch()
	err := workflow.Await(ctx, func() bool {
		_, ok := t.decided[call.ID]
		// A change of the mode, or of the allowed prefixes, may answer it too.
		return ok || !protocol.NeedsApproval(t.s.Options.Approve, call.Ask, t.s.Options.AllowPrefixes)
	})
	decision, ok := t.decided[call.ID]
	delete(t.decided, call.ID)
	t.s.Approvals = slices.DeleteFunc(slices.Clone(t.s.Approvals), func(p protocol.Approval) bool { return p.ID == call.ID })
	t.s.State = protocol.StateWorking
	t.touch()
	if err != nil {
		return false, faultOf(err)
	}
	if !ok || decision.Decision != protocol.DecisionDeny {
		return true, nil
	}
	text := "The user denied this call."
	if decision.Note != "" {
		text += " Their reason: " + decision.Note
	}
	err = untilDone(ctx, protocol.ActivityRecordOutcome, protocol.RecordOutcomeInput{
		Turn: t.ref, Item: call.Item, Status: protocol.ToolDenied, Text: text,
	}, nil)
	if err != nil {
		return false, faultOf(err)
	}
	return false, nil
}
