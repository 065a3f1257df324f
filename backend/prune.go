package backend

import (
	"context"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox/journal"
)

// KeptOutput says how much of the full output of commands is kept.
type KeptOutput struct {
	// Age is for how long at least, Newest how many in any case.
	Age    time.Duration
	Newest int
}

// What the conversation shows of an output is kept with it for ever; the whole
// is of use for a while.
const (
	keptAge    = 7 * 24 * time.Hour
	keptNewest = 500
)

// PruneOutput removes the full output of old commands. The journal is what
// keeps a command from running twice, so only those go whose turn is over: its
// commit holds their results.
func (b *Backend) PruneOutput(ctx context.Context, keep KeptOutput) {
	n, err := b.prune(ctx, journal.Retention{OlderThan: keep.Age, Keep: keep.Newest, May: func(call string) bool {
		at := strings.LastIndexByte(call, '-') // a turn's id, and a number
		if at < 0 {
			return false
		}
		over, err := b.Sessions.Transcript.IsOver(ctx, call[:at])
		return err == nil && over
	}})
	if err != nil && ctx.Err() == nil {
		b.log.Warn("old output could not be removed", "error", err)
	}
	if n > 0 {
		b.log.Info("old output was removed", "commands", n)
	}
}
