package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

func (s *suite) testExec(t *testing.T) {
	t.Run("bytes are exact both ways", s.testExecBytes)
	t.Run("large output", s.testExecLarge)
	t.Run("stdout and stderr", s.testExecStreams)
	t.Run("exit codes and signals", s.testExecEnds)
	t.Run("arguments are not interpreted", s.testExecArgs)
	t.Run("folder", s.testExecDir)
	t.Run("environment", s.testExecEnv)
	t.Run("input", s.testExecInput)
	t.Run("timeout keeps what was written", s.testExecTimeout)
	t.Run("cancel kills the tree", s.testExecCancel)
	t.Run("many at once", s.testExecMany)
	t.Run("background processes are not waited for", s.testExecBackground)
	t.Run("bad requests", s.testExecBad)
}

func (s *suite) testExecBytes(t *testing.T) {
	want := noise(300_000) + "\x00\xff\xfe\r\n\n"
	var out bytes.Buffer
	r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"cat"}, Stdin: strings.NewReader(want), Stdout: &out})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if d := differ(out.String(), want); d != "" {
		t.Error(d)
	}
}

func (s *suite) testExecLarge(t *testing.T) {
	dir := s.dir(t)
	want := noise(10 << 20)
	s.write(t, dir+"/big", want)
	var out bytes.Buffer
	r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"cat", "big"}, Dir: dir, Stdout: &out})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if d := differ(out.String(), want); d != "" {
		t.Error(d)
	}
}

func (s *suite) testExecStreams(t *testing.T) {
	command := []string{"sh", "-c", "echo a; echo b >&2; echo c; echo d >&2"}
	var stdout, stderr, both bytes.Buffer
	if _, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: command, Stdout: &stdout, Stderr: &stderr}); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "a\nc\n" || stderr.String() != "b\nd\n" {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
	if _, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: command, Stdout: &both, Stderr: &both}); err != nil {
		t.Fatal(err)
	}
	if both.String() != "a\nb\nc\nd\n" {
		t.Errorf("one writer for both got %q", both.String())
	}
	if _, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: command}); err != nil {
		t.Errorf("without writers: %v", err)
	}
}

func (s *suite) testExecEnds(t *testing.T) {
	for _, c := range []struct {
		command, signal string
		code            int
	}{
		{"exit 0", "", 0},
		{"exit 1", "", 1},
		{"exit 77", "", 77},
		{"exit 255", "", 255},
		{"kill -9 $$", "SIGKILL", 137},
		{"kill -TERM $$", "SIGTERM", 143},
	} {
		r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", c.command}})
		if err != nil || r.ExitCode != c.code || r.Signal != c.signal || r.TimedOut {
			t.Errorf("%s: %+v, %v, want code %d and signal %q", c.command, r, err, c.code, c.signal)
		}
	}
}

func (s *suite) testExecArgs(t *testing.T) {
	args := []string{"a b", "", "$HOME", `"quoted" 'twice'`, "line\nbreak", "*", "-n", `back\slash`, "ünïcode"}
	var out bytes.Buffer
	cmd := sandbox.Cmd{Args: append([]string{"printf", "%s|"}, args...), Stdout: &out}
	if _, err := s.sb.Exec(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(args, "|") + "|"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func (s *suite) testExecDir(t *testing.T) {
	dir := s.dir(t)
	root := s.sb.Root()
	for _, c := range []struct{ dir, want string }{
		{"", root}, {".", root}, {dir, root + "/" + dir}, {root + "/" + dir, root + "/" + dir}, {"/", "/"},
	} {
		if got := s.sh(t, c.dir, "pwd -P"); got != c.want+"\n" {
			t.Errorf("in folder %q: pwd is %q, want %q", c.dir, got, c.want)
		}
		if got := s.sh(t, c.dir, `printf %s "$PWD"`); got != c.want {
			t.Errorf("in folder %q: PWD is %q, want %q", c.dir, got, c.want)
		}
	}
	_, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}, Dir: dir + "/missing"})
	wantKind(t, "a folder that is not there", err, sandbox.KindNotFound)
	s.write(t, dir+"/file", "")
	_, err = s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}, Dir: dir + "/file"})
	wantKind(t, "a folder that is a file", err, sandbox.KindInvalid)
}

