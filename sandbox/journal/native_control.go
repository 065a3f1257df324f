//go:build unix

package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/proctree"
)

func (n *native) Kill(ctx context.Context, id string) error {
	const op = "kill command"
	if _, err := os.Stat(n.dir(id)); err != nil {
		return n.fail(op, err)
	}
	for {
		if n.text(id, fileExit) == "" {
			// Whoever is about to start it looks for this after the claim and
			// again after the start: it sees it, or is seen here.
			mark, err := os.OpenFile(n.file(id, fileKilled), os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				err = mark.Close()
			}
			if err != nil && !errors.Is(err, syscall.ENOSPC) { // a full disk must not keep a command alive
				return n.fail(op, err)
			}
		}
		target := proctree.Target{Marker: proctree.Mark(proctree.CallVariable, id)}
		if n.text(id, fileExit) == "" { // else the number may be another's
			target.Leader, target.LeaderStart = n.leader(id)
		}
		if err := proctree.Kill(ctx, target); err != nil {
			return n.fail(op, err)
		}
		exit, err := n.state(id)
		if sandbox.KindOf(err) == sandbox.KindNotFound || (err == nil && exit.State != StateRunning) {
			return nil
		}
		if err != nil {
			return err
		}
		// It is dead, and about to be recorded.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEndMin):
		}
	}
}

func (n *native) Input(ctx context.Context, id string, data []byte) error {
	const op = "write to command"
	if err := n.hasTerminal(id, op); err != nil {
		return err
	}
	in, err := os.OpenFile(n.file(id, fileInput), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return n.ended(op) // nobody reads
	}
	if err != nil {
		return n.fail(op, err)
	}
	defer in.Close()
	stop := context.AfterFunc(ctx, func() { _ = in.SetWriteDeadline(time.Unix(1, 0)) }) // a closed file needs none
	defer stop()
	if _, err := in.Write(data); err != nil {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, syscall.EPIPE):
			return n.ended(op)
		}
		return n.fail(op, err)
	}
	return nil
}

func (n *native) Resize(_ context.Context, id string, rows, cols uint16) error {
	const op = "resize terminal"
	if err := n.hasTerminal(id, op); err != nil {
		return err
	}
	tty, err := os.OpenFile(strings.TrimSpace(n.text(id, fileTerminal)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return n.fail(op, err)
	}
	defer tty.Close()
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
		return n.fail(op, err)
	}
	return nil
}

// hasTerminal fails unless the command runs and has a terminal.
func (n *native) hasTerminal(id, op string) error {
	exit, err := n.state(id)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(n.file(id, fileInput)); errors.Is(err, fs.ErrNotExist) {
		return noTerminal(n.cfg.Backend, op)
	}
	if exit.State != StateRunning {
		return n.ended(op)
	}
	return nil
}

func (n *native) ended(op string) error { return endedError(n.cfg.Backend, op) }

func (n *native) List(ctx context.Context, prefix string, running bool) ([]Entry, error) {
	names, err := os.ReadDir(n.all())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, n.fail("list commands", err)
	}
	var out []Entry
	for _, name := range names {
		id := name.Name()
		if !strings.HasPrefix(id, prefix) || !validID(id) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := os.Lstat(n.file(id, fileExit)); err == nil && running {
			continue
		}
		exit, err := n.state(id)
		switch {
		case err == nil && running && exit.State != StateRunning:
		case err == nil:
			out = append(out, Entry{ID: id, State: exit.State, Started: exit.Started})
		case sandbox.KindOf(err) == sandbox.KindNotFound:
			if info, err := name.Info(); err == nil { // else it was removed just now
				out = append(out, Entry{ID: id, Started: info.ModTime()})
			}
		default:
			return nil, err
		}
	}
	return out, nil
}

func (n *native) Remove(_ context.Context, ids []string) error {
	for _, id := range ids {
		if exit, err := n.state(id); err == nil && exit.State == StateRunning {
			continue
		}
		if err := os.RemoveAll(n.dir(id)); err != nil {
			return n.fail("remove command "+id, err)
		}
	}
	return nil
}
