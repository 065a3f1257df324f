package workflow

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// Limits of what one command may set. The record must stay small: it is
// carried and projected as a whole.
const (
	maxTitle    = 200
	maxNote     = 4 << 10
	maxPrefixes = 200
	maxOption   = 200
)

// handle registers the session's updates, query and signals.
func (a *agent) handle(ctx workflow.Context) error {
	err := workflow.SetQueryHandler(ctx, protocol.QueryState, func() (protocol.Session, error) {
		return a.s, nil
	})
	if err != nil {
		return fmt.Errorf("register query %s: %w", protocol.QueryState, err)
	}
	updates := []struct {
		name     string
		handler  any
		validate any
	}{
		{protocol.UpdateSendMessage, a.onSend, a.checkSend},
		{protocol.UpdateEditQueue, a.onEditQueue, a.checkEditQueue},
		{protocol.UpdateResolveApproval, a.onResolve, a.checkResolve},
		{protocol.UpdateSetOptions, a.onSetOptions, a.checkSetOptions},
		{protocol.UpdateRetryTurn, a.onRetry, a.checkRetry},
		{protocol.UpdateCheckpoint, a.onCheckpoint, a.checkCheckpoint},
		{protocol.UpdateSwitchBackend, a.onSwitch, a.checkSwitch},
		{protocol.UpdateRewind, a.onRewind, a.checkRewind},
		{protocol.UpdateSetSnapshots, a.onSetSnapshots, a.checkSetSnapshots},
	}
	for _, u := range updates {
		options := workflow.UpdateHandlerOptions{Validator: u.validate}
		if err := workflow.SetUpdateHandlerWithOptions(ctx, u.name, u.handler, options); err != nil {
			return fmt.Errorf("register update %s: %w", u.name, err)
		}
	}
	workflow.Go(ctx, a.listen)
	return nil
}

// listen takes signals as they come.
func (a *agent) listen(ctx workflow.Context) {
	selector := workflow.NewSelector(ctx)
	selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	selector.AddReceive(workflow.GetSignalChannel(ctx, protocol.SignalInterrupt), func(c workflow.ReceiveChannel, _ bool) {
		var v protocol.Interrupt
		c.Receive(ctx, &v)
		a.interrupt(v)
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, protocol.SignalTitle), func(c workflow.ReceiveChannel, _ bool) {
		var v protocol.SetTitle
		c.Receive(ctx, &v)
		a.setTitle(v)
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, protocol.SignalEnd), func(c workflow.ReceiveChannel, _ bool) {
		var v protocol.End
		c.Receive(ctx, &v)
		a.ending(v)
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, protocol.SignalNudge), func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		a.nudged = true
	})
	for ctx.Err() == nil {
		selector.Select(ctx)
	}
}

// drainSignals takes the signals that arrived and were not taken yet: those
// still in a channel would be lost when the run ends.
func (a *agent) drainSignals(ctx workflow.Context) {
	var title protocol.SetTitle
	for workflow.GetSignalChannel(ctx, protocol.SignalTitle).ReceiveAsync(&title) {
		a.setTitle(title)
	}
	var end protocol.End
	for workflow.GetSignalChannel(ctx, protocol.SignalEnd).ReceiveAsync(&end) {
		a.ending(end)
	}
	// Between turns there is nothing to interrupt.
	var interrupt protocol.Interrupt
	for workflow.GetSignalChannel(ctx, protocol.SignalInterrupt).ReceiveAsync(&interrupt) {
		continue
	}
}

func (a *agent) interrupt(v protocol.Interrupt) {
	if v.Turn != "" && (a.s.Turn == nil || v.Turn != a.s.Turn.ID) {
		return
	}
	if a.s.Turn == nil || a.stopTurn == nil {
		if a.stopMove != nil {
			a.stopMove()
		}
		return
	}
	if !a.s.Turn.Stopping {
		a.s.Turn.Stopping = true
		a.touch()
	}
	a.stopTurn()
}

func (a *agent) setTitle(v protocol.SetTitle) {
	a.s.Title = v.Title
	a.s.TitleAuto = false
	a.touch()
}