func (s *suite) testExecEnv(t *testing.T) {
	odd := "two\nlines 'quoted' \"twice\" $HOME ünï \\ `x`"
	var out bytes.Buffer
	_, err := s.sb.Exec(t.Context(), sandbox.Cmd{
		Args:   []string{"sh", "-c", `printf '%s|%s|%s|%s' "$SUITE" "$SUITE_OVER" "$ODD" "$EMPTY"; [ "${EMPTY+set}" ] && printf '|set'`},
		Env:    map[string]string{"ODD": odd, "SUITE_OVER": "cmd", "EMPTY": ""},
		Stdout: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "from the spec|cmd|" + odd + "||set"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	env := s.sh(t, "", "env")
	if strings.Contains(env, Canary) {
		t.Errorf("a secret of the app reaches the command:\n%s", env)
	}
	for _, name := range []string{"PATH", "HOME"} {
		if strings.TrimSpace(s.sh(t, "", `printf %s "$`+name+`"`)) == "" {
			t.Errorf("%s is not set", name)
		}
	}
}

func (s *suite) testExecInput(t *testing.T) {
	if got := s.sh(t, "", "cat; echo end"); got != "end\n" {
		t.Errorf("without input a command reads %q", got)
	}
	// What is not read must not hold the command up, or be an error.
	r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "head -c 3 >/dev/null"}, Stdin: strings.NewReader(noise(1 << 20))})
	if err != nil || r.ExitCode != 0 {
		t.Errorf("with input that is not read: %+v, %v", r, err)
	}
	broken := errors.New("the source broke")
	_, err = s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"cat"}, Stdin: &failing{data: "abc", err: broken}})
	if !errors.Is(err, broken) {
		t.Errorf("with input that breaks off: error %v, want %v", err, broken)
	}
}

// failing reads data, and then fails.
type failing struct {
	data string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.data == "" {
		return 0, f.err
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

// stubborn is a command line that starts a tree that does not want to end: in
// its own session, ignoring signals, its parent gone. It writes the numbers of
// its processes to the file pids.
const stubborn = `
	trap '' TERM HUP INT
	echo $$ >>pids
	(sh -c 'trap "" TERM HUP INT; echo $$ >>pids; while :; do sleep 1000; done') &
	if command -v setsid >/dev/null; then
		setsid sh -c 'trap "" TERM HUP INT; echo $$ >>pids; sleep 1000; sleep 1000' &
		(setsid sh -c 'trap "" TERM HUP; (echo $$ >>pids; sleep 1001; sleep 1000) &' &)
	fi
	while [ "$(wc -l <pids)" -lt 3 ]; do sleep 0.05; done
	echo ready
	echo ready >ready
	while :; do sleep 1000; done`

func (s *suite) testExecTimeout(t *testing.T) {
	dir := s.dir(t)
	var out bytes.Buffer
	r, err := s.sb.Exec(t.Context(), sandbox.Cmd{
		Args: []string{"sh", "-c", "echo partial; echo $$ >pids; sleep 1000"}, Dir: dir, Stdout: &out, Timeout: time.Second,
	})
	if err != nil || !r.TimedOut {
		t.Fatalf("%+v, %v, want it to time out", r, err)
	}
	if out.String() != "partial\n" {
		t.Errorf("output %q", out.String())
	}
	if r.Duration < 900*time.Millisecond || r.Duration > time.Second+s.Patience {
		t.Errorf("it lasted %v, want about 1s", r.Duration)
	}
	if left := s.living(t, dir, "pids"); left != "" {
		t.Errorf("processes %s are still alive", left)
	}
	r, err = s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}, Timeout: time.Minute})
	if err != nil || r.TimedOut {
		t.Errorf("with time left: %+v, %v", r, err)
	}
}

func (s *suite) testExecCancel(t *testing.T) {
	dir := s.dir(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := s.sb.Exec(ctx, sandbox.Cmd{Args: []string{"sh", "-c", stubborn}, Dir: dir})
		ended <- err
	}()
	s.eventually(t, "the tree is up", func() bool { return s.exists(t, dir+"/ready") })
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
	case <-time.After(s.Patience):
		t.Fatal("it does not return")
	}
	if left := s.living(t, dir, "pids"); left != "" {
		t.Errorf("processes %s are still alive", left)
	}
	if _, err := s.sb.Exec(ctx, sandbox.Cmd{Args: []string{"true"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
}

func (s *suite) testExecMany(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			want := strings.Repeat(string(rune('a'+i)), 50_000)
			var out bytes.Buffer
			r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"cat"}, Stdin: strings.NewReader(want), Stdout: &out})
			if err != nil || r.ExitCode != 0 || out.String() != want {
				t.Errorf("%d: %+v, %v, %s", i, r, err, differ(out.String(), want))
			}
		})
	}
	wg.Wait()
}

func (s *suite) testExecBackground(t *testing.T) {
	var out bytes.Buffer
	started := time.Now()
	r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "sleep 20 & echo started"}, Stdout: &out})
	if err != nil || r.ExitCode != 0 || out.String() != "started\n" {
		t.Errorf("%+v, %v, output %q", r, err, out.String())
	}
	if took := time.Since(started); took > s.Patience {
		t.Errorf("it took %v", took)
	}
}

func (s *suite) testExecBad(t *testing.T) {
	_, err := s.sb.Exec(t.Context(), sandbox.Cmd{})
	wantKind(t, "no program", err, sandbox.KindInvalid)
	r, err := s.sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"no-such-program-here"}})
	if err == nil && r.ExitCode != 127 { // not every backend can tell it from a program's own code
		t.Errorf("a program that is not there: %+v", r)
	}
	if err != nil {
		wantKind(t, "a program that is not there", err, sandbox.KindNotFound)
	}
}
