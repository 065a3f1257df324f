package workflow_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// codes are the lines between turns.
func (w *world) codes() []string {
	var codes []string
	for _, m := range w.marks {
		codes = append(codes, m.Notice.Code)
	}
	return codes
}

func TestATurnIsCommittedWithItsSnapshots(t *testing.T) {
	w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n == 1 {
			return calls(in, "make"), nil
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
	}}
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	if len(w.captured) != 2 || len(w.commits) != 1 {
		t.Fatalf("%d captures, %d commits", len(w.captured), len(w.commits))
	}
	if c := w.commits[0]; c.Base != "snapshot 1" || c.Snapshot != "snapshot 2" {
		t.Errorf("commit %+v", c)
	}
	if got := s.state().Snapshot; got != "snapshot 2" {
		t.Errorf("the session's snapshot is %q", got)
	}
}

// Where no tool ran, the files are what they were.
func TestATurnWithoutToolsIsCapturedOnce(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	if c := w.commits[0]; len(w.captured) != 1 || c.Base != "snapshot 1" || c.Snapshot != "snapshot 1" || c.Changed != 0 {
		t.Errorf("%d captures, commit %+v", len(w.captured), c)
	}
}

// A record that can't be projected is projected when it can be.
func TestTheRecordIsProjectedAfterAFullDisk(t *testing.T) {
	full := true
	w := &world{publish: func() error {
		if full {
			return fault(protocol.ClassDiskFull, 0)
		}
		return nil
	}}
	s := newSession(t, w)
	s.at(time.Minute, func() { full = false })
	s.run(input(protocol.ApproveNever))
	if last := w.published[len(w.published)-1]; last.Turns != 1 {
		t.Errorf("the last record is %+v", last)
	}
}

// The tool waits for the snapshot of what the turn begins with.
func TestNoToolRunsBeforeTheBase(t *testing.T) {
	w := &world{}
	order := []string{}
	w.capture = func(n int, _ protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
		order = append(order, "capture")
		return protocol.CaptureSnapshotResult{Captured: protocol.Captured{Snapshot: "s"}}, nil
	}
	w.model = func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
		if n == 1 {
			return calls(in, "make"), nil
		}
		return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
	}
	w.prepare = nil
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	if len(w.tools) != 1 || len(order) < 2 || order[0] != "capture" {
		t.Errorf("tools %d, order %v", len(w.tools), order)
	}
}

func TestATurnDoesNotFailForWantOfASnapshot(t *testing.T) {
	w := &world{capture: func(int, protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
		return protocol.CaptureSnapshotResult{}, fault(protocol.ClassDiskFull, 0)
	}}
	s := newSession(t, w)
	s.run(input(protocol.ApproveNever))
	if c := w.commits[0]; c.Outcome != protocol.OutcomeDone || c.NoSnapshot == nil || c.NoSnapshot.Class != protocol.ClassDiskFull {
		t.Errorf("commit %+v", c)
	}
}

func TestALargeWorkspaceAsks(t *testing.T) {
	ask := &protocol.SnapshotAsk{Files: 300_000, Bytes: 1}
	w := &world{capture: func(_ int, in protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
		if len(in.Policy.Exclude) == 0 {
			return protocol.CaptureSnapshotResult{Ask: ask}, nil
		}
		return protocol.CaptureSnapshotResult{Captured: protocol.Captured{Snapshot: "small"}}, nil
	}}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		if got := s.state().SnapshotAsk; got == nil || got.Files != ask.Files {
			t.Errorf("asks %+v", got)
		}
		o := s.update(protocol.UpdateSetSnapshots, "p", protocol.SnapshotPolicy{Exclude: []string{"node_modules"}})
		s.at(time.Minute, func() {
			if got := s.state(); !o.done || got.SnapshotAsk != nil || got.Snapshot != "small" {
				t.Errorf("after the answer: %+v, %+v", o, got)
			}
		})
	})
	s.run(input(protocol.ApproveNever))
}

func switchInput(stop bool) protocol.SwitchInput {
	return protocol.SwitchInput{ID: "sw", Place: protocol.Place{Backend: "docker"}, Stop: stop}
}

