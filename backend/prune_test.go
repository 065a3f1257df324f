package backend_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

// kept are the call ids in the journal that begin with a session's.
func (p *product) kept(session string) []string {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.data, "journal", "exec"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), session+".") {
			out = append(out, e.Name())
		}
	}
	return out
}

// Full output goes when it is old and its turn is over, and with its session.
func TestOldOutputIsRemoved(t *testing.T) {
	p := start(t, stickyCache())
	p.model.Handle(steps(2, "echo {n}"))
	done := p.create(protocol.ApproveNever, "go")
	p.until(done, "the end", idle(1))

	// A turn that waits: its first command has run, its second asks.
	waits := p.create(protocol.ApproveAlways, "go")
	s := p.until(waits, "the question", func(s protocol.Session) bool { return len(s.Approvals) == 1 })
	p.must(p.Sessions.Resolve(t.Context(), waits, protocol.Resolution{ID: s.Approvals[0].ID, Decision: protocol.DecisionAllow}))
	first := s.Approvals[0].ID
	p.until(waits, "the second question", func(s protocol.Session) bool {
		return len(s.Approvals) == 1 && s.Approvals[0].ID != first
	})
	if a, b := p.kept(done), p.kept(waits); len(a) != 2 || len(b) != 1 {
		t.Fatalf("the journal has %q and %q", a, b)
	}

	p.PruneOutput(t.Context(), backend.KeptOutput{Age: time.Hour})
	p.PruneOutput(t.Context(), backend.KeptOutput{Newest: 3})
	if got := p.kept(done); len(got) != 2 {
		t.Errorf("young ones, or the newest, were removed: left are %q", got)
	}
	p.PruneOutput(t.Context(), backend.KeptOutput{})
	if got := p.kept(done); len(got) != 0 {
		t.Errorf("left are %q", got)
	}
	if got := p.kept(waits); len(got) != 1 {
		t.Errorf("what may still be asked for was removed: left are %q", got)
	}
	// The conversation still has what was shown.
	shown := 0
	for _, i := range p.items(done) {
		if i.Tool != nil && strings.Contains(i.Tool.Result.Output, string(rune('0'+shown))) {
			shown++
		}
	}
	if shown != 2 {
		t.Errorf("the conversation shows %d outputs", shown)
	}

	again := p.create(protocol.ApproveNever, "go")
	p.until(again, "the end", idle(1))
	p.must(p.Sessions.Destroy(t.Context(), again, false))
	p.must(p.Sessions.Destroy(t.Context(), waits, true))
	if left := slices.Concat(p.kept(again), p.kept(waits)); len(left) != 0 {
		t.Errorf("destroyed sessions left %q", left)
	}
}
