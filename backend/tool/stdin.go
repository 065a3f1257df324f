package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// writeStdin looks after a command that exec_command left running: it shows
// the output since the last look, types into it, or interrupts it.
type writeStdin struct{}

// How long a call waits if it does not say, in milliseconds.
const (
	yieldAfterInput = 250
	yieldOfPoll     = 5_000
)

// maxInput is the longest input of one call, in bytes.
const maxInput = 64 << 10

// interrupt is what Ctrl-C sends.
const interrupt = "\x03"

const stdinUsage = `{"session_id": text (required), "chars": text, "yield_time_ms": number, "max_output_tokens": number}`

type stdinArgs struct {
	Session name   `json:"session_id"`
	Chars   string `json:"chars"`
	YieldMs count  `json:"yield_time_ms"`
	Tokens  count  `json:"max_output_tokens"`
}

func (writeStdin) Name() string { return "write_stdin" }

func (writeStdin) Description() string {
	return "Looks after a command that exec_command left running: returns the output since the last look and, once it is over, its exit code. " +
		"Without chars it waits for more output. chars are typed into a command that was started with tty: true; end a line with \\n. " +
		"chars \"\\u0003\" (Ctrl-C) interrupts any command."
}

func (writeStdin) Schema() json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "session_id": {"type": "string", "description": "The session_id that exec_command returned."},
    "chars": {"type": "string", "description": "What to type. Default: nothing, only look."},
    "yield_time_ms": {"type": "number", "description": "How long to wait for output or the end, in milliseconds, 250 to 300000. Default: 250 with chars, 5000 without."},
    "max_output_tokens": {"type": "number", "description": "How much output to return, in tokens. Default: 10000."}
  },
  "required": ["session_id"],
  "additionalProperties": false
}`)
}

func parseStdin(raw json.RawMessage) (stdinArgs, error) {
	var a stdinArgs
	if err := decode(raw, &a, stdinUsage); err != nil {
		return a, err
	}
	switch {
	case a.Session == "":
		return a, errors.New("session_id is missing; expected " + stdinUsage)
	case len(a.Chars) > maxInput:
		return a, fmt.Errorf("chars is longer than %s: send it in parts", bytesText(maxInput))
	}
	return a, nil
}

// Assess can't know what the command makes of its input (it may be a shell),
// so that typing is as risky as any command. Looking and interrupting are not.
func (writeStdin) Assess(raw json.RawMessage, env Env) (protocol.Ask, error) {
	a, err := parseStdin(raw)
	if err != nil {
		return protocol.Ask{}, err
	}
	session := string(a.Session)
	switch a.Chars {
	case "":
		return protocol.Ask{Title: "Look at command " + oneLine(session)}, nil
	case interrupt:
		return protocol.Ask{Acts: true, Title: "Interrupt command " + oneLine(session)}, nil
	}
	ask := protocol.Ask{
		Acts:   true,
		Risky:  !env.Confined,
		Title:  oneLine("Type into command " + session + ": " + strconv.Quote(a.Chars)),
		Detail: detail(a.Chars),
	}
	if ask.Risky {
		ask.Reason = "types into a running program"
	}
	return ask, nil
}

func (writeStdin) Run(ctx context.Context, call Call) (Outcome, error) {
	a, err := parseStdin(call.Args)
	if err != nil {
		return failed("%s", err), nil
	}
	cmd, err := find(ctx, call, string(a.Session))
	if err != nil {
		if broken(err) {
			return Outcome{}, fmt.Errorf("find the command: %w", err)
		}
		return failed("There is no command with session_id %q. It is the one that exec_command returned in this conversation.", a.Session), nil
	}
	var from int64
	if call.Seen != nil {
		if from, err = call.Seen(ctx, cmd.CallID()); err != nil {
			return Outcome{}, fmt.Errorf("find out what was shown: %w", err)
		}
	}
	note, refused, err := send(ctx, call, cmd, a.Chars)
	if err != nil {
		return Outcome{}, err
	}
	if refused != "" {
		return failed("%s", refused), nil
	}
	yield := yieldOfPoll
	if a.Chars != "" {
		yield = yieldAfterInput
	}
	p, err := await(ctx, call, cmd, from, time.Duration(a.YieldMs.or(yield, minYield, maxYield))*time.Millisecond)
	if err != nil {
		return Outcome{}, err
	}
	result, err := p.report(ctx, sessionID(cmd.CallID()), from, a.Tokens.positive().or(defaultTokens, minTokens, maxTokens))
	if err != nil {
		return Outcome{}, err
	}
	if note != "" {
		result.Output = note + "\n" + result.Output
	}
	status := protocol.ToolDone
	if p.ended && p.exit.State == journal.StateBroken {
		status = protocol.ToolInterrupted
	}
	return Outcome{Status: status, Result: result}, nil
}

// send gives chars to the command, once: a call that is run again after a
// crash does not type them a second time. It returns a note for the model, or
// why it was refused.
func send(ctx context.Context, call Call, cmd journal.Command, chars string) (note, refused string, err error) {
	if chars == "" {
		return "", "", nil
	}
	_, ended, err := cmd.Exit(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read how the command ended: %w", err)
	}
	if ended {
		return "The command was over already; nothing was typed.", "", nil
	}
	first, err := claim(ctx, call)
	if err != nil {
		return "", "", err
	}
	if !first {
		return "This call was cut off by a restart after it began to type. It was not repeated: look whether the input arrived.", "", nil
	}
	err = cmd.Write(ctx, []byte(chars))
	switch {
	case err == nil:
		return "", "", nil
	case sandbox.KindOf(err) == sandbox.KindInvalid && chars == interrupt:
		// Without a terminal there is no key to press.
		if err := cmd.Kill(ctx); err != nil {
			return "", "", fmt.Errorf("interrupt the command: %w", err)
		}
		return "The command has no terminal, so that it was killed.", "", nil
	case sandbox.KindOf(err) == sandbox.KindInvalid:
		return "", "This command has no terminal: nothing can be typed into it. Start it again with tty: true, or give it its input by a pipe or a file.", nil
	case broken(err):
		return "", "", fmt.Errorf("type into the command: %w", err)
	}
	return "The input did not reach the command: " + because(err) + ".", "", nil
}

// claim tells whether this is the first time that the call gets here: it
// starts a command of no effect under a name of its own, and the journal
// starts each name only once.
func claim(ctx context.Context, call Call) (bool, error) {
	mark, err := call.Journal.Start(ctx, journal.Spec{CallID: call.ID + ".input", Shell: ":"})
	if err != nil {
		return false, fmt.Errorf("mark the input as sent: %w", err)
	}
	return mark.Fresh(), nil
}