func (a *agent) ending(v protocol.End) {
	if a.end == nil {
		a.end = &v
	}
	if a.stopTurn != nil {
		a.stopTurn()
	}
	if a.stopMove != nil {
		a.stopMove()
	}
}

// reject makes the error of a refused command: typed by its class, so that the
// client knows whether to try again.
func reject(class protocol.Class, format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), string(class), nil)
}

// open refuses commands while the run is being handed over or the session ends.
func (a *agent) open() error {
	switch {
	case a.end != nil || a.s.State == protocol.StateEnded:
		return reject(protocol.ClassNotFound, "this session has ended")
	case a.draining:
		return reject(protocol.ClassBusy, "the session is being carried over: try again")
	default:
		return nil
	}
}

func (a *agent) checkSend(m protocol.QueuedMessage) error {
	if err := a.open(); err != nil {
		return err
	}
	switch {
	case m.ID == "" || len(m.ID) > 100:
		return reject(protocol.ClassBadInput, "a message needs an id of 1 to 100 characters")
	case m.Content == "":
		return reject(protocol.ClassBadInput, "a message needs content")
	case len(m.Preview) > 8*protocol.PreviewRunes:
		return reject(protocol.ClassBadInput, "the preview is too long")
	case len(a.s.Queue) >= protocol.MaxQueue && !slices.Contains(a.recent, m.ID):
		return reject(protocol.ClassBadInput, "%d messages wait already", len(a.s.Queue))
	}
	return nil
}

func (a *agent) onSend(ctx workflow.Context, m protocol.QueuedMessage) (protocol.SendResult, error) {
	result := protocol.SendResult{ID: m.ID, Queued: a.s.Turn != nil}
	result.Duplicate = !a.enqueue(ctx, m)
	return result, nil
}

// enqueue adds a message unless it is there already.
func (a *agent) enqueue(ctx workflow.Context, m protocol.QueuedMessage) bool {
	if slices.Contains(a.recent, m.ID) {
		return false
	}
	a.recent = append(a.recent, m.ID)
	if over := len(a.recent) - recentLimit; over > 0 {
		a.recent = slices.Clone(a.recent[over:])
	}
	m.Sent = workflow.Now(ctx)
	a.s.Queue = append(slices.Clone(a.s.Queue), m)
	a.s.Updated = m.Sent
	a.touch()
	return true
}

func (a *agent) queued(id string) int {
	return slices.IndexFunc(a.s.Queue, func(m protocol.QueuedMessage) bool { return m.ID == id })
}

func (a *agent) checkEditQueue(c protocol.QueueChange) error {
	if err := a.open(); err != nil {
		return err
	}
	if a.queued(c.ID) < 0 {
		return reject(protocol.ClassNotFound, "this message no longer waits: the agent has it already")
	}
	switch c.Op {
	case protocol.QueueRemove, protocol.QueueSteer, protocol.QueueMove:
		return nil
	case protocol.QueueEdit:
		if c.Content == "" {
			return reject(protocol.ClassBadInput, "a message needs content")
		}
		return nil
	default:
		return reject(protocol.ClassBadInput, "unknown change of the queue %q", c.Op)
	}
}

func (a *agent) onEditQueue(_ workflow.Context, c protocol.QueueChange) error {
	at := a.queued(c.ID)
	if at < 0 { // taken between validation and now
		return reject(protocol.ClassNotFound, "this message no longer waits: the agent has it already")
	}
	queue := slices.Clone(a.s.Queue)
	switch c.Op {
	case protocol.QueueEdit:
		queue[at].Content, queue[at].Preview, queue[at].Attachments = c.Content, c.Preview, c.Attachments
	case protocol.QueueRemove:
		queue = slices.Delete(queue, at, at+1)
	case protocol.QueueSteer:
		queue[at].Steer = true
	case protocol.QueueMove:
		m := queue[at]
		queue = slices.Delete(queue, at, at+1)
		queue = slices.Insert(queue, min(max(c.To, 0), len(queue)), m)
	}
	a.s.Queue = queue
	a.touch()
	return nil
}

