package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
)

func TestExec(t *testing.T) {
	p := newPlace(t)
	p.write("sub/here.txt", "x")
	p.write("-rf\n", "odd\n")
	for _, c := range []struct {
		name   string
		args   m
		code   int
		output string
	}{
		{"plain", m{"cmd": "echo hello"}, 0, "Output:\nhello\n"},
		{"exit code", m{"cmd": "echo no >&2; exit 3"}, 3, "Output:\nno\n"},
		{"nothing", m{"cmd": "true"}, 0, "No output."},
		{"workdir", m{"cmd": "ls", "workdir": "sub"}, 0, "Output:\nhere.txt\n"},
		{"absolute workdir", m{"cmd": "ls", "workdir": filepath.Join(p.dir, "sub")}, 0, "Output:\nhere.txt\n"},
		{"signal", m{"cmd": "kill -SEGV $$"}, 139, "No output."},
		{"name like an option", m{"cmd": "cat -- -rf*"}, 0, "Output:\nodd\n"},
		{"invalid UTF-8", m{"cmd": `printf 'caf\351\n'`}, 0, "Output:\ncaf\uFFFD\n"},
		{"NUL between names", m{"cmd": `printf 'one.txt\0two.txt\0'`}, 0, "Output:\none.txt\u2400two.txt\u2400"},
		{"binary", m{"cmd": "head -c 1000 /dev/zero"}, 0, "Binary output is not shown; the full output is kept.\nOutput:\n(binary output, 1,000 bytes)"},
		{"colours", m{"cmd": `printf '\033[31mred\033[0m\n'`}, 0, "Output:\nred\n"},
		{"progress", m{"cmd": `printf '10%%\r50%%\r100%%\ndone\n'`}, 0, "Output:\n100%\ndone\n"},
		{"no limits", m{"cmd": "echo hello", "timeout_ms": 0, "max_output_tokens": 0}, 0, "Output:\nhello\n"},
		{"empty input", m{"cmd": "cat; echo end"}, 0, "Output:\nend\n"},
		{"long command", m{"cmd": "echo " + strings.Repeat("x", 200_000) + " | wc -c"}, 0, "Output:\n200001\n"},
		{"no pager", m{"cmd": "echo $PAGER $GIT_PAGER $TERM"}, 0, "Output:\ncat cat dumb\n"},
	} {
		out := p.run(execCommand{}, p.call(c.args))
		r := out.Result
		if out.Status != protocol.ToolDone || r.ExitCode == nil || *r.ExitCode != c.code {
			t.Errorf("%s: %s, %+v", c.name, out.Status, r)
			continue
		}
		header, body, _ := strings.Cut(r.Output, "\n")
		if !strings.HasPrefix(header, "Exit code: ") || !strings.Contains(header, " s") || body != c.output {
			t.Errorf("%s: got %q, want %q", c.name, r.Output, c.output)
		}
		if r.Process != "" || r.Log == "" || r.TimedOut || !utf8.ValidString(r.Output) || !utf8.ValidString(r.Display) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	out := p.run(execCommand{}, p.call(m{"cmd": `printf '\033[31mred\033[0m\n'`}))
	if want := "\x1b[31mred\x1b[0m\n"; out.Result.Display != want {
		t.Errorf("display %q, want %q", out.Result.Display, want)
	}
	if out = p.run(execCommand{}, p.call(m{"cmd": "kill -SEGV $$"})); !strings.Contains(out.Result.Output, "SIGSEGV") {
		t.Errorf("signal: %q", out.Result.Output)
	}
}

func TestExecRefused(t *testing.T) {
	p := newPlace(t)
	p.write("file", "")
	for _, c := range []struct {
		args m
		want string
	}{
		{m{"cmd": "ls", "workdir": "nowhere"}, `there is no folder "nowhere"`},
		{m{"cmd": "ls", "workdir": "file"}, "not a folder"},
		{m{}, "cmd is missing"},
		{m{"cmd": "ls\x00"}, "NUL"},
		{m{"cmd": strings.Repeat("x", maxCommand+1)}, "longer than"},
	} {
		out := p.run(execCommand{}, p.call(c.args))
		if out.Status != protocol.ToolFailed || !strings.Contains(out.Result.Output, c.want) {
			t.Errorf("%v: %s %q, want %q", c.want, out.Status, out.Result.Output, c.want)
		}
	}
}

func TestExecTimeout(t *testing.T) {
	p := newPlace(t)
	out := p.run(execCommand{}, p.call(m{"cmd": "echo begun; sleep 60", "timeout_ms": 300}))
	r := out.Result
	if out.Status != protocol.ToolDone || !r.TimedOut || r.ExitCode == nil || *r.ExitCode == 0 || !strings.Contains(r.Output, "timed out after 0.") || !strings.Contains(r.Output, "begun") {
		t.Errorf("%s %+v", out.Status, r)
	}
}

// TestExecOnce runs a call again, as after a crash: the command is not run a
// second time.
func TestExecOnce(t *testing.T) {
	p := newPlace(t)
	call := p.call(m{"cmd": "echo x >> ran; echo out"})
	first := p.run(execCommand{}, call)
	p.reopen()
	call.Journal, call.Sandbox = p.journal, p.sandbox
	second := p.run(execCommand{}, call)
	if p.read("ran") != "x\n" {
		t.Errorf("ran %q", p.read("ran"))
	}
	if first.Result.Output != second.Result.Output || second.Status != protocol.ToolDone || first.Result.DurationMs != second.Result.DurationMs {
		t.Errorf("first %q, second %q", first.Result.Output, second.Result.Output)
	}
}

func TestExecStopped(t *testing.T) {
	p := newPlace(t)
	call := p.call(m{"cmd": "echo begun; echo $$ > pid; sleep 60"})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for p.read("pid") == "(no such file or directory)" {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := (execCommand{}).Run(ctx, call); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	// The command goes on; whoever stopped it kills it, and the next run tells.
	cmd, err := p.journal.Find(t.Context(), call.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, over, err := cmd.Exit(t.Context()); over || err != nil {
		t.Fatalf("over %v, error %v: the command should go on", over, err)
	}
	if err := cmd.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := p.run(execCommand{}, call)
	if out.Status != protocol.ToolInterrupted || !strings.Contains(out.Result.Output, "was killed after") || !strings.Contains(out.Result.Output, "begun") {
		t.Errorf("%s %q", out.Status, out.Result.Output)
	}
}

func TestExecLive(t *testing.T) {
	p := newPlace(t)
	call := p.call(m{"cmd": "for i in 1 2 3; do echo $i; sleep 0.05; done"})
	var live recorder
	call.Live = live.live
	out := p.run(execCommand{}, call)
	if live.text() != "1\n2\n3\n" || live.bad != "" {
		t.Errorf("live %q %s", live.text(), live.bad)
	}
	if !strings.HasSuffix(out.Result.Output, "Output:\n1\n2\n3\n") {
		t.Errorf("output %q", out.Result.Output)
	}
}

// TestExecHugeOutput puts out 100 MB: the head and the tail come back, and the
// memory does not grow with it.
func TestExecHugeOutput(t *testing.T) {
	p := newPlace(t)
	call := p.call(m{"cmd": "echo first; head -c 104857600 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo last", "yield_time_ms": maxYield})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := p.run(execCommand{}, call)
	runtime.ReadMemStats(&after)
	r := out.Result
	if !r.Truncated || r.OutputBytes < 104857600 || len(r.Output) > 50_000 || len(r.Display) > 20_000 {
		t.Errorf("truncated %v, %d bytes, output %d, display %d", r.Truncated, r.OutputBytes, len(r.Output), len(r.Display))
	}
	if !strings.Contains(r.Output, "Output:\nfirst\nxxx") || !strings.HasSuffix(r.Output, "last\n") ||
		!strings.Contains(r.Output, "[… left out …]") || !strings.Contains(r.Output, "Output truncated: the first ") || !strings.Contains(r.Output, "the full output is kept") {
		t.Errorf("output %q … %q", r.Output[:200], r.Output[len(r.Output)-100:])
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 20<<20 {
		t.Errorf("%d MB allocated for 100 MB of output", grown>>20)
	}
	if _, err := os.Stat(p.dir); err != nil {
		t.Error(err)
	}
}

func TestExecTokens(t *testing.T) {
	p := newPlace(t)
	out := p.run(execCommand{}, p.call(m{"cmd": "seq 1 10000", "max_output_tokens": 100}))
	r := out.Result
	_, body, _ := strings.Cut(r.Output, "Output:\n")
	head, tail, ok := strings.Cut(body, "\n[… left out …]\n")
	if !ok || !r.Truncated || len(head) > 200 || len(tail) > 200 || len(head) < 150 || len(tail) < 150 {
		t.Errorf("head %q, tail %q", head, tail)
	}
	if !strings.HasPrefix(head, "1\n2\n") || !strings.HasSuffix(tail, "\n10000\n") || strings.Contains(head+"\n"+tail, "\n\n") {
		t.Errorf("head %q, tail %q", head, tail)
	}
	for _, line := range strings.Split(head+"\n"+strings.TrimSpace(tail), "\n") {
		if len(line) > 5 || line == "" {
			t.Errorf("line %q is cut", line)
		}
	}
}
