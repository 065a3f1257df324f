package protocol

import "testing"

func TestNeedsApproval(t *testing.T) {
	reads := Ask{}
	edits := Ask{Acts: true}
	tests := Ask{Acts: true, Risky: true, Prefixes: []string{"npm test"}}
	both := Ask{Acts: true, Risky: true, Prefixes: []string{"npm test", "npm run build"}}
	deletes := Ask{Acts: true, Risky: true}
	for _, c := range []struct {
		name              string
		ask               Ask
		prefixes          []string
		always, risky     bool
		never             bool
		coveredByPrefixes bool
	}{
		{name: "reads", ask: reads},
		{name: "edits", ask: edits, always: true},
		{name: "tests", ask: tests, always: true, risky: true},
		{name: "tests, allowed", ask: tests, prefixes: []string{"npm test"}, coveredByPrefixes: true},
		{name: "tests, another allowed", ask: tests, prefixes: []string{"npm", "npm tes", "npm test "}, always: true, risky: true},
		{name: "both, one allowed", ask: both, prefixes: []string{"npm test"}, always: true, risky: true},
		{name: "both, both allowed", ask: both, prefixes: []string{"npm run build", "x", "npm test"}, coveredByPrefixes: true},
		{name: "deletes, with prefixes", ask: deletes, prefixes: []string{"", "rm"}, always: true, risky: true},
	} {
		for mode, want := range map[ApprovalMode]bool{ApproveAlways: c.always, ApproveRisky: c.risky, ApproveNever: c.never} {
			if got := NeedsApproval(mode, c.ask, c.prefixes); got != want {
				t.Errorf("%s in mode %q: %v", c.name, mode, got)
			}
		}
		if got := c.ask.AllowedBy(c.prefixes); got != c.coveredByPrefixes {
			t.Errorf("%s: allowed by %q: %v", c.name, c.prefixes, got)
		}
	}
}
