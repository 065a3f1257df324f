package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// execCommand runs a shell command. One that is not over when the call stops
// waiting goes on in the background, where write_stdin finds it.
type execCommand struct{}

// The bounds of waiting, in milliseconds.
const (
	defaultYield = 10_000
	minYield     = 250
	maxYield     = 300_000
)

// maxCommand is the longest command line, in bytes.
const maxCommand = 1 << 20

const execUsage = `{"cmd": text (required), "workdir": text, "tty": boolean, "yield_time_ms": number, "max_output_tokens": number, "timeout_ms": number}`

type execArgs struct {
	Cmd       string `json:"cmd"`
	Workdir   string `json:"workdir"`
	TTY       bool   `json:"tty"`
	YieldMs   count  `json:"yield_time_ms"`
	Tokens    count  `json:"max_output_tokens"`
	TimeoutMs count  `json:"timeout_ms"`
}

func (execCommand) Name() string { return "exec_command" }

func (execCommand) Description() string {
	return "Runs a shell command in the workspace and returns its exit code and its output (stdout and stderr together). " +
		"A command that is not over after yield_time_ms goes on in the background: the result then has a session_id, " +
		"with which write_stdin shows more output, types into the command or interrupts it. " +
		"Long output is cut in the middle; filter it with grep, head or tail."
}

func (execCommand) Schema() json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "cmd": {"type": "string", "description": "The command line, run by bash (or sh where there is no bash)."},
    "workdir": {"type": "string", "description": "The folder to run it in, absolute or relative to the workspace. Default: the workspace."},
    "tty": {"type": "boolean", "description": "Give it a terminal. Needed to type into it later with write_stdin. Default: false."},
    "yield_time_ms": {"type": "number", "description": "How long to wait for it to end, in milliseconds, 250 to 300000. Default: 10000."},
    "max_output_tokens": {"type": "number", "description": "How much output to return, in tokens. Default: 10000."},
    "timeout_ms": {"type": "number", "description": "Kill it after this many milliseconds. Default: never."}
  },
  "required": ["cmd"],
  "additionalProperties": false
}`)
}

func parseExec(raw json.RawMessage) (execArgs, error) {
	var a execArgs
	if err := decode(raw, &a, execUsage); err != nil {
		return a, err
	}
	switch {
	case strings.TrimSpace(a.Cmd) == "":
		return a, errors.New("cmd is missing; expected " + execUsage)
	case strings.ContainsRune(a.Cmd, 0) || strings.ContainsRune(a.Workdir, 0):
		return a, errors.New("cmd and workdir can't hold NUL bytes")
	case len(a.Cmd) > maxCommand:
		return a, fmt.Errorf("cmd is longer than %s: write a script with apply_patch and run it", bytesText(maxCommand))
	}
	return a, nil
}

func (execCommand) Assess(raw json.RawMessage, env Env) (protocol.Ask, error) {
	a, err := parseExec(raw)
	if err != nil {
		return protocol.Ask{}, err
	}
	return assessCommand(a.Cmd, a.Workdir, a.TTY, env), nil
}

func (execCommand) Run(ctx context.Context, call Call) (Outcome, error) {
	a, err := parseExec(call.Args)
	if err != nil {
		return failed("%s", err), nil
	}
	cmd, err := call.Journal.Start(ctx, journal.Spec{
		CallID:  call.ID,
		Shell:   a.Cmd,
		Dir:     a.Workdir,
		Env:     commandEnv(a.TTY),
		TTY:     a.TTY,
		Rows:    40,
		Cols:    120,
		Timeout: time.Duration(a.TimeoutMs.positive().or(0, 1, 1<<31-1)) * time.Millisecond,
	})
	if err != nil {
		if broken(err) {
			return Outcome{}, fmt.Errorf("start the command: %w", err)
		}
		if sandbox.KindOf(err) == sandbox.KindNotFound && a.Workdir != "" {
			return failed("The command was not run: there is no folder %q to run it in.", a.Workdir), nil
		}
		return failed("The command was not run: %s.", because(err)), nil
	}
	yield := time.Duration(a.YieldMs.or(defaultYield, minYield, maxYield)) * time.Millisecond
	p, err := await(ctx, call, cmd, 0, yield)
	if err != nil {
		return Outcome{}, err
	}
	result, err := p.report(ctx, sessionID(call.ID), 0, a.Tokens.positive().or(defaultTokens, minTokens, maxTokens))
	if err != nil {
		return Outcome{}, err
	}
	status := protocol.ToolDone
	if p.ended && (p.exit.State == journal.StateBroken || p.exit.Killed) {
		status = protocol.ToolInterrupted
	}
	return Outcome{Status: status, Result: result}, nil
}

// commandEnv keeps programs from waiting for a person: no pager is started
// and, without a terminal, nobody is asked for a password.
func commandEnv(tty bool) map[string]string {
	env := map[string]string{"PAGER": "cat", "GIT_PAGER": "cat", "GH_PAGER": "cat", "MANPAGER": "cat"}
	if tty {
		env["TERM"] = "xterm-256color"
	} else {
		env["TERM"] = "dumb"
		env["GIT_TERMINAL_PROMPT"] = "0"
	}
	return env
}