func TestSwitch(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	var o *outcome
	s.at(time.Minute, func() { o = s.update(protocol.UpdateSwitchBackend, "u", switchInput(false)) })
	s.at(2*time.Minute, func() {
		got := s.state()
		if !o.done || o.failed != nil || got.Backend != "docker" || got.Sandbox != "ref 1" || got.Workspace != "/made/1" || !got.OwnWorkspace || got.Moving != nil {
			t.Errorf("%+v\n%+v", o, got)
		}
	})
	s.run(input(protocol.ApproveNever))
	last := w.captured[len(w.captured)-1]
	if !last.Quiet || last.Place.Backend != "local" {
		t.Errorf("captured %+v", last)
	}
	if p := w.placed[0]; p.Place.Sandbox != "ref 1" || p.Snapshot != "snapshot 2" || p.From != "local" || p.Source == nil || p.Current != nil {
		t.Errorf("placed %+v", p)
	}
	// The old place is let go of once the session has moved.
	if r := w.released[0]; r.Place.Backend != "local" || r.Place.Sandbox != "ref" || !r.Moved {
		t.Errorf("released %+v", r)
	}
	if got := w.codes(); !slices.Equal(got, []string{"switched"}) {
		t.Errorf("lines %v", got)
	}
}

// Whatever fails, the session stays where it was and what was made is removed.
func TestAFailedSwitchChangesNothing(t *testing.T) {
	for name, w := range map[string]*world{
		"create": {create: func(int, protocol.CreateSandboxInput) (protocol.PrepareSandboxResult, error) {
			return protocol.PrepareSandboxResult{}, fault(protocol.ClassUnavailable, 0)
		}},
		"place": {place: func(int, protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error) {
			return protocol.PlaceSnapshotResult{}, fault(protocol.ClassDiskFull, 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, w)
			var o *outcome
			s.at(time.Minute, func() { o = s.update(protocol.UpdateSwitchBackend, "u", switchInput(false)) })
			s.at(time.Hour/2, func() {
				got := s.state()
				if !o.done || o.failed == nil || got.Backend != "local" || got.Sandbox != "ref" || got.State != protocol.StateIdle {
					t.Errorf("%+v\n%+v", o, got)
				}
			})
			s.run(input(protocol.ApproveNever))
			made := len(w.created)
			removed := 0
			for _, r := range w.released {
				if r.Place.Backend == "docker" && r.RemoveWorkspace {
					removed++
				}
			}
			if name == "place" && (made != 1 || removed != 1) {
				t.Errorf("%d made, %d removed", made, removed)
			}
			if got := w.codes(); !slices.Equal(got, []string{"switch_failed"}) {
				t.Errorf("lines %v", got)
			}
		})
	}
}

// A folder that the user picked is captured before anything is put there, and
// put back if that fails.
func TestAPickedFolderIsPutBack(t *testing.T) {
	w := &world{
		create: func(int, protocol.CreateSandboxInput) (protocol.PrepareSandboxResult, error) {
			return protocol.PrepareSandboxResult{Sandbox: "picked", Workspace: "/picked"}, nil
		},
		capture: func(n int, in protocol.CaptureSnapshotInput) (protocol.CaptureSnapshotResult, error) {
			if in.Beside {
				return protocol.CaptureSnapshotResult{Captured: protocol.Captured{Snapshot: "of the folder", Entries: 2}}, nil
			}
			return protocol.CaptureSnapshotResult{Captured: protocol.Captured{Snapshot: "mine"}}, nil
		},
		place: func(n int, in protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error) {
			if in.Snapshot == "mine" {
				return protocol.PlaceSnapshotResult{}, fault(protocol.ClassDiskFull, 0)
			}
			return protocol.PlaceSnapshotResult{}, nil
		},
	}
	s := newSession(t, w)
	in := switchInput(false)
	in.Place, in.Onto = protocol.Place{Backend: "local", Workspace: "/picked"}, protocol.OntoReplace
	s.at(time.Minute, func() { s.update(protocol.UpdateSwitchBackend, "u", in) })
	s.run(input(protocol.ApproveNever))
	if len(w.placed) != 2 || w.placed[0].Current == nil || w.placed[0].Current.Snapshot != "of the folder" || w.placed[1].Snapshot != "of the folder" {
		t.Errorf("placed %+v", w.placed)
	}
	for _, r := range w.released {
		if r.Place.Workspace == "/picked" && r.RemoveWorkspace {
			t.Error("the user's folder was to be removed")
		}
	}
}

