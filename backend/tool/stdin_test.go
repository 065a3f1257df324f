package tool

import (
	"context"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// conversation keeps results as the transcript does, and tells what the model
// has seen.
type conversation struct {
	*place
	results []protocol.ToolResult
}

func (c *conversation) do(tool Tool, call Call) Outcome {
	c.t.Helper()
	call.Seen = c.seen
	out := c.run(tool, call)
	c.results = append(c.results, out.Result)
	return out
}

func (c *conversation) seen(_ context.Context, log string) (int64, error) {
	var most int64
	for _, r := range c.results {
		if r.Log == log {
			most = max(most, r.OutputBytes)
		}
	}
	return most, nil
}

func body(out Outcome) string {
	_, text, _ := strings.Cut(out.Result.Output, "Output:\n")
	return text
}

func TestBackground(t *testing.T) {
	c := &conversation{place: newPlace(t)}
	out := c.do(execCommand{}, c.call(m{"cmd": "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; while [ ! -e end ]; do sleep 0.02; done; echo three; exit 4", "yield_time_ms": 300}))
	if out.Status != protocol.ToolDone || out.Result.Process == "" || out.Result.ExitCode != nil || body(out) != "one\n" {
		t.Fatalf("%s %+v", out.Status, out.Result)
	}
	id := out.Result.Process
	if !strings.Contains(out.Result.Output, "Still running after 0.3") || !strings.Contains(out.Result.Output, "session_id: "+id) {
		t.Errorf("output %q", out.Result.Output)
	}
	if strings.Contains(id, ".") || len(id) > 20 {
		t.Errorf("session id %q is long", id)
	}
	if out = c.do(writeStdin{}, c.call(m{"session_id": id, "yield_time_ms": 250})); !strings.Contains(out.Result.Output, "No new output.") || out.Result.Process != id {
		t.Errorf("poll: %+v", out.Result)
	}
	c.write("go", "")
	if out = c.do(writeStdin{}, c.call(m{"session_id": id, "yield_time_ms": 500})); body(out) != "two\n" {
		t.Errorf("second part: %q", out.Result.Output)
	}
	// The app is closed and opened again: the id still leads to the command. A
	// call that is run again shows what it showed before.
	c.reopen()
	c.write("end", "")
	call := c.call(m{"session_id": id, "yield_time_ms": 20_000})
	call.Seen = c.seen
	again := c.run(writeStdin{}, call) // its result is lost
	out = c.do(writeStdin{}, call)
	if body(again) != "three\n" || body(out) != "three\n" || out.Result.ExitCode == nil || *out.Result.ExitCode != 4 || out.Result.Process != "" {
		t.Errorf("end: %q then %+v", again.Result.Output, out.Result)
	}
	if out = c.do(writeStdin{}, c.call(m{"session_id": id})); !strings.Contains(out.Result.Output, "No new output.") || *out.Result.ExitCode != 4 {
		t.Errorf("after the end: %+v", out.Result)
	}
}

func TestPollWaitsForTheEnd(t *testing.T) {
	c := &conversation{place: newPlace(t)}
	out := c.do(execCommand{}, c.call(m{"cmd": "sleep 0.8; echo done", "yield_time_ms": 250}))
	began := time.Now()
	call := c.call(m{"session_id": out.Result.Process})
	var live recorder
	call.Live = live.live
	out = c.do(writeStdin{}, call)
	if body(out) != "done\n" || out.Result.ExitCode == nil || time.Since(began) > 20*time.Second {
		t.Errorf("after %v: %+v", time.Since(began), out.Result)
	}
	if live.text() != "done\n" || live.bad != "" {
		t.Errorf("live %q %s", live.text(), live.bad)
	}
}

func TestTypeIntoTerminal(t *testing.T) {
	c := &conversation{place: newPlace(t)}
	out := c.do(execCommand{}, c.call(m{"cmd": `read -p 'name? ' n; echo "hi $n" | tee -a said; read -p 'more? ' n; echo "$n"`, "tty": true, "yield_time_ms": 500}))
	id := out.Result.Process
	if id == "" || !strings.Contains(body(out), "name? ") {
		t.Fatalf("%+v", out.Result)
	}
	call := c.call(m{"session_id": id, "chars": "Ada\n", "yield_time_ms": 1000})
	out = c.do(writeStdin{}, call)
	if !strings.Contains(body(out), "hi Ada") || !strings.Contains(body(out), "more? ") || strings.Contains(body(out), "name?") {
		t.Errorf("answer %q", out.Result.Output)
	}
	// Run again, as after a crash: nothing is typed a second time.
	out = c.do(writeStdin{}, call)
	if !strings.Contains(out.Result.Output, "was not repeated") || out.Result.Process != id {
		t.Errorf("again: %+v", out.Result)
	}
	out = c.do(writeStdin{}, c.call(m{"session_id": id, "chars": "x\n", "yield_time_ms": 5000}))
	if out.Result.ExitCode == nil || *out.Result.ExitCode != 0 || c.read("said") != "hi Ada\n" {
		t.Errorf("end: %+v, said %q", out.Result, c.read("said"))
	}
	out = c.do(writeStdin{}, c.call(m{"session_id": id, "chars": "x\n"}))
	if !strings.Contains(out.Result.Output, "The command was over already; nothing was typed.") {
		t.Errorf("after the end: %+v", out.Result)
	}
}

func TestInterrupt(t *testing.T) {
	for _, tty := range []bool{false, true} {
		c := &conversation{place: newPlace(t)}
		out := c.do(execCommand{}, c.call(m{"cmd": "echo begun; sleep 60; echo never", "tty": tty, "yield_time_ms": 400}))
		out = c.do(writeStdin{}, c.call(m{"session_id": out.Result.Process, "chars": "\x03", "yield_time_ms": 5000}))
		if out.Status != protocol.ToolDone || out.Result.ExitCode == nil || *out.Result.ExitCode == 0 || strings.Contains(out.Result.Output, "never") {
			t.Errorf("tty %v: %s %+v", tty, out.Status, out.Result)
		}
	}
}

func TestStdinRefused(t *testing.T) {
	c := &conversation{place: newPlace(t)}
	out := c.do(execCommand{}, c.call(m{"cmd": "sleep 60", "yield_time_ms": 250}))
	id, log := out.Result.Process, out.Result.Log
	if log != "test."+id {
		t.Errorf("log %q of %q", log, id)
	}
	for _, x := range []struct {
		args m
		want string
	}{
		{m{"session_id": id, "chars": "x\n"}, "no terminal"},
		{m{"session_id": "9-999999"}, `no command with session_id "9-999999"`},
		{m{"session_id": "../../etc"}, "no command with session_id"},
		{m{"session_id": "other." + id}, "no command with session_id"},
		{m{"session_id": id + ".input"}, "no command with session_id"},
		{m{"session_id": ""}, "session_id is missing"},
		{m{"session_id": id, "chars": strings.Repeat("x", maxInput+1)}, "longer than"},
	} {
		out := c.do(writeStdin{}, c.call(x.args))
		if out.Status != protocol.ToolFailed || !strings.Contains(out.Result.Output, x.want) {
			t.Errorf("%s: %s %q", x.want, out.Status, out.Result.Output)
		}
	}
	// The whole id is understood too, but not another session's.
	if out := c.do(writeStdin{}, c.call(m{"session_id": log, "yield_time_ms": 250})); out.Result.Process != id {
		t.Errorf("whole id: %+v", out.Result)
	}
	other := c.call(m{"session_id": id})
	other.ID = "fork.2-000001"
	if out := c.do(writeStdin{}, other); out.Status != protocol.ToolFailed {
		t.Errorf("another session reached it: %+v", out.Result)
	}
}

// TestPollKeepsRunesWhole looks while the command has written half of a rune.
func TestPollKeepsRunesWhole(t *testing.T) {
	c := &conversation{place: newPlace(t)}
	out := c.do(execCommand{}, c.call(m{"cmd": `printf 'caf\303'; while [ ! -e go ]; do sleep 0.02; done; printf '\251!'`, "yield_time_ms": 300}))
	if body(out) != "caf" || out.Result.OutputBytes != 3 {
		t.Errorf("first %q, %d bytes", body(out), out.Result.OutputBytes)
	}
	c.write("go", "")
	out = c.do(writeStdin{}, c.call(m{"session_id": out.Result.Process}))
	if body(out) != "é!" || out.Result.OutputBytes != 6 {
		t.Errorf("second %q, %d bytes", body(out), out.Result.OutputBytes)
	}
}
