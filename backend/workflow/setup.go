package workflow

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// setUp puts the files into place with which a session begins that goes on
// where another was.
func (a *agent) setUp(ctx workflow.Context) *protocol.Fault {
	setup := a.s.Setup
	began := workflow.Now(ctx)
	receipt := protocol.Receipt{What: setup.What, From: setup.From, To: a.spot(), Turn: setup.Turn, Excluded: a.s.Snapshots.Exclude}
	a.s.Moving = moving(ctx, setup.What, receipt.To)
	a.s.Fault = nil
	a.touch()
	defer func() {
		a.s.Moving = nil
		a.touch()
	}()
	var source *protocol.Place
	if setup.Source.Sandbox != "" {
		source = &setup.Source
	}
	place, fault := a.arrive(ctx, arrival{
		place: a.place(), onto: setup.Onto, snapshot: setup.Snapshot, from: setup.From.Backend, source: source, receipt: &receipt,
	})
	if fault != nil {
		a.s.State, a.s.Fault = protocol.StateFailed, fault
		return fault
	}
	a.flip(place)
	a.s.Setup = nil
	a.s.State = protocol.StateIdle
	receipt.To, receipt.Snapshot = a.spot(), setup.Snapshot
	receipt.DurationMs = since(ctx, began)
	a.mark(ctx, protocol.NoticeItem{Code: "begun", Text: begun(setup, receipt), Receipt: &receipt})
	a.s.Held = ""
	return nil
}

// begun says where a session comes from.
func begun(setup *protocol.Setup, receipt protocol.Receipt) string {
	switch setup.What {
	case "fork":
		return fmt.Sprintf("Forked from “%s”, onto %s", setup.Title, receipt.To.Backend)
	case "import":
		return fmt.Sprintf("Imported “%s”, onto %s", setup.Title, receipt.To.Backend)
	default:
		return fmt.Sprintf("Begun with the files of “%s”, on %s", setup.Title, receipt.To.Backend)
	}
}

// again makes a sandbox that is gone anew, if we had made it, with the files of
// the last snapshot. It returns nil when the turn can go on.
func (t *turn) remake(ctx workflow.Context, fault *protocol.Fault) *protocol.Fault {
	if fault.Class != protocol.ClassSandboxGone || !t.s.OwnWorkspace || t.s.Snapshot == "" || t.remade >= maxRemade {
		return fault
	}
	t.remade++
	place := t.place()
	place.Sandbox, place.Workspace = "", ""
	receipt := protocol.Receipt{What: "remake", From: t.spot(), To: t.spot(), Snapshot: t.s.Snapshot, Turn: t.s.Turns}
	began := workflow.Now(ctx)
	place, failed := t.arrive(ctx, arrival{place: place, snapshot: t.s.Snapshot, from: t.s.Backend, receipt: &receipt})
	if failed != nil {
		return failed
	}
	t.flip(place)
	receipt.To = t.spot()
	receipt.DurationMs = since(ctx, began)
	t.notices = append(t.notices, protocol.NoticeItem{
		Code: "remade", Text: "The sandbox was gone: it was made anew with the files of the last snapshot", Receipt: &receipt,
	})
	return nil
}

// maxRemade is how often one turn has its sandbox made anew.
const maxRemade = 3

// tell writes the notices that came up in the turn.
func (t *turn) tell(ctx workflow.Context) {
	for _, n := range t.notices {
		in := protocol.RecordNoticeInput{Turn: t.ref, Seq: t.seq, Notice: n}
		if err := untilDone(ctx, protocol.ActivityRecordNotice, in, nil); err != nil {
			workflow.GetLogger(ctx).Warn("a notice was not written", "session", t.s.ID, "error", err)
			continue
		}
		t.seq++
	}
	t.notices = nil
}
