package sandboxtest

import (
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

func (s *suite) testTerminal(t *testing.T) {
	if s.NoTerminal {
		_, err := s.journal.Start(t.Context(), journal.Spec{CallID: callID(t, "tty"), Shell: "true", TTY: true})
		wantKind(t, "a terminal where there is none", err, sandbox.KindUnavailable)
		return
	}
	t.Run("echo, input and size", s.testTerminalUse)
	t.Run("control characters", s.testTerminalControl)
	t.Run("it outlives who started it", s.testTerminalFound)
	t.Run("kill", s.testTerminalKill)
	t.Run("large input", s.testTerminalLarge)
}

// screen waits until the output of a command holds a text.
func (s *suite) screen(t *testing.T, c journal.Command, want string) {
	t.Helper()
	last := ""
	s.eventually(t, "the terminal shows "+want, func() bool {
		data, _, err := c.ReadOutput(t.Context(), 0, 1<<20)
		if err != nil {
			t.Fatalf("ReadOutput: %v", err)
		}
		last = string(data)
		return strings.Contains(last, want)
	})
}

func (s *suite) terminal(t *testing.T, command string) journal.Command {
	t.Helper()
	return start(t, s.journal, journal.Spec{CallID: callID(t, "tty"), Shell: command, TTY: true, Rows: 30, Cols: 100})
}

func typed(t *testing.T, c journal.Command, text string) {
	t.Helper()
	if err := c.Write(t.Context(), []byte(text)); err != nil {
		t.Fatalf("Write %q: %v", text, err)
	}
}

func (s *suite) testTerminalUse(t *testing.T) {
	c := s.terminal(t, `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo "terminal $TERM"; stty size; read -r line; echo "got <$line>"; read -r line; stty size; exit 5`)
	s.screen(t, c, "30 100\r\n")
	typed(t, c, "hello wörld\n")
	s.screen(t, c, "got <hello wörld>\r\n")
	if err := c.(journal.Resizer).Resize(t.Context(), 50, 120); err != nil {
		t.Fatalf("Resize: %v", err)
	}
	typed(t, c, "\n")
	exit, out := s.wait(t, c)
	if exit.State != journal.StateFinished || exit.Code != 5 {
		t.Errorf("%+v", exit)
	}
	if want := "terminal xterm-256color\r\n30 100\r\nhello wörld\r\ngot <hello wörld>\r\n\r\n50 120\r\n"; out != want {
		t.Errorf("the terminal shows %q, want %q", out, want)
	}
	wantKind(t, "Write to what ended", c.Write(t.Context(), []byte("x")), sandbox.KindGone)
	wantKind(t, "Resize of what ended", c.(journal.Resizer).Resize(t.Context(), 1, 1), sandbox.KindGone)
}

func (s *suite) testTerminalControl(t *testing.T) {
	c := s.terminal(t, "trap 'echo interrupted' INT; echo ready; sleep 1000; echo after; cat; echo end of input")
	s.screen(t, c, "ready")
	typed(t, c, "\x03")
	s.screen(t, c, "after")
	typed(t, c, "line\n\x04")
	exit, out := s.wait(t, c)
	if exit.Code != 0 || !strings.Contains(out, "interrupted\r\n") || !strings.HasSuffix(out, "line\r\nend of input\r\n") {
		t.Errorf("%+v, the terminal shows %q", exit, out)
	}
}

func (s *suite) testTerminalFound(t *testing.T) {
	c := s.terminal(t, "echo ready; read -r line; echo \"got <$line>\"")
	s.screen(t, c, "ready")
	sb, err := s.provider.Attach(t.Context(), again(t, s.sb.Ref()))
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close(t.Context())
	found, err := s.Journal(sb).Find(t.Context(), c.CallID())
	if err != nil {
		t.Fatal(err)
	}
	typed(t, found, "from elsewhere\n")
	if exit, out := s.wait(t, found); exit.Code != 0 || !strings.HasSuffix(out, "got <from elsewhere>\r\n") {
		t.Errorf("%+v, the terminal shows %q", exit, out)
	}
}

func (s *suite) testTerminalKill(t *testing.T) {
	dir := s.dir(t)
	c := start(t, s.journal, journal.Spec{CallID: callID(t, "tty"), Shell: stubborn, Dir: dir, TTY: true})
	s.eventually(t, "the tree is up", func() bool { return s.exists(t, dir+"/ready") })
	if err := c.Kill(t.Context()); err != nil {
		t.Fatalf("Kill: %v", err)
	}
	if left := s.living(t, dir, "pids"); left != "" {
		t.Errorf("processes %s are still alive", left)
	}
	if exit, _ := s.wait(t, c); !exit.Killed || exit.Code != 137 {
		t.Errorf("%+v", exit)
	}
}

func (s *suite) testTerminalLarge(t *testing.T) {
	c := s.terminal(t, "stty -echo -icanon; echo ready; head -c 100000 | wc -c")
	s.screen(t, c, "ready")
	typed(t, c, strings.Repeat("0123456789", 10_000))
	if exit, out := s.wait(t, c); exit.Code != 0 || !strings.Contains(out, "100000\r\n") {
		t.Errorf("%+v, the terminal shows %q", exit, out)
	}
}
