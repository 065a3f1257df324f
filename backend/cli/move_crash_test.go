package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

// moving is a session with files, in an app that is killed while it moves them.
type moving struct {
	*app
	id string
	// before and after are the files after its first and its second turn.
	before, after string
}

// moveFiles is how many files the workspace has: enough that there are instants
// in the middle of everything.
const moveFiles = 300

func newMoving(t *testing.T) *moving {
	t.Helper()
	model := llmtest.New(t)
	// Quick ones, which start few processes: what lasts long goes on in the
	// background.
	commands := []string{
		fmt.Sprintf(`mkdir hollow $(seq -f d%%g 0 16); ln -s d1 link; awk 'BEGIN { for (i = 1; i <= %d; i++) { x = x "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; name = "d" i %% 17 "/f" i; printf "%%s", x > name; close(name) } }'`, moveFiles),
		`for i in $(seq 1 3 300); do echo changed >> d$((i % 17))/f$i; done; rm -r d3; mkdir new; echo n > new/n; rm link; ln -s d2 link`,
		`for i in $(seq 2 3 300); do echo again > more$i; done`,
	}
	model.Handle(func(r llmtest.Request) llmtest.Answer {
		n, err := strconv.Atoi(r.LastUser)
		if len(r.Results) > 0 || err != nil {
			return llmtest.Text("done")
		}
		args, _ := json.Marshal(struct {
			Cmd string `json:"cmd"`
		}{commands[n]})
		return llmtest.Call("exec_command", string(args))
	})
	// The built app, where make names it: it starts quicker than the
	// test's program with the race detector, and is what users have.
	m := &moving{app: newApp(t, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+model.URL)}
	m.program = os.Getenv("TSA_BIN")
	m.ok("run", "--new", "--workspace", m.workspace, "--approve", "never", "--json", "0")
	m.id = m.sessions()[0].ID
	m.before = treeOf(t, m.workspace)
	m.ok("run", "--session", m.id, "--json", "1")
	m.after = treeOf(t, m.workspace)
	return m
}

// treeOf describes all that is in a folder.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		fmt.Fprintf(&b, "%q %v ", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			fmt.Fprintf(&b, "-> %q\n", target)
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(name)
			fmt.Fprintf(&b, "%d %x %d\n", len(content), bytes.Count(content, []byte("x")), bytes.Count(content, []byte("changed")))
			return err
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatalf("look at %s: %v", dir, err)
	}
	return b.String()
}

