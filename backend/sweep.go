package backend

import (
	"context"
	"errors"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/store"
)

// When the owner of the engine sweeps the store by itself: not while somebody
// begins to work, and then now and then.
const (
	sweepAfter = 5 * time.Minute
	sweepEvery = time.Hour
)

func (b *Backend) sweeper() *reach.Sweeper {
	return &reach.Sweeper{Finder: *b.finder(), Keeper: b.store, Now: b.now}
}

// now is the time; a Backend has no other clock.
func (b *Backend) now() time.Time { return time.Now() }

// sweepLoop sweeps until ctx ends.
func (b *Backend) sweepLoop(ctx context.Context) {
	timer := time.NewTimer(sweepAfter)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		b.sweepContainers(ctx)
		swept, err := b.sweeper().Sweep(ctx, reach.Grace)
		switch {
		case errors.Is(err, store.ErrBusy):
			timer.Reset(sweepAfter)
			continue
		case err != nil && ctx.Err() == nil:
			b.log.Warn("the store was not swept", "error", err)
		case swept.Objects > 0:
			b.log.Info("the store was swept", "objects", swept.Objects, "bytes", swept.Bytes)
		}
		timer.Reset(sweepEvery)
	}
}

// CleanStore removes now what no session reaches and nobody just used.
func (b *Backend) CleanStore(ctx context.Context) (protocol.Swept, error) {
	swept, err := b.sweeper().Sweep(ctx, reach.ShortGrace)
	if errors.Is(err, store.ErrBusy) {
		return swept, &protocol.Fault{
			Class: protocol.ClassBusy, Happened: "Files are being captured just now", Kept: "Nothing was removed.", Remedy: "Try again in a moment.",
		}
	}
	return swept, err
}

// StoreUse tells what takes the space of the store; with check it also reads
// all of it and tells what is damaged.
func (b *Backend) StoreUse(ctx context.Context, check bool) (protocol.StoreUse, error) {
	return b.sweeper().Use(ctx, check)
}

// forget removes what only a session reached that was destroyed. What can't be
// removed now is swept later.
func (b *Backend) forget(ctx context.Context, gone protocol.Session) {
	if _, err := b.sweeper().Forget(ctx, gone); err != nil && !errors.Is(err, store.ErrBusy) {
		b.log.Warn("what a destroyed session had in the store is still there", "session", gone.ID, "error", err)
	}
}
