package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox/journal"
)

// The limits of what a call shows the model.
const (
	defaultTokens = 10_000
	minTokens     = 64
	maxTokens     = 100_000
)

// progress is a command as a call found it when it stopped waiting.
type progress struct {
	cmd journal.Command
	// exit is set if ended is true.
	exit  journal.Exit
	ended bool
	// waited is how long this call waited.
	waited time.Duration
}

// await waits until the command ends, but no longer than yield, and gives its
// output from offset from on to live.
func await(ctx context.Context, call Call, cmd journal.Command, from int64, yield time.Duration) (progress, error) {
	began := time.Now()
	waiting, cancel := context.WithTimeout(ctx, yield)
	defer cancel()
	var err error
	if call.Live != nil {
		err = cmd.Follow(waiting, from, func(offset int64, data []byte) { call.Live(offset-from, data) })
	} else {
		_, err = cmd.Wait(waiting)
	}
	if ctx.Err() != nil {
		return progress{}, ctx.Err()
	}
	if err != nil && waiting.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
		return progress{}, fmt.Errorf("wait for the command: %w", err)
	}
	p := progress{cmd: cmd, waited: time.Since(began)}
	if p.exit, p.ended, err = cmd.Exit(ctx); err != nil {
		return progress{}, fmt.Errorf("read how the command ended: %w", err)
	}
	return p, nil
}

// report is the result of a command, or of a look at it: how far it is, and
// its output from offset from on.
func (p progress) report(ctx context.Context, session string, from int64, tokens int) (protocol.ToolResult, error) {
	v, err := readView(ctx, p.cmd, from, !p.ended, tokens*bytesPerToken)
	if err != nil {
		return protocol.ToolResult{}, err
	}
	result := protocol.ToolResult{
		Display:     v.display,
		DurationMs:  p.waited.Milliseconds(),
		OutputBytes: v.size,
		Truncated:   v.note != "",
		Log:         p.cmd.CallID(),
	}
	var b strings.Builder
	switch {
	case !p.ended:
		result.Process = session
		fmt.Fprintf(&b, "Still running after %s; session_id: %s\n", seconds(p.waited), session)
	case p.exit.State == journal.StateBroken:
		b.WriteString("Interrupted: the machine or the sandbox went down while this command ran. " +
			"It may have been partly done. It was not run again; check what it did before you repeat it.\n")
	default:
		code := p.exit.Code
		result.ExitCode = &code
		result.TimedOut = p.exit.TimedOut
		result.DurationMs = p.exit.Duration.Milliseconds()
		fmt.Fprintf(&b, "Exit code: %d (%s)\n", code, strings.Join(p.exitNotes(), ", "))
	}
	if v.note != "" {
		b.WriteString(v.note + "\n")
	}
	switch {
	case v.text != "":
		b.WriteString("Output:\n" + v.text)
	case from > 0:
		b.WriteString("No new output.")
	default:
		b.WriteString("No output.")
	}
	result.Output = b.String()
	return result, nil
}

// exitNotes says what there is to know of an exit beside its code.
func (p progress) exitNotes() []string {
	notes := []string{seconds(p.exit.Duration)}
	switch {
	case p.exit.TimedOut:
		notes = []string{"timed out after " + seconds(p.exit.Duration) + " and was killed"}
	case p.exit.Killed:
		notes = []string{"was killed after " + seconds(p.exit.Duration)}
	case p.exit.Signal != "":
		notes = append(notes, "ended by "+p.exit.Signal)
	}
	return notes
}

// seconds writes a duration to a hundredth, from ten seconds on to a tenth.
func seconds(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
