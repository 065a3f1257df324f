package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/testsuite"
	sdk "go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/workflow"
)

// forks runs the registry with sessions of these titles, forks as told, one
// after the other, and returns the titles of the forks.
func forks(t *testing.T, titles []string, forks []protocol.ForkInput) []string {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(30 * time.Second)
	env.RegisterWorkflowWithOptions(workflow.SessionManagerWorkflow, sdk.RegisterOptions{Name: protocol.SessionManagerWorkflow})
	env.RegisterWorkflowWithOptions(func(sdk.Context, protocol.AgentInput) error { return nil }, sdk.RegisterOptions{Name: protocol.AgentWorkflow})
	var in protocol.ManagerInput
	for i, title := range titles {
		in.Entries = append(in.Entries, protocol.RegistryEntry{ID: fmt.Sprint("old", i), Title: title, Backend: "local"})
	}
	got := make([]string, len(forks))
	for i, fork := range forks {
		fork.ID, fork.Options.Approve = fmt.Sprint("new", i), protocol.ApproveNever
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(protocol.UpdateFork, fork.ID, &testsuite.TestUpdateCallback{
				OnAccept: func() {},
				OnReject: func(err error) { t.Errorf("fork %d: %v", i, err) },
				OnComplete: func(made any, err error) {
					entry, ok := made.(protocol.RegistryEntry)
					if err != nil || !ok {
						t.Errorf("fork %d: %v, %v", i, made, err)
					}
					got[i] = entry.Title
				},
			}, fork)
		}, time.Duration(i+1)*time.Second)
	}
	env.RegisterDelayedCallback(func() {
		value, err := env.QueryWorkflow(protocol.QueryList)
		var entries []protocol.RegistryEntry
		if err == nil {
			err = value.Get(&entries)
		}
		if err != nil || len(entries) != len(titles)+len(forks) {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		env.CancelWorkflow()
	}, time.Hour)
	env.ExecuteWorkflow(protocol.SessionManagerWorkflow, in)
	if !env.IsWorkflowCompleted() {
		t.Fatal("the registry did not end")
	}
	return got
}

// fork asks for a fork of a session with this title, without naming it.
func fork(base, backend string, other bool) protocol.ForkInput {
	return protocol.ForkInput{Base: base, Place: protocol.Place{Backend: backend}, OtherPlace: other}
}

func TestForkTitles(t *testing.T) {
	const same, other = false, true
	long := strings.Repeat("漢", 66) // 198 bytes of the 200 that a title may have
	for name, c := range map[string]struct {
		titles []string
		forks  []protocol.ForkInput
		want   []string
	}{
		"numbers": {
			[]string{"T", "U"},
			[]protocol.ForkInput{fork("T", "local", same), fork("T", "local", same), fork("U", "local", same)},
			[]string{"T (fork #1)", "T (fork #2)", "U (fork #1)"},
		},
		"of a fork": {
			[]string{"T", "T (fork #1)"},
			[]protocol.ForkInput{fork("T (fork #1)", "local", same), fork("T (fork #2)", "local", same)},
			[]string{"T (fork #2)", "T (fork #3)"},
		},
		"a number that is free again": {
			[]string{"T", "T (fork #2)"},
			[]protocol.ForkInput{fork("T (fork #2)", "local", same), fork("T", "local", same)},
			[]string{"T (fork #1)", "T (fork #3)"},
		},
		"another backend": {
			[]string{"T"},
			[]protocol.ForkInput{fork("T", "docker", other), fork("T", "docker", other), fork("T [docker]", "local", other), fork("T [docker]", "docker", same)},
			[]string{"T [docker]", "T (fork #1)", "T [local]", "T (fork #2)"},
		},
		"to and fro": {
			[]string{"T (fork #7)"},
			[]protocol.ForkInput{fork("T (fork #7)", "docker", other), fork("T [docker]", "e2b", other)},
			[]string{"T [docker]", "T [e2b]"},
		},
		"a title of its own": {
			[]string{"T"},
			[]protocol.ForkInput{{Title: "Mine", Base: "T", Place: protocol.Place{Backend: "local"}}, {Title: "Mine", Base: "T", Place: protocol.Place{Backend: "local"}}},
			[]string{"Mine", "Mine"},
		},
		"what only looks like it": {
			[]string{"T (fork #x)", "T (fork #1) again", "(fork #1)"},
			[]protocol.ForkInput{fork("T (fork #x)", "local", same), fork("T (fork #1) again", "local", same), fork("(fork #1)", "local", same)},
			[]string{"T (fork #x) (fork #1)", "T (fork #1) again (fork #1)", "(fork #1) (fork #1)"},
		},
		"long": {
			[]string{long},
			[]protocol.ForkInput{fork(long, "local", same), fork(long, "local", same), fork(long, "docker", other)},
			[]string{strings.Repeat("漢", 63) + " (fork #1)", strings.Repeat("漢", 63) + " (fork #2)", strings.Repeat("漢", 63) + " [docker]"},
		},
		"as long as it may be": {
			[]string{strings.Repeat("a", 190)},
			[]protocol.ForkInput{fork(strings.Repeat("a", 190), "local", same), fork(strings.Repeat("a", 190)+"😀", "local", same), fork(strings.Repeat("a", 200), "local", same)},
			[]string{strings.Repeat("a", 190) + " (fork #1)", strings.Repeat("a", 190) + " (fork #2)", strings.Repeat("a", 190) + " (fork #3)"},
		},
	} {
		got := forks(t, c.titles, c.forks)
		for i, title := range got {
			if title != c.want[i] || len(title) > 200 || !utf8.ValidString(title) {
				t.Errorf("%s: fork %d is called %q (%d bytes), want %q", name, i, title, len(title), c.want[i])
			}
		}
	}
}

// The tenth and the hundredth number take more room.
func TestForkTitlesWithLargeNumbers(t *testing.T) {
	base := strings.Repeat("ü", 100)
	titles := []string{base}
	for n := 1; n < 100; n++ {
		suffix := fmt.Sprintf(" (fork #%d)", n)
		cut := base[:(200-len(suffix))/2*2]
		titles = append(titles, cut+suffix)
	}
	got := forks(t, titles, []protocol.ForkInput{fork(base, "local", false)})
	if want := base[:188] + " (fork #100)"; got[0] != want {
		t.Errorf("%q, want %q", got[0], want)
	}
}
