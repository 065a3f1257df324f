package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

func (s *suite) testJournal(t *testing.T) {
	t.Run("runs and tells how it ended", s.testRuns)
	t.Run("a call id runs once", s.testOnce)
	t.Run("another journal finds it running and finished", s.testFound)
	t.Run("a command whose runner is killed is broken", s.testBroken)
	t.Run("follow", s.testFollow)
	t.Run("10 MB of output", s.testLargeOutput)
	t.Run("command lines of any kind", s.testCommandLines)
	t.Run("the command's surroundings are ordinary", s.testSurroundings)
	t.Run("kill ends the tree", s.testKill)
	t.Run("timeout holds while nobody looks", s.testTimeout)
	t.Run("background processes outlive the command", s.testOutlive)
	t.Run("list and kill by prefix", s.testPrefix)
	t.Run("prune", s.testPrune)
	t.Run("waiting ends with its context", s.testWaitCanceled)
	t.Run("bad requests", s.testJournalBad)
}

func startCommand(t *testing.T, j *journal.Journal, id, command string) journal.Command {
	t.Helper()
	return start(t, j, journal.Spec{CallID: id, Shell: command})
}

func start(t *testing.T, j *journal.Journal, spec journal.Spec) journal.Command {
	t.Helper()
	c, err := j.Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return c
}

// wait returns how a command ended, and its whole output.
func (s *suite) wait(t *testing.T, c journal.Command) (journal.Exit, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*s.Patience)
	defer cancel()
	exit, err := c.Wait(ctx)
	if err != nil {
		t.Fatalf("Wait: %v", err)
	}
	var out []byte
	for {
		data, size, err := c.ReadOutput(t.Context(), int64(len(out)), 1<<20)
		if err != nil {
			t.Fatalf("ReadOutput: %v", err)
		}
		out = append(out, data...)
		if int64(len(out)) >= size {
			return exit, string(out)
		}
	}
}

// run starts a command in dir and waits for it.
func (s *suite) run(t *testing.T, dir, command string) (journal.Exit, string) {
	t.Helper()
	return s.wait(t, start(t, s.journal, journal.Spec{CallID: callID(t, "run"), Shell: command, Dir: dir}))
}

func (s *suite) testRuns(t *testing.T) {
	before := time.Now()
	c := startCommand(t, s.journal, callID(t, "runs"), "echo out; echo err >&2; echo out again; sleep 0.3; exit 3")
	if !c.Fresh() {
		t.Error("it is not fresh")
	}
	exit, out := s.wait(t, c)
	if exit.State != journal.StateFinished || exit.Code != 3 || exit.Signal != "" || exit.TimedOut || exit.Killed || exit.Cut {
		t.Errorf("it ended with %+v", exit)
	}
	if out != "out\nerr\nout again\n" {
		t.Errorf("output %q", out)
	}
	if exit.Duration < 250*time.Millisecond || exit.Duration > 300*time.Millisecond+s.Patience {
		t.Errorf("it lasted %v, want about 0.3s", exit.Duration)
	}
	// The sandbox may have another clock, and no parts of seconds.
	if d := exit.Started.Sub(before); d < -5*time.Second || d > s.Patience {
		t.Errorf("it started at %v, want about %v", exit.Started, before)
	}
	again, ended, err := c.Exit(t.Context())
	if err != nil || !ended || again != exit {
		t.Errorf("Exit says %+v, %v, %v", again, ended, err)
	}
	for command, want := range map[string]journal.Exit{
		"exit 0":              {Code: 0},
		"kill -9 $$":          {Code: 137, Signal: "SIGKILL"},
		"kill -TERM $$":       {Code: 143, Signal: "SIGTERM"},
		"no-such-program":     {Code: 127},
		"exit 255":            {Code: 255},
		"kill -9 0":           {Code: 137, Signal: "SIGKILL"}, // its whole process group
		"exec sh -c 'exit 5'": {Code: 5},
	} {
		exit, _ := s.run(t, "", command)
		if exit.State != journal.StateFinished || exit.Code != want.Code || exit.Signal != want.Signal || exit.Killed || exit.TimedOut {
			t.Errorf("%s: %+v, want code %d and signal %q", command, exit, want.Code, want.Signal)
		}
	}
}

