//go:build unix

package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"temporal-sandbox-agent/sandbox/internal/proctree"
)

// How long an Observe sleeps between looks. Commands of this process's holder
// announce their end; others are looked at.
const (
	pollOutputMin = 5 * time.Millisecond
	pollOutputMax = 50 * time.Millisecond
	pollEndMin    = 2 * time.Millisecond
	pollEndMax    = 20 * time.Millisecond
	pollAnnounced = 500 * time.Millisecond
)

func (n *native) Observe(ctx context.Context, id string, v View) (Observation, error) {
	pause, most := pollEndMin, pollEndMax
	if v.Until == UntilOutput {
		pause, most = pollOutputMin, pollOutputMax
	}
	for {
		// Asked before the look, so that an end between the two is not missed.
		ended := n.cfg.Holder.ended(id)
		o, err := n.look(id, v)
		if err != nil {
			return Observation{}, err
		}
		if v.Until == UntilNow || o.Exit.State != StateRunning || (v.Until == UntilOutput && o.Size > v.Offset) {
			return o, nil
		}
		if ended != nil && v.Until == UntilEnd {
			pause, most = pollAnnounced, pollAnnounced
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return Observation{}, ctx.Err()
		case <-ended:
			timer.Stop()
		case <-timer.C:
		}
		pause = min(2*pause, most)
	}
}

// look reads the state, and then the output: what is finished has all of it.
func (n *native) look(id string, v View) (Observation, error) {
	exit, err := n.state(id)
	if err != nil {
		return Observation{}, err
	}
	o := Observation{Exit: exit}
	if v.Until == UntilEnd && v.Max == 0 {
		return o, nil
	}
	o.Data, o.Size, err = n.output(id, v.Offset, v.Max)
	return o, err
}

func (n *native) state(id string) (Exit, error) {
	e := evidence{record: n.text(id, fileExit)}
	claimed, err := os.ReadFile(n.file(id, fileClaim))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Exit{}, n.fail("read the journal", err)
	}
	e.claim = string(claimed)
	if c, ok := parseClaim(e.claim); ok && e.record == "" {
		e.boot = proctree.BootID()
		e.alive = proctree.Alive(c.runner, c.start) || n.leaderLives(id)
		if !e.alive {
			e.record = n.text(id, fileExit) // it may have ended between the two looks
		}
	}
	return e.judge(n.cfg.Backend, id)
}

func (n *native) leaderLives(id string) bool {
	pid, start := n.leader(id)
	return pid > 0 && start > 0 && proctree.Alive(pid, start)
}

// leader returns the first process of the command, 0 if it is not known.
func (n *native) leader(id string) (pid int, start uint64) {
	if got, err := fmt.Sscan(n.text(id, fileLeader), &pid, &start); err != nil && got < 1 {
		return 0, 0
	}
	return pid, start
}

func (n *native) claimOf(id string) (claim, bool) {
	return parseClaim(n.text(id, fileClaim))
}

// text returns the content of a small file, "" if there is none.
func (n *native) text(id, name string) string {
	data, err := os.ReadFile(n.file(id, name))
	if err != nil {
		return ""
	}
	return string(data)
}

func (n *native) output(id string, offset int64, most int) ([]byte, int64, error) {
	f, err := os.Open(n.file(id, fileOut))
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil // claimed, but not yet running
	}
	if err != nil {
		return nil, 0, n.fail("read output", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, n.fail("read output", err)
	}
	size := info.Size()
	count := min(int64(most), size-offset)
	if count <= 0 || offset < 0 {
		return nil, size, nil
	}
	data := make([]byte, count)
	got, err := f.ReadAt(data, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, size, n.fail("read output", err)
	}
	return data[:got], size, nil
}
