package sandboxtest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox/journal"
)

func (s *suite) testKill(t *testing.T) {
	dir := s.dir(t)
	c := start(t, s.journal, journal.Spec{CallID: callID(t, "kill"), Shell: stubborn, Dir: dir})
	s.eventually(t, "the tree is up", func() bool { return s.exists(t, dir+"/ready") })
	if got := s.living(t, dir, "pids"); len(strings.Fields(got)) < 3 {
		t.Fatalf("alive are %q, want the whole tree", got)
	}
	if err := c.Kill(t.Context()); err != nil {
		t.Fatalf("Kill: %v", err)
	}
	if left := s.living(t, dir, "pids"); left != "" {
		t.Errorf("processes %s are still alive", left)
	}
	exit, out := s.wait(t, c)
	if exit.State != journal.StateFinished || !exit.Killed || exit.Code != 137 || exit.Signal != "SIGKILL" || exit.TimedOut || out != "ready\n" {
		t.Errorf("%+v, output %q", exit, out)
	}
	if err := c.Kill(t.Context()); err != nil {
		t.Errorf("Kill again: %v", err)
	}
	done := startCommand(t, s.journal, callID(t, "kill"), "exit 6")
	s.wait(t, done)
	if err := done.Kill(t.Context()); err != nil {
		t.Errorf("Kill of what ended: %v", err)
	}
	if exit, _ := s.wait(t, done); exit.Killed || exit.Code != 6 {
		t.Errorf("killed after its end: %+v", exit)
	}
}

func (s *suite) testTimeout(t *testing.T) {
	dir := s.dir(t)
	c := start(t, s.journal, journal.Spec{CallID: callID(t, "timeout"), Shell: "echo partial;" + stubborn, Dir: dir, Timeout: 1500 * time.Millisecond})
	s.eventually(t, "the tree is dead", func() bool {
		return s.exists(t, dir+"/ready") && s.living(t, dir, "pids") == ""
	})
	found, err := s.Journal(s.sb).Find(t.Context(), c.CallID())
	if err != nil {
		t.Fatal(err)
	}
	exit, out := s.wait(t, found)
	if exit.State != journal.StateFinished || !exit.TimedOut || exit.Killed || exit.Code != 137 || !strings.HasPrefix(out, "partial\n") {
		t.Errorf("%+v, output %q", exit, out)
	}
	if exit.Duration < 1400*time.Millisecond || exit.Duration > 1500*time.Millisecond+s.Patience {
		t.Errorf("it lasted %v, want 1.5s", exit.Duration)
	}
	in := start(t, s.journal, journal.Spec{CallID: callID(t, "timeout"), Shell: "echo in time", Timeout: time.Minute})
	if exit, out := s.wait(t, in); exit.TimedOut || exit.Code != 0 || out != "in time\n" {
		t.Errorf("in time: %+v, %q", exit, out)
	}
}

func (s *suite) testOutlive(t *testing.T) {
	dir := s.dir(t)
	// One lets go of the output, the other holds on to it.
	c := start(t, s.journal, journal.Spec{CallID: callID(t, "outlive"), Dir: dir, Shell: `
		sleep 1000 >/dev/null 2>&1 & echo $! >>pids
		(while [ ! -e go ]; do sleep 0.05; done; echo late; sleep 1000) & echo $! >>pids
		echo started`})
	began := time.Now()
	exit, out := s.wait(t, c)
	if exit.Code != 0 || out != "started\n" {
		t.Errorf("%+v, output %q", exit, out)
	}
	if took := time.Since(began); took > s.Patience {
		t.Errorf("it took %v to end", took)
	}
	if got := strings.Fields(s.living(t, dir, "pids")); len(got) != 2 {
		t.Errorf("alive are %v, want both", got)
	}
	s.write(t, dir+"/go", "")
	s.eventually(t, "what is written late is kept", func() bool {
		data, _, err := c.ReadOutput(t.Context(), 0, 100)
		return err == nil && string(data) == "started\nlate\n"
	})
	if err := c.Kill(t.Context()); err != nil {
		t.Errorf("Kill: %v", err)
	}
	if left := s.living(t, dir, "pids"); left != "" {
		t.Errorf("after Kill processes %s are still alive", left)
	}
	if exit, _, err := c.Exit(t.Context()); err != nil || exit.Killed || exit.Code != 0 {
		t.Errorf("after Kill: %+v, %v", exit, err)
	}
}

func (s *suite) testPrefix(t *testing.T) {
	session := "prefix" + strconv.FormatInt(time.Now().UnixNano(), 36)
	var ids []string
	for i := range 3 {
		id := session + ".call" + strconv.Itoa(i)
		startCommand(t, s.journal, id, "sleep 1000")
		ids = append(ids, id)
	}
	s.wait(t, startCommand(t, s.journal, session+".done", "true"))
	other := startCommand(t, s.journal, "other-"+session+".call", "sleep 1000")
	list := func(prefix string) []string {
		t.Helper()
		commands, err := s.Journal(s.sb).List(t.Context(), prefix)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		var got []string
		for _, c := range commands {
			got = append(got, c.CallID())
		}
		slices.Sort(got)
		return got
	}
	if got := list(session + "."); !slices.Equal(got, ids) {
		t.Errorf("running are %v, want %v", got, ids)
	}
	if got := list(""); !slices.Contains(got, other.CallID()) || len(got) < 4 {
		t.Errorf("running in all are %v", got)
	}
	if err := s.journal.KillAll(t.Context(), session+"."); err != nil {
		t.Fatalf("KillAll: %v", err)
	}
	if got := list(session + "."); got != nil {
		t.Errorf("after KillAll %v run", got)
	}
	if exit, ended, err := other.Exit(t.Context()); err != nil || ended {
		t.Errorf("another session's command: %+v, %v", exit, err)
	}
	if err := other.Kill(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.journal.KillAll(t.Context(), "no-such-session."); err != nil {
		t.Errorf("KillAll of nothing: %v", err)
	}
}

func (s *suite) testPrune(t *testing.T) {
	running := startCommand(t, s.journal, callID(t, "prune"), "sleep 1000")
	var done []journal.Command
	for range 3 {
		c := startCommand(t, s.journal, callID(t, "prune"), "true")
		s.wait(t, c)
		done = append(done, c)
		time.Sleep(1100 * time.Millisecond) // the sandbox may only know whole seconds
	}
	if _, err := s.journal.Prune(t.Context(), journal.Retention{OlderThan: time.Hour}); err != nil {
		t.Fatal(err)
	}
	for _, c := range done {
		if _, err := s.journal.Find(t.Context(), c.CallID()); err != nil {
			t.Errorf("a new one was pruned: %v", err)
		}
	}
	none := journal.Retention{May: func(string) bool { return false }}
	if n, err := s.journal.Prune(t.Context(), none); err != nil || n != 0 {
		t.Errorf("Prune of what may not go: %d, %v", n, err)
	}
	n, err := s.journal.Prune(t.Context(), journal.Retention{Keep: 1})
	if err != nil || n < 2 {
		t.Errorf("Prune: %d, %v", n, err)
	}
	for i, c := range done {
		if _, err := s.journal.Find(t.Context(), c.CallID()); (err == nil) != (i == 2) {
			t.Errorf("number %d of 3: %v, want only the last kept", i+1, err)
		}
	}
	if exit, ended, err := running.Exit(t.Context()); err != nil || ended {
		t.Errorf("the running one: %+v, %v", exit, err)
	}
	if err := running.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}