func (s *suite) testOnce(t *testing.T) {
	dir, id := s.dir(t), callID(t, "once")
	spec := journal.Spec{CallID: id, Shell: "echo ran >>count; sleep 0.5; echo done", Dir: dir}
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh := 0
	for range 8 {
		wg.Go(func() {
			c, err := s.Journal(s.sb).Start(t.Context(), spec)
			if err != nil {
				t.Errorf("Start: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if c.Fresh() {
				fresh++
			}
		})
	}
	wg.Wait()
	if fresh != 1 {
		t.Errorf("%d of 8 starts at once were the first", fresh)
	}
	// The same id never runs again, whatever it is asked to run.
	other := start(t, s.journal, journal.Spec{CallID: id, Shell: "echo other >>count; echo other", Dir: dir})
	if exit, out := s.wait(t, other); exit.Code != 0 || out != "done\n" || other.Fresh() {
		t.Errorf("%+v, output %q, fresh %v", exit, out, other.Fresh())
	}
	if got := s.read(t, dir+"/count"); got != "ran\n" {
		t.Errorf("the command left %q", got)
	}
}

func (s *suite) testFound(t *testing.T) {
	dir, id := s.dir(t), callID(t, "found")
	startCommand(t, s.journal, id, "cd "+dir+"; echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over; exit 4")
	sb, err := s.provider.Attach(t.Context(), again(t, s.sb.Ref()))
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close(t.Context())
	j := s.Journal(sb)
	c, err := j.Find(t.Context(), id)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	if c.Fresh() || c.CallID() != id {
		t.Errorf("found is %q, fresh %v", c.CallID(), c.Fresh())
	}
	if exit, ended, err := c.Exit(t.Context()); err != nil || ended || exit.State != journal.StateRunning {
		t.Errorf("while it runs Exit says %+v, %v, %v", exit, ended, err)
	}
	s.write(t, dir+"/go", "")
	if exit, out := s.wait(t, c); exit.Code != 4 || out != "begun\nover\n" {
		t.Errorf("%+v, output %q", exit, out)
	}
	c, err = j.Find(t.Context(), id)
	if err != nil {
		t.Fatalf("Find what is finished: %v", err)
	}
	if exit, out := s.wait(t, c); exit.Code != 4 || out != "begun\nover\n" {
		t.Errorf("later: %+v, output %q", exit, out)
	}
	_, err = j.Find(t.Context(), callID(t, "never"))
	wantKind(t, "Find of what never was", err, sandbox.KindNotFound)
}

func (s *suite) testBroken(t *testing.T) {
	dir := s.dir(t)
	id := callID(t, "broken")
	spec := journal.Spec{CallID: id, Shell: "echo ran >>count; echo partial; sleep 0.2; kill -9 $PPID; sleep 0.3", Dir: dir}
	exit, out := s.wait(t, start(t, s.journal, spec))
	if exit.State != journal.StateBroken || exit.Code != -1 || out != "partial\n" {
		t.Errorf("%+v, output %q, want it broken", exit, out)
	}
	c := start(t, s.journal, spec)
	if exit, _ := s.wait(t, c); c.Fresh() || exit.State != journal.StateBroken {
		t.Errorf("started again: fresh %v, %+v", c.Fresh(), exit)
	}
	if got := s.read(t, dir+"/count"); got != "ran\n" {
		t.Errorf("the command left %q", got)
	}
	var followed strings.Builder
	if err := c.Follow(t.Context(), 0, func(_ int64, data []byte) { followed.Write(data) }); err != nil || followed.String() != "partial\n" {
		t.Errorf("Follow: %v, %q", err, followed.String())
	}
	if err := c.Kill(t.Context()); err != nil {
		t.Errorf("Kill: %v", err)
	}
	// The next command does not suffer.
	if exit, out := s.run(t, "", "echo fine"); exit.Code != 0 || out != "fine\n" {
		t.Errorf("the next command: %+v, %q", exit, out)
	}
}

func (s *suite) testFollow(t *testing.T) {
	c := startCommand(t, s.journal, callID(t, "follow"), "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.3; done")
	want := "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n"
	var wg sync.WaitGroup
	for _, from := range []int{0, 3, 20, len(want)} {
		wg.Go(func() {
			got, pieces := "", 0
			err := c.Follow(t.Context(), int64(from), func(offset int64, data []byte) {
				if int(offset) != from+len(got) || len(data) == 0 {
					t.Errorf("from %d: a piece of %d at %d after %d", from, len(data), offset, len(got))
				}
				got += string(data)
				pieces++
			})
			if err != nil || got != want[from:] {
				t.Errorf("from %d: %v, %q", from, err, got)
			}
			if from == 0 && pieces < 3 {
				t.Errorf("it came in %d pieces, want it as it was written", pieces)
			}
		})
	}
	wg.Wait()
	if _, ended, err := c.Exit(t.Context()); err != nil || !ended {
		t.Errorf("Follow returned before the end: %v, %v", ended, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	slow := startCommand(t, s.journal, callID(t, "follow"), "echo one; sleep 1000")
	if err := slow.Follow(ctx, 0, func(int64, []byte) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Follow of a context that ends: %v", err)
	}
	if err := slow.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}

func (s *suite) testLargeOutput(t *testing.T) {
	dir := s.dir(t)
	want := noise(10 << 20)
	s.write(t, dir+"/big", want)
	c := start(t, s.journal, journal.Spec{CallID: callID(t, "large"), Shell: "cat big", Dir: dir})
	var followed strings.Builder
	if err := c.Follow(t.Context(), 0, func(_ int64, data []byte) { followed.Write(data) }); err != nil {
		t.Fatal(err)
	}
	if d := differ(followed.String(), want); d != "" {
		t.Errorf("followed: %s", d)
	}
	for _, w := range []struct{ offset, max int }{{0, 10}, {65_530, 20}, {5_000_001, 300_000}, {10<<20 - 5, 100}, {10 << 20, 100}, {11 << 20, 100}, {100, 0}} {
		data, size, err := c.ReadOutput(t.Context(), int64(w.offset), w.max)
		from := min(w.offset, len(want))
		if d := differ(string(data), want[from:min(from+w.max, len(want))]); d != "" || size != 10<<20 || err != nil {
			t.Errorf("%d bytes from %d on: %s, of %d, %v", w.max, w.offset, d, size, err)
		}
	}
}

func (s *suite) testCommandLines(t *testing.T) {
	dir := s.dir(t)
	long := "cat <<'END' >long\n" + strings.Repeat("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n", 5000) + "END\nwc -c <long"
	for command, want := range map[string]string{
		`echo "a  b" 'c$d' e\ f`:          "a  b c$d e f\n",
		"printf 'x\\ny'\n\n\n":            "x\ny",
		"echo '\xff\xfe'":                 "\xff\xfe\n",
		"cat <<EOF\nhere $((1+1))\nEOF\n": "here 2\n",
		"# only a comment":                "",
		"":                                "",
		"echo -n x":                       "x",
		"printf 'a\\0b'":                  "a\x00b",
		"echo ends in x":                  "ends in x\n",
		"echo one; echo two > /dev/stderr; echo three": "one\ntwo\nthree\n",
		"x=1; f() { echo $x; }; f; (x=2; f); f":        "1\n2\n1\n",
		long:                                           "320000\n",
	} {
		exit, out := s.run(t, dir, command)
		if exit.Code != 0 || strings.TrimLeft(out, " ") != want {
			t.Errorf("%.40q: %+v, output %q, want %q", command, exit, out, want)
		}
	}
	if exit, out := s.run(t, dir, strings.Repeat("true\n", 30_000)+"echo end; exit 9"); exit.Code != 9 || out != "end\n" {
		t.Errorf("a long command: %+v, %q", exit, out)
	}
	if exit, out := s.run(t, dir, "if then"); exit.Code == 0 || out == "" {
		t.Errorf("a command that makes no sense: %+v, %q", exit, out)
	}
}

func (s *suite) testSurroundings(t *testing.T) {
	dir := s.dir(t)
	spec := journal.Spec{
		CallID: callID(t, "env"), Dir: dir,
		Env:   map[string]string{"ODD": "two\nlines 'quoted' $HOME", "SUITE_OVER": "call"},
		Shell: `printf '%s|%s|%s|' "$SUITE" "$SUITE_OVER" "$ODD"; pwd -P; [ -t 0 ] || [ -t 1 ] || echo no terminal; cat; echo "$PWD"`,
	}
	root := s.sb.Root()
	_, out := s.wait(t, start(t, s.journal, spec))
	if want := "from the spec|call|two\nlines 'quoted' $HOME|" + root + "/" + dir + "\nno terminal\n" + root + "/" + dir + "\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	_, env := s.run(t, "", "env")
	if strings.Contains(env, Canary) {
		t.Errorf("a secret of the app reaches the command:\n%s", env)
	}
	for line := range strings.Lines(env) {
		// What marks processes is the app's, and names no secret.
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(strings.ToLower(name), "_tsa") {
			t.Errorf("a variable of the wrapper reaches the command: %s", line)
		}
	}
	// Signals have their defaults: a shell in the background would ignore these.
	if _, out := s.run(t, "", "grep SigIgn /proc/self/status || sh -c 'kill -INT $$; echo ignored'"); out != "" {
		var ignored uint64
		if _, err := fmt.Sscanf(out, "SigIgn: %x", &ignored); err != nil || ignored&(1<<(2-1)|1<<(3-1)|1<<(13-1)|1<<(15-1)) != 0 {
			t.Errorf("of SIGINT, SIGQUIT, SIGPIPE and SIGTERM some are ignored: %q", out)
		}
	}
	// It leads its process group, and nothing else is in it.
	if _, out := s.run(t, "", `[ -r /proc/self/stat ] || exit 0; set -- $(cut -d' ' -f5,6 </proc/$$/stat); [ "$1 $2" = "$$ $$" ] || echo "group $1 session $2 of $$"`); out != "" {
		t.Errorf("the command is in %s", out)
	}
	_, err := s.journal.Start(t.Context(), journal.Spec{CallID: callID(t, "dir"), Shell: "true", Dir: dir + "/none"})
	wantKind(t, "a folder that is not there", err, sandbox.KindNotFound)
}

func (s *suite) testWaitCanceled(t *testing.T) {
	c := startCommand(t, s.journal, callID(t, "wait"), "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait: %v", err)
	}
	if took := time.Since(began); took > s.Patience {
		t.Errorf("it took %v", took)
	}
	if _, ended, err := c.Exit(t.Context()); ended || err != nil {
		t.Errorf("the command ended with the waiting: %v", err)
	}
	if err := c.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}

func (s *suite) testJournalBad(t *testing.T) {
	for what, spec := range map[string]journal.Spec{
		"an empty id":        {CallID: "", Shell: "true"},
		"a path as id":       {CallID: "../x", Shell: "true"},
		"dots as id":         {CallID: "..", Shell: "true"},
		"an option as id":    {CallID: "-rf", Shell: "true"},
		"an id with a space": {CallID: "a b", Shell: "true"},
		"a long id":          {CallID: strings.Repeat("i", 250), Shell: "true"},
		"a command with NUL": {CallID: "nul", Shell: "echo a\x00b"},
		"a variable with =":  {CallID: "var", Shell: "true", Env: map[string]string{"A=B": "c"}},
		"a value with NUL":   {CallID: "value", Shell: "true", Env: map[string]string{"A": "\x00"}},
		"a negative timeout": {CallID: "time", Shell: "true", Timeout: -1},
	} {
		_, err := s.journal.Start(t.Context(), spec)
		wantKind(t, what, err, sandbox.KindInvalid)
	}
	for _, id := range []string{"", "..", "../..", "a/b", "never-started"} {
		_, err := s.journal.Find(t.Context(), id)
		wantKind(t, "Find "+strconv.Quote(id), err, sandbox.KindNotFound)
	}
	c := startCommand(t, s.journal, callID(t, "input"), "cat; sleep 1000")
	wantKind(t, "Write to a command without a terminal", c.Write(t.Context(), []byte("x")), sandbox.KindInvalid)
	wantKind(t, "Resize of a command without a terminal", c.(journal.Resizer).Resize(t.Context(), 10, 10), sandbox.KindInvalid)
	if err := c.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}
