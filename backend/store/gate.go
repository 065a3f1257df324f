package store

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// gateName is the file by which whoever uses the store keeps sweeps away, in
// this process and in others.
const gateName = "objects.use"

// gatePoll is how often Use looks whether a sweep has ended.
const gatePoll = 10 * time.Millisecond

func (s *SQLite) gate() *flock.Flock {
	return flock.New(filepath.Join(s.dir, gateName), flock.SetPermissions(0o600))
}

// Use implements Keeper.
func (s *SQLite) Use(ctx context.Context) (release func(), err error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	gate := s.gate()
	if _, err := gate.TryRLockContext(ctx, gatePoll); err != nil {
		return nil, fmt.Errorf("use the store: %w", err)
	}
	return func() { _ = gate.Unlock() }, nil
}

// alone keeps users away until release is called, or fails with ErrBusy.
func (s *SQLite) alone() (release func(), err error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	gate := s.gate()
	got, err := gate.TryLock()
	if err != nil {
		return nil, fmt.Errorf("keep others from using the store: %w", err)
	}
	if !got {
		return nil, ErrBusy
	}
	return func() { _ = gate.Unlock() }, nil
}