// differs tells where two trees begin to differ; empty if they don't.
func differs(got, want string) string {
	if got == want {
		return ""
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return fmt.Sprintf("%d entries, want %d; the first that differs is\n got %s\nwant %s", len(a)-1, len(b)-1, strings.Join(a[n:min(n+2, len(a))], " "), strings.Join(b[n:min(n+2, len(b))], " "))
}

// killedIn runs the app and kills it somewhere in the time that it takes.
func (m *moving) killedIn(took time.Duration, random *rand.Rand, args ...string) {
	m.t.Helper()
	// The first part of the time is the start of the app.
	killAt(m.t.(*testing.T), m.command(args...), took/4+time.Duration(random.Int64N(int64(took))))
}

// settled opens the app again, waits until the session is at rest, and returns
// its record.
func (m *moving) settled(id string) protocol.Session {
	m.t.Helper()
	m.ok("run", "--session", id, "--wait", "--json")
	return m.show(id).Session
}

// timed returns how long a run takes that is not killed.
func (m *moving) timed(args ...string) time.Duration {
	m.t.Helper()
	began := time.Now()
	m.ok(args...)
	return time.Since(began)
}

// eachInstant runs a round for each of crashRounds random instants.
func eachInstant(t *testing.T, round func(t *testing.T, n int, random *rand.Rand)) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("CRASH_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("CRASH_SEED=%d", seed)
	for n := range crashRounds {
		if t.Failed() {
			return
		}
		round(t, n, rand.New(rand.NewPCG(seed, uint64(n))))
	}
}

func (m *moving) target(name string) string {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	return dir
}

// Killed while it switches, the session is where it was, or where it goes, with
// all its files.
func TestKilledWhileItSwitches(t *testing.T) {
	m := newMoving(t)
	took := m.timed("sessions", "switch", m.id, "--workspace", m.target("first"), "--json")
	moved := 0
	eachInstant(t, func(t *testing.T, n int, random *rand.Rand) {
		was := m.show(m.id).Session.Workspace
		to := m.target(strconv.Itoa(n))
		m.killedIn(took, random, "sessions", "switch", m.id, "--workspace", to, "--json")
		s := m.settled(m.id)
		if s.Workspace == to {
			moved++
		} else if s.Workspace != was {
			t.Fatalf("round %d: the session works in %s, neither in %s nor in %s", n, s.Workspace, was, to)
		}
		if d := differs(treeOf(t, s.Workspace), m.after); d != "" {
			t.Fatalf("round %d: the files of the session in %s: %s", n, s.Workspace, d)
		}
		if s.Workspace != to {
			if got := treeOf(t, to); got != "" && got != m.after {
				t.Fatalf("round %d: the folder that it did not move to is a mix", n)
			}
		}
	})
	t.Logf("%d of %d had moved", moved, crashRounds)
}

// Killed while it forks, there is in the end a whole fork or none, and the source
// is as it was.
func TestKilledWhileItForks(t *testing.T) {
	m := newMoving(t)
	took := m.timed("sessions", "fork", m.id, "--workspace", m.target("first"), "--json")
	known := map[string]bool{}
	for _, s := range m.sessions() {
		known[s.ID] = true
	}
	var targets []string
	eachInstant(t, func(t *testing.T, n int, random *rand.Rand) {
		to := m.target(strconv.Itoa(n))
		targets = append(targets, to)
		m.killedIn(took, random, "sessions", "fork", m.id, "--workspace", to, "--json")
		m.settled(m.id)
		if d := differs(treeOf(t, m.workspace), m.after); d != "" {
			t.Fatalf("round %d: the files of the source: %s", n, d)
		}
	})
	// A fork that was asked for just before is made when the app is opened again,
	// and may need one more time for that.
	m.settled(m.id)
	forked := map[string]bool{}
	for _, s := range m.sessions() {
		if known[s.ID] {
			continue
		}
		if s = m.settled(s.ID); s.Setup != nil || s.Turns != 2 || forked[s.Workspace] {
			t.Errorf("a fork is %+v", s)
		}
		forked[s.Workspace] = true
	}
	for n, to := range targets {
		want := ""
		if forked[to] {
			want = m.after
		}
		if d := differs(treeOf(t, to), want); d != "" {
			t.Errorf("round %d: the files of the fork: %s", n, d)
		}
	}
	t.Logf("%d of %d were forked", len(forked), crashRounds)
}

// Killed while it rewinds, the files are those of before or of after, and what
// was there is not lost.
func TestKilledWhileItRewinds(t *testing.T) {
	m := newMoving(t)
	took := m.timed("sessions", "rewind", m.id, "--turn", "1", "--what", "files", "--json")
	rewound := true
	eachInstant(t, func(t *testing.T, n int, random *rand.Rand) {
		turn := map[bool]string{true: "2", false: "1"}[rewound]
		m.killedIn(took, random, "sessions", "rewind", m.id, "--turn", turn, "--what", "files", "--json")
		s := m.settled(m.id)
		switch got := treeOf(t, s.Workspace); got {
		case m.before:
			rewound = true
		case m.after:
			rewound = false
		default:
			t.Fatalf("round %d: the files are a mix: %s", n, differs(got, m.after))
		}
	})
}

// Killed while the files of a turn are captured, the turn is committed with a
// snapshot that holds all of them.
func TestKilledWhileItCaptures(t *testing.T) {
	m := newMoving(t)
	took := m.timed("run", "--session", m.id, "--json", "2")
	eachInstant(t, func(t *testing.T, n int, random *rand.Rand) {
		turns := m.show(m.id).Session.Turns
		m.killedIn(took, random, "run", "--session", m.id, "--json", "2")
		s := m.settled(m.id)
		if s.Turns == turns {
			return // killed before the message was acknowledged
		}
		to := m.target(strconv.Itoa(n))
		m.ok("sessions", "fork", m.id, "--turn", strconv.Itoa(s.Turns), "--workspace", to, "--json")
		if d := differs(treeOf(t, to), treeOf(t, m.workspace)); d != "" {
			t.Fatalf("round %d: the turn's snapshot is not what its files are: %s", n, d)
		}
	})
}