// During a turn a switch waits for its end, or stops it.
func TestSwitchDuringATurn(t *testing.T) {
	for _, stop := range []bool{false, true} {
		w := &world{model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			if n == 1 {
				return calls(in, "make"), nil
			}
			return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
		}}
		s := newSession(t, w)
		s.at(time.Minute, func() { s.update(protocol.UpdateSwitchBackend, "u", switchInput(stop)) })
		s.at(2*time.Minute, func() {
			got := s.state()
			if stop {
				if got.Backend != "docker" || len(w.commits) != 1 || w.commits[0].Outcome != protocol.OutcomeInterrupted {
					t.Errorf("stop: %+v", got)
				}
				return
			}
			if got.Backend != "local" || got.Moving == nil || !got.Moving.Waits {
				t.Errorf("wait: %+v", got)
			}
			s.update(protocol.UpdateResolveApproval, "r", protocol.Resolution{ID: got.Approvals[0].ID, Decision: protocol.DecisionAllow})
		})
		s.at(3*time.Minute, func() {
			if got := s.state(); got.Backend != "docker" {
				t.Errorf("after the turn: %+v", got)
			}
		})
		s.run(input(protocol.ApproveAlways))
	}
}

func TestRewindAndUndo(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		s.update(protocol.UpdateSendMessage, "m2", protocol.QueuedMessage{ID: "m2", Content: "c2"})
	})
	s.at(2*time.Minute, func() {
		if got := s.state(); got.Head != "commit of s.2" || got.Turns != 2 {
			t.Fatalf("%+v", got)
		}
		s.update(protocol.UpdateRewind, "r", protocol.RewindInput{ID: "rw", What: protocol.RewindBoth, Head: "commit of s.1", Turns: 1, Snapshot: "snapshot 2"})
	})
	s.at(3*time.Minute, func() {
		got := s.state()
		if got.Turns != 1 || got.Snapshot != "snapshot 2" || got.Head != "mark s.3" || len(got.Rewinds) != 1 {
			t.Fatalf("rewound: %+v", got)
		}
		if m := w.marks[0]; m.Turn.Head != "commit of s.1" || m.Notice.Code != "rewound" || m.Notice.Receipt.Undo != "rw" {
			t.Errorf("line %+v", m)
		}
		// What was there was captured before anything changed.
		if p := w.placed[0]; p.Snapshot != "snapshot 2" || p.Current == nil || p.Current.Snapshot != got.Rewinds[0].Snapshot || p.Beside {
			t.Errorf("placed %+v", p)
		}
		s.update(protocol.UpdateRewind, "r2", protocol.RewindInput{ID: "undo", Undo: "rw"})
	})
	s.at(4*time.Minute, func() {
		got := s.state()
		if got.Turns != 2 || got.Snapshot != w.placed[0].Current.Snapshot || w.marks[1].Turn.Head != "commit of s.2" {
			t.Errorf("undone: %+v\n%+v", got, w.marks[1])
		}
		if len(got.Rewinds) != 1 || got.Rewinds[0].ID != "undo" || got.Rewinds[0].Turns != 1 {
			t.Errorf("what can be taken back: %+v", got.Rewinds)
		}
	})
	s.run(input(protocol.ApproveNever))
}

