package backend

import (
	"context"
	"time"
)

const (
	// clockLook is how often the clock is looked at, clockSlack how far it may
	// drift in that time without having been set.
	clockLook  = 5 * time.Second
	clockSlack = 2 * time.Second
)

// clockWatch tells when the clock was set back. One that goes on faster, as
// after a sleep of the computer, ends waits too early, which does no harm.
type clockWatch struct{ ahead time.Duration }

// setBack is told how long it is since the first look, by the clock and by what
// nobody can set.
func (w *clockWatch) setBack(clock, real time.Duration) bool {
	ahead := clock - real
	back := ahead < w.ahead-clockSlack
	w.ahead = ahead
	return back
}

// watchClock has turns that wait try again when the clock was set back: by the
// clock they would wait that much longer.
func (b *Backend) watchClock(ctx context.Context) {
	begin := time.Now()
	ticker := time.NewTicker(clockLook)
	defer ticker.Stop()
	var watch clockWatch
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// Round takes the reading away that nobody can set.
		if !watch.setBack(time.Now().Round(0).Sub(begin.Round(0)), time.Since(begin)) {
			continue
		}
		b.log.Info("the clock was set back")
		if err := b.Sessions.Nudge(ctx, true); err != nil && ctx.Err() == nil {
			b.log.Warn("turns that wait could not all be told to try again", "error", err)
		}
	}
}
