//go:build unix

// Package proctree knows the processes of this machine: whether one still
// lives, and how to kill all that a command started.
//
// A process can leave its parent, its group and its session, so that none of
// these finds all that a command started. What stays is the environment that
// it was started with: commands carry a marker there. Only a program that
// starts another one with an environment made from nothing, in a new session,
// and then ends, hides it from here.
package proctree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// The markers that commands carry in their environment. Values are written by
// Mark.
const (
	CallVariable    = "TSA_CALL"    // one command
	SandboxVariable = "TSA_SANDBOX" // all commands of one sandbox
)

// Mark returns the environment entry that marks the processes of id. The
// colons let the entry be found as text, without one id being found in another.
func Mark(variable, id string) string { return variable + "=:" + id + ":" }

// Proc is one process.
type Proc struct {
	PID, Parent, Group, Session int
	// Start tells a process from a later one with the same PID. Its unit is the
	// system's own; 0 is unknown.
	Start uint64
	// Dead is true for a process that ended but was not yet waited for.
	Dead bool
}

// Target says which processes to kill: a leader with its session, group and
// descendants, and all that carry the marker. Either may be left out.
type Target struct {
	Leader      int
	LeaderStart uint64
	Marker      string
}

// settle is how long to wait between looks at what is still alive.
const settle = 2 * time.Millisecond

// Kill kills the target's processes with SIGKILL, and what they start
// meanwhile, and returns when none is left. It fails when ctx ends before
// that, or when all that is left belongs to somebody else.
func Kill(ctx context.Context, t Target) error {
	known, frozen := map[int]uint64{}, 0
	if t.Leader > 0 && Alive(t.Leader, t.LeaderStart) {
		known[t.Leader] = t.LeaderStart
		// Most commands are one process group. It is frozen first: the children
		// of a dead parent are nobody's, and those in it can't be looked for
		// while it goes on making more.
		if group, err := syscall.Getpgid(t.Leader); err == nil && group == t.Leader {
			_ = syscall.Kill(-group, syscall.SIGSTOP) // what it misses, the rounds below find
			frozen = group
		}
	}
	for {
		procs, err := Snapshot()
		if err != nil {
			return fmt.Errorf("list processes: %w", err)
		}
		found := members(procs, t, known)
		if frozen != 0 {
			_ = syscall.Kill(-frozen, syscall.SIGKILL) // likewise
			frozen = 0
		}
		left, denied := 0, 0
		for _, p := range found {
			left++
			if err := killOne(p); errors.Is(err, syscall.EPERM) {
				denied++
			}
		}
		if left == 0 {
			return nil
		}
		if left == denied {
			return fmt.Errorf("kill %d processes: %w", denied, syscall.EPERM)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d processes are still alive: %w", left, ctx.Err())
		case <-time.After(settle):
		}
	}
}

// members picks the living processes of the target, and adds them to known, so
// that their children are still found after their parent is gone.
func members(procs []Proc, t Target, known map[int]uint64) []Proc {
	self := os.Getpid()
	in := make(map[int]bool, len(known))
	for pid := range known {
		in[pid] = true // also one that is gone: its session may live on
	}
	for _, p := range procs {
		if start := known[p.PID]; start != 0 && p.Start != 0 && start != p.Start {
			delete(in, p.PID) // another process has the number now
		}
	}
	for _, p := range procs {
		if in[p.PID] || p.Dead || p.PID == self {
			continue
		}
		in[p.PID] = t.Marker != "" && marked(p.PID, t.Marker)
	}
	for again := true; again; {
		again = false
		for _, p := range procs {
			if in[p.PID] || p.PID == self {
				continue
			}
			if in[p.Parent] || in[p.Session] || in[p.Group] {
				in[p.PID] = true
				again = true
			}
		}
	}
	var out []Proc
	for _, p := range procs {
		if in[p.PID] {
			known[p.PID] = p.Start
			if !p.Dead {
				out = append(out, p)
			}
		}
	}
	return out
}

// killOne kills p, and not another process that got its number meanwhile.
func killOne(p Proc) error {
	process, err := os.FindProcess(p.PID) // holds on to the process where the system can
	if err != nil {
		return nil // it is gone
	}
	defer process.Release()
	if !Alive(p.PID, p.Start) {
		return nil
	}
	return process.Signal(syscall.SIGKILL)
}