func (a *agent) checkResolve(r protocol.Resolution) error {
	if err := a.open(); err != nil {
		return err
	}
	if len(r.Note) > maxNote {
		return reject(protocol.ClassBadInput, "the reason is longer than %d bytes", maxNote)
	}
	switch r.Decision {
	case protocol.DecisionAllow, protocol.DecisionAlways, protocol.DecisionDeny:
	default:
		return reject(protocol.ClassBadInput, "unknown decision %q", r.Decision)
	}
	if !slices.ContainsFunc(a.s.Approvals, func(p protocol.Approval) bool { return p.ID == r.ID }) {
		return reject(protocol.ClassNotFound, "this question was answered or withdrawn already")
	}
	return nil
}

func (a *agent) onResolve(_ workflow.Context, r protocol.Resolution) error {
	at := slices.IndexFunc(a.s.Approvals, func(p protocol.Approval) bool { return p.ID == r.ID })
	if at < 0 {
		return reject(protocol.ClassNotFound, "this question was answered or withdrawn already")
	}
	if r.Decision == protocol.DecisionAlways {
		a.allow(a.s.Approvals[at].Ask.Prefixes)
	}
	a.decided[r.ID] = r
	a.s.Approvals = slices.Delete(slices.Clone(a.s.Approvals), at, at+1)
	a.touch()
	return nil
}

// allow adds command prefixes that need no approval from now on.
func (a *agent) allow(prefixes []string) {
	allowed := slices.Clone(a.s.Options.AllowPrefixes)
	for _, p := range prefixes {
		if !slices.Contains(allowed, p) && len(allowed) < maxPrefixes {
			allowed = append(allowed, p)
		}
	}
	a.s.Options.AllowPrefixes = allowed
}

func (a *agent) checkSetOptions(c protocol.OptionsChange) error {
	if err := a.open(); err != nil {
		return err
	}
	for _, v := range []*string{c.Provider, c.Model, c.Effort} {
		if v != nil && len(*v) > maxOption {
			return reject(protocol.ClassBadInput, "an option is longer than %d bytes", maxOption)
		}
	}
	if c.Approve != nil && !c.Approve.Valid() {
		return reject(protocol.ClassBadInput, "unknown approval mode %q", *c.Approve)
	}
	if c.AllowPrefixes != nil {
		if len(*c.AllowPrefixes) > maxPrefixes || len(strings.Join(*c.AllowPrefixes, "")) > 16<<10 {
			return reject(protocol.ClassBadInput, "too many allowed prefixes")
		}
	}
	return nil
}

func (a *agent) onSetOptions(_ workflow.Context, c protocol.OptionsChange) error {
	set := func(to *string, v *string) {
		if v != nil {
			*to = *v
		}
	}
	set(&a.s.Options.Provider, c.Provider)
	set(&a.s.Options.Model, c.Model)
	set(&a.s.Options.Effort, c.Effort)
	if c.Approve != nil {
		a.s.Options.Approve = *c.Approve
	}
	if c.AllowPrefixes != nil {
		a.s.Options.AllowPrefixes = slices.Clone(*c.AllowPrefixes)
	}
	a.touch()
	return nil
}

func (a *agent) checkRetry(m protocol.QueuedMessage) error {
	if err := a.open(); err != nil {
		return err
	}
	if m.ID == "" {
		return reject(protocol.ClassBadInput, "a retry needs an id")
	}
	if a.s.State != protocol.StateFailed && !slices.Contains(a.recent, m.ID) {
		return reject(protocol.ClassBadInput, "there is no failed turn to try again")
	}
	return nil
}

func (a *agent) onRetry(ctx workflow.Context, m protocol.QueuedMessage) (protocol.SendResult, error) {
	m.Retry = true
	if slices.Contains(a.recent, m.ID) {
		return protocol.SendResult{ID: m.ID, Duplicate: true}, nil
	}
	a.enqueue(ctx, m)
	// Before what was queued meanwhile: the failed turn's message came first.
	last := len(a.s.Queue) - 1
	queue := slices.Insert(slices.Clone(a.s.Queue[:last]), 0, a.s.Queue[last])
	a.s.Queue = queue
	return protocol.SendResult{ID: m.ID}, nil
}
