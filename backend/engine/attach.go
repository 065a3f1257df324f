package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ownerPoll is how often an attached process looks whether the owner is still
// there.
const ownerPoll = 250 * time.Millisecond

// attach uses the engine that the runtime file tells of. Any error means: not
// now; the file may be left from an earlier owner.
func (e *Engine) attach(ctx context.Context, id string) error {
	file, err := readRuntime(e.paths)
	if err != nil {
		return err
	}
	tok, err := readToken(filepath.Join(e.paths.dir, filepath.Base(file.TokenFile)))
	if err != nil {
		return err
	}
	tlsConfig, err := file.Credentials.tlsConfig()
	if err != nil {
		return err
	}
	l := link{
		address: file.Frontend, namespace: e.opts.Namespace, tls: tlsConfig,
		token: tok, identity: e.identity(id), log: e.log,
	}
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c, err := l.dial(limited)
	if err != nil {
		return err
	}
	// The file is still the one that was read: the lock's holder wrote it.
	if now, err := readRuntime(e.paths); err != nil || now.ID != file.ID {
		c.Close()
		return fmt.Errorf("attach to the engine: its owner changed")
	}
	e.role, e.file, e.link, e.client = RoleAttached, file, l, c
	e.wg.Go(func() { e.watchOwner(file.ID) })
	return nil
}

// watchOwner closes gone when the owner with this id is no more: nobody holds the lock, or somebody else does.
// Polling a file lock costs microseconds, works on every system, and can't be
// fooled by a process id that was given out again.
func (e *Engine) watchOwner(id string) {
	tick := time.NewTicker(ownerPoll)
	defer tick.Stop()
	var seen os.FileInfo
	for {
		select {
		case <-e.done:
			return
		case <-tick.C:
		}
		if held, err := owned(e.paths); err == nil && !held {
			close(e.gone)
			return
		}
		// A new owner writes a new file; it is read only when it changed.
		now, err := os.Stat(e.paths.runtime())
		if err != nil || (seen != nil && os.SameFile(seen, now) && seen.ModTime().Equal(now.ModTime())) {
			continue
		}
		seen = now
		if f, err := readRuntime(e.paths); err == nil && f.ID != id {
			close(e.gone)
			return
		}
	}
}
