package engine

import (
	"github.com/gofrs/flock"
)

// ownership is the lock on a data folder: whoever holds it runs the server.
// The system drops it when the process ends in whatever way, and child
// processes do not inherit it, so it can't be left behind.
type ownership struct{ lock *flock.Flock }

// takeOwnership returns nil without an error if another process has it.
func takeOwnership(p paths) (*ownership, error) {
	l := flock.New(p.lock(), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err != nil {
		return nil, storageError(p.dir, "lock the data folder", err)
	}
	if !got {
		_ = l.Close()
		return nil, nil
	}
	return &ownership{lock: l}, nil
}

func (o *ownership) release() error { return o.lock.Unlock() }

// owned tells whether some process has ownership. For a moment it holds a
// shared lock, which makes another process's takeOwnership fail: that one must
// try again.
func owned(p paths) (bool, error) {
	l := flock.New(p.lock(), flock.SetPermissions(0o600))
	defer func() { _ = l.Close() }()
	got, err := l.TryRLock()
	return !got, err
}
