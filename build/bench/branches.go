package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
)

// BranchReport tells what snapshots and forks cost inside the app. Times are in
// milliseconds.
type BranchReport struct {
	// ForkShort and ForkLong are whole forks of a session without files, after 2
	// turns and after Turns: what the conversation costs, with the start of the
	// new session.
	ForkShort Figures `json:"forkOfShortConversationMs"`
	ForkLong  Figures `json:"forkOfLongConversationMs"`
	Turns     int     `json:"turnsOfLongConversation"`
	// Turn is a turn that changes nothing among 10,000 files, TurnOff the same
	// without snapshots, and Commit the difference of the medians.
	Turn    Figures `json:"turnWithoutChangeMs"`
	TurnOff Figures `json:"turnWithoutSnapshotMs"`
	Commit  float64 `json:"snapshotsOfTurnWithoutChangeMs"`
}

// longConversation is how many turns the long one has.
const longConversation = 150

// branches measures what only the whole app shows.
func (b *bench) branches(report *Report) error {
	return b.within("branches", func(product *backend.Backend, _ string) error { return b.branchesOf(&report.Branch, product) })
}

func (b *bench) branchesOf(out *BranchReport, product *backend.Backend) error {
	out.Turns = longConversation
	s, err := product.Sessions.Create(b.ctx, protocol.CreateRequest{Options: protocol.Options{Approve: protocol.ApproveNever}})
	if err != nil {
		return err
	}
	for n := range longConversation {
		if _, err := b.emptyTurn(product, s.ID, n+1); err != nil {
			return err
		}
		switch n + 1 {
		case 2:
			out.ForkShort, err = b.forks(product, s.ID)
		case longConversation:
			out.ForkLong, err = b.forks(product, s.ID)
		}
		if err != nil {
			return fmt.Errorf("fork after %d turns: %w", n+1, err)
		}
	}
	return b.emptyTurns(out, product)
}

// emptyTurn works a turn that does nothing and returns how long it took.
func (b *bench) emptyTurn(product *backend.Backend, id string, turns int) (time.Duration, error) {
	began := time.Now()
	if _, err := product.Sessions.Send(b.ctx, id, protocol.SendRequest{ID: session.NewID(), Text: "0 nothing"}); err != nil {
		return 0, err
	}
	err := b.until(product, id, func(s protocol.Session) bool { return s.State == protocol.StateIdle && s.Turns == turns })
	return time.Since(began), err
}

func (b *bench) forks(product *backend.Backend, id string) (Figures, error) {
	turns, err := product.Sessions.Turns(b.ctx, id)
	if err != nil {
		return Figures{}, err
	}
	var times []time.Duration
	for range tries {
		began := time.Now()
		out, err := product.Fork(b.ctx, protocol.ForkRequest{ID: id, Turn: turns[0].ID, Target: protocol.Target{Backend: "local"}})
		if err != nil {
			return Figures{}, err
		}
		times = append(times, time.Since(began))
		if err := product.Sessions.Destroy(b.ctx, out.Session.ID, true); err != nil {
			return Figures{}, err
		}
	}
	return figures(times), nil
}

// emptyTurns compares turns with and without snapshots, by turns.
func (b *bench) emptyTurns(out *BranchReport, product *backend.Backend) error {
	dir, err := b.folder("ten thousand")
	if err != nil {
		return err
	}
	for n := range 10_000 {
		sub := filepath.Join(dir, fmt.Sprintf("d%d", n/50))
		if n%50 == 0 {
			if err := os.Mkdir(sub, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d", n)), fmt.Appendf(nil, "file %d\n", n), 0o644); err != nil {
			return err
		}
	}
	s, err := product.Sessions.Create(b.ctx, protocol.CreateRequest{Workspace: dir, Options: protocol.Options{Approve: protocol.ApproveNever}})
	if err != nil {
		return err
	}
	turns := 0
	work := func(off bool) (time.Duration, error) {
		if err := product.Sessions.SetSnapshots(b.ctx, s.ID, protocol.SnapshotPolicy{Off: off}); err != nil {
			return 0, err
		}
		// Setting it captures, too: let that end.
		if _, err := product.Sessions.Checkpoint(b.ctx, s.ID); err != nil {
			return 0, err
		}
		turns++
		return b.emptyTurn(product, s.ID, turns)
	}
	var on, off []time.Duration
	for n := range tries + 1 {
		with, err := work(false)
		if err != nil {
			return err
		}
		without, err := work(true)
		if err != nil {
			return err
		}
		if n > 0 { // the first reads all files
			on, off = append(on, with), append(off, without)
		}
	}
	out.Turn, out.TurnOff = figures(on), figures(off)
	out.Commit = out.Turn.Median - out.TurnOff.Median
	return nil
}

// measureBranches measures this part alone.
func measureBranches(ctx context.Context) (Report, error) {
	dir, err := os.MkdirTemp("", "tsa-bench-")
	if err != nil {
		return Report{}, err
	}
	b := &bench{ctx: ctx, dir: dir, model: llmtest.Start()}
	b.model.Handle(b.answer)
	defer b.model.Close()
	var report Report
	load, _ := os.ReadFile("/proc/loadavg") // not on every system
	report.Load = strings.TrimSpace(string(load))
	return report, errors.Join(b.branches(&report), os.RemoveAll(dir))
}