func TestRewindOfTheConversationLeavesTheFiles(t *testing.T) {
	w := &world{}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		s.update(protocol.UpdateRewind, "r", protocol.RewindInput{ID: "rw", What: protocol.RewindConversation})
	})
	s.at(2*time.Minute, func() {
		if got := s.state(); got.Turns != 0 || len(w.placed) != 0 || w.marks[0].Turn.Head != "" {
			t.Errorf("%+v", got)
		}
		o := s.update(protocol.UpdateRewind, "r2", protocol.RewindInput{ID: "rw2", What: protocol.RewindFiles})
		s.at(time.Minute, func() {
			if o.rejected == nil || !strings.Contains(o.rejected.Error(), "no snapshot") {
				t.Errorf("a rewind of files without a snapshot: %+v", o)
			}
		})
	})
	s.run(input(protocol.ApproveNever))
}

// A fork's files are put into place before anything else; if that fails, what
// was sent is not lost.
func TestSetup(t *testing.T) {
	fork := func() protocol.AgentInput {
		in := input(protocol.ApproveNever)
		in.First = nil
		in.Session.Head, in.Session.Turns, in.Session.Snapshot = "head", 4, "tree"
		in.Session.Setup = &protocol.Setup{Snapshot: "tree", What: "fork", From: protocol.Spot{Backend: "local"}, Title: "T", Turn: 4}
		return in
	}
	w := &world{}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		got := s.state()
		if got.Setup != nil || got.Sandbox != "ref 1" || got.Turns != 4 || got.Head != "mark s.1" || got.State != protocol.StateIdle {
			t.Errorf("%+v", got)
		}
	})
	s.run(fork())
	if m := w.marks[0]; m.Turn.Head != "head" || m.Notice.Receipt.What != "fork" {
		t.Errorf("line %+v", m)
	}

	broken := true
	w = &world{place: func(int, protocol.PlaceSnapshotInput) (protocol.PlaceSnapshotResult, error) {
		if broken {
			return protocol.PlaceSnapshotResult{}, fault(protocol.ClassDiskFull, 0)
		}
		return protocol.PlaceSnapshotResult{}, nil
	}}
	s = newSession(t, w)
	s.at(time.Minute, func() {
		if got := s.state(); got.Setup == nil || got.State != protocol.StateFailed || got.Fault == nil {
			t.Errorf("%+v", got)
		}
		broken = false
		s.update(protocol.UpdateRetryTurn, "again", protocol.QueuedMessage{ID: "again"})
	})
	s.at(2*time.Minute, func() {
		if got := s.state(); got.Setup != nil || got.State != protocol.StateIdle || got.Turns != 4 || len(w.models) != 0 {
			t.Errorf("after the retry: %+v", got)
		}
	})
	s.run(fork())
}

// A container that is gone is made anew from the last snapshot, and a call that
// ran in it is not done again.
func TestALostSandboxIsMadeAnew(t *testing.T) {
	w := &world{
		prepare: func(protocol.PrepareTurnInput) (protocol.PrepareTurnResult, error) {
			return protocol.PrepareTurnResult{Sandbox: "ref", Workspace: "/w", OwnWorkspace: true, NextSeq: 1}, nil
		},
		model: func(n int, in protocol.CallModelInput) (protocol.CallModelResult, error) {
			if n == 1 {
				return calls(in, "make"), nil
			}
			return protocol.CallModelResult{NextSeq: in.Seq + 1}, nil
		},
	}
	w.tool = func(context.Context, int, protocol.RunToolInput) (protocol.RunToolResult, error) {
		return protocol.RunToolResult{}, fault(protocol.ClassSandboxGone, 0)
	}
	s := newSession(t, w)
	s.at(time.Minute, func() {
		if got := s.state(); got.Sandbox != "ref 1" || got.State != protocol.StateIdle {
			t.Errorf("%+v", got)
		}
	})
	s.run(input(protocol.ApproveNever))
	if len(w.tools) != 1 || len(w.placed) != 1 || w.placed[0].Snapshot != "snapshot 1" {
		t.Errorf("placed %+v", w.placed)
	}
	if len(w.outcomes) != 1 || w.outcomes[0].Status != protocol.ToolInterrupted || len(w.noticed) != 1 || w.noticed[0].Notice.Code != "remade" {
		t.Errorf("outcomes %+v, notices %+v", w.outcomes, w.noticed)
	}
}
