package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

// follower prints a session's turn until it ends. Live events make it prompt;
// what decides is the store, so that a lost event changes nothing.
type follower struct {
	app     *App
	b       *backend.Backend
	session string
	// message is the message whose turn is followed; empty follows until the
	// session is idle.
	message string
	out     printer
	// ask lets the user answer approvals here.
	ask bool

	record protocol.Session
	// begun is true once the message is in the conversation, in this turn.
	begun bool
	turn  string
	// worked is true once the record was seen to be working the turn, closed once
	// the turn's end is in the conversation.
	worked, closed bool
	last           protocol.Outcome
	fault          *protocol.Fault
}

// look is how often the store is read when no event tells of a change.
const look = 400 * time.Millisecond

func (f *follower) follow(ctx context.Context, events <-chan []protocol.Event) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	if err := f.read(ctx); err != nil {
		return err
	}
	for {
		done, err := f.ended(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case batch, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			for _, event := range batch {
				if err := f.take(ctx, event); err != nil {
					return err
				}
			}
		case <-ticker.C:
			if err := f.read(ctx); err != nil {
				return err
			}
		}
	}
}

// take handles one live event.
func (f *follower) take(ctx context.Context, event protocol.Event) error {
	switch event.Type {
	case protocol.EventSession:
		if event.Session.Version > f.record.Version {
			f.record = *event.Session
			f.out.session(f.record)
		}
	case protocol.EventItem:
		f.item(*event.Item)
	case protocol.EventGap:
		return f.read(ctx)
	default:
		f.out.event(event)
	}
	return nil
}

func (f *follower) item(item protocol.Item) {
	if item.User != nil && item.User.MessageID == f.message {
		f.begun, f.turn = true, item.Turn
	}
	if item.TurnEnd != nil {
		f.last = item.TurnEnd.Outcome
		f.closed = f.closed || item.Turn == f.turn
	}
	if item.Fault != nil {
		f.fault = item.Fault
	}
	f.out.item(item)
}

// pageSize is how many items are read at a time to catch up.
const pageSize = 200

// read catches up from the store.
func (f *follower) read(ctx context.Context) error {
	page, err := f.b.Sessions.Page(ctx, f.session, "", pageSize)
	if err != nil {
		if fault, ok := errors.AsType[*protocol.Fault](err); ok && fault.Class == protocol.ClassNotFound && f.record.ID == "" {
			return nil // just made: its record is on the way
		}
		return err
	}
	if page.Session.Version > f.record.Version {
		f.record = page.Session
		f.out.session(f.record)
	}
	at := 0
	if !f.begun && f.message != "" {
		// What was said before the followed message is old.
		at = len(page.Items)
		for i, item := range page.Items {
			if item.User != nil && item.User.MessageID == f.message {
				at = i
				break
			}
		}
	} else if f.message == "" && f.record.Turn != nil {
		for at < len(page.Items) && page.Items[at].Turn != f.record.Turn.ID && !f.out.seen(page.Items[at].Turn) {
			at++
		}
	} else if f.message == "" {
		for at < len(page.Items) && !f.out.seen(page.Items[at].Turn) {
			at++
		}
	}
	for _, item := range page.Items[at:] {
		if item.Turn == "" {
			continue
		}
		f.item(item)
	}
	return nil
}

// ended tells whether the followed turn is over, and how. It also deals with
// approvals.
func (f *follower) ended(ctx context.Context) (bool, error) {
	r := f.record
	if r.ID == "" {
		return false, nil
	}
	if r.State == protocol.StateNeedsYou && len(r.Approvals) > 0 {
		return f.approval(ctx, r.Approvals[0])
	}
	// The record comes another way than the items: that of now may be from before
	// the message, in which the session idles.
	if r.Turn != nil && r.Turn.ID == f.turn {
		f.worked = true
	}
	over := f.closed || f.worked && r.State == protocol.StateFailed
	if r.Turn != nil || r.Moving != nil || len(r.Queue) > 0 || (f.message != "" && !over) {
		return false, nil
	}
	if r.State != protocol.StateIdle && r.State != protocol.StateFailed {
		return false, nil
	}
	// The record is written after the commit; the last items may still be
	// missing here.
	if err := f.read(ctx); err != nil {
		return true, err
	}
	f.out.end(f.record, f.last, f.fault)
	switch {
	case r.State == protocol.StateFailed && r.Fault != nil:
		return true, &exitError{code: max(faultCode(r.Fault.Class), ExitFailed), err: r.Fault}
	case r.State == protocol.StateFailed:
		return true, &exitError{code: ExitFailed, err: errors.New("the turn failed")}
	case f.last == protocol.OutcomeInterrupted:
		return true, &exitError{code: ExitInterrupted, err: errors.New("the turn was stopped")}
	}
	return true, nil
}

// approval asks at the terminal; where nobody can answer, the turn is left
// waiting.
func (f *follower) approval(ctx context.Context, question protocol.Approval) (bool, error) {
	if !f.ask {
		// It may have been answered by another command just now.
		now, err := f.b.Sessions.Now(ctx, f.session)
		if err != nil {
			return true, err
		}
		if now.Version > f.record.Version {
			f.record = now
			f.out.session(now)
			return false, nil
		}
		f.out.end(f.record, "", nil)
		return true, &exitError{code: ExitInterrupted, err: fmt.Errorf(
			"the agent waits for your approval of: %s\n  answer in the app, or with: sessions approve %s",
			question.Ask.Title, f.session)}
	}
	decision, err := f.prompt(question)
	if err != nil {
		return true, err
	}
	if err := f.b.Sessions.Resolve(ctx, f.session, decision); err != nil {
		if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassNotFound {
			return true, err
		}
	}
	f.record.Approvals = f.record.Approvals[1:]
	if len(f.record.Approvals) == 0 {
		f.record.State = protocol.StateWorking
	}
	return false, nil
}

func (f *follower) prompt(question protocol.Approval) (protocol.Resolution, error) {
	w := f.app.Err
	_, _ = fmt.Fprintf(w, "\nThe agent asks to run on %s", question.Backend)
	if question.Ask.Dir != "" {
		_, _ = fmt.Fprintf(w, " in %s", question.Ask.Dir)
	}
	if question.Ask.Reason != "" {
		_, _ = fmt.Fprintf(w, " (%s)", question.Ask.Reason)
	}
	text := question.Ask.Detail
	if text == "" {
		text = question.Ask.Title
	}
	_, _ = fmt.Fprintf(w, ":\n  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	choices := "[y]es, [n]o"
	if len(question.Ask.Prefixes) > 0 {
		choices += fmt.Sprintf(", [a]lways allow %q here", strings.Join(question.Ask.Prefixes, ", "))
	}
	reader := bufio.NewReader(f.app.In)
	for {
		_, _ = fmt.Fprintf(w, "%s? ", choices)
		line, err := reader.ReadString('\n')
		if err != nil {
			return protocol.Resolution{}, &exitError{code: ExitInterrupted, err: errors.New("no answer: the agent goes on waiting")}
		}
		answer := protocol.Resolution{ID: question.ID}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			answer.Decision = protocol.DecisionAllow
		case "n", "no":
			answer.Decision = protocol.DecisionDeny
		case "a", "always":
			answer.Decision = protocol.DecisionAlways
		default:
			continue
		}
		return answer, nil
	}
}
