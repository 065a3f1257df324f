package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// Journal runs commands in one sandbox. It holds nothing itself: any number of
// them, in any number of processes, may work on the same executions.
type Journal struct {
	host    Host
	backend string
}

// Open returns the journal of a sandbox: over the host that it brings (Hosted)
// or, for one that has none, over its Exec and a POSIX shell.
func Open(sb sandbox.Sandbox) *Journal {
	if hosted, ok := sb.(Hosted); ok {
		return New(hosted.JournalHost(), sb.Ref().Backend)
	}
	return New(NewExecHost(sb, ExecConfig{}), sb.Ref().Backend)
}

// New returns a journal over a host.
func New(host Host, backend string) *Journal {
	return &Journal{host: host, backend: backend}
}

// Start starts a command, or finds the execution that there is under its call
// id, whatever its command was. It returns when the command has been claimed
// on disk and started. If ctx ends before that, the command may run: Find
// tells.
func (j *Journal) Start(ctx context.Context, spec Spec) (Command, error) {
	if err := j.check(spec); err != nil {
		return nil, err
	}
	fresh, err := j.host.Launch(ctx, Launch{
		ID: spec.CallID, Shell: spec.Shell, Dir: spec.Dir, Env: spec.Env,
		TTY: spec.TTY, Rows: spec.Rows, Cols: spec.Cols, Timeout: spec.Timeout,
	})
	if err != nil {
		return nil, err
	}
	return &command{host: j.host, id: spec.CallID, fresh: fresh}, nil
}

func (j *Journal) check(spec Spec) error {
	why := ""
	switch {
	case !validID(spec.CallID):
		why = fmt.Sprintf("%q can't be a call id: letters, digits, \"-\", \"_\" and \".\" only, not beginning with \".\" or \"-\", at most %d", spec.CallID, maxIDLen)
	case strings.Contains(spec.Shell, "\x00") || strings.Contains(spec.Dir, "\x00"):
		why = "a command and its folder can't hold NUL bytes"
	case spec.Timeout < 0:
		why = "a timeout can't be negative"
	}
	for name, value := range spec.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			why = fmt.Sprintf("%q can't be an environment variable", name)
		}
	}
	if why == "" {
		return nil
	}
	return j.fail(sandbox.KindInvalid, "start command", errors.New(why))
}

// Find finds a command that was started; it fails with sandbox.KindNotFound.
func (j *Journal) Find(ctx context.Context, callID string) (Command, error) {
	if !validID(callID) {
		return nil, j.fail(sandbox.KindNotFound, "find command "+callID, nil)
	}
	if _, err := j.host.Observe(ctx, callID, View{}); err != nil {
		return nil, err
	}
	return &command{host: j.host, id: callID}, nil
}

// List returns the running commands whose call ids begin with prefix, the
// oldest first. An empty prefix is all.
func (j *Journal) List(ctx context.Context, prefix string) ([]Command, error) {
	entries, err := j.host.List(ctx, prefix, true)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return a.Started.Compare(b.Started) })
	var out []Command
	for _, e := range entries {
		if e.State == StateRunning {
			out = append(out, &command{host: j.host, id: e.ID})
		}
	}
	return out, nil
}

// KillAll ends all commands whose call ids begin with prefix, at once, also
// those that are just being started.
func (j *Journal) KillAll(ctx context.Context, prefix string) error {
	entries, err := j.host.List(ctx, prefix, true)
	if err != nil {
		return err
	}
	errs := make([]error, len(entries))
	var wg sync.WaitGroup
	for i, e := range entries {
		wg.Go(func() { errs[i] = j.host.Kill(ctx, e.ID) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// launchTime is more than any launch lasts: a folder without a claim that is
// older was left by a crash.
const launchTime = time.Hour

// Retention says what Prune keeps.
type Retention struct {
	// OlderThan spares what was started less than this ago.
	OlderThan time.Duration
	// Keep is how many of the executions that ended are kept in any case, the
	// newest.
	Keep int
	// May tells whether an execution may go at all; nil is yes.
	May func(id string) bool
}

// Prune removes the files of executions that ended and returns how many. A
// call id that is removed can be started again: keep what may still be retried.
func (j *Journal) Prune(ctx context.Context, r Retention) (int, error) {
	entries, err := j.host.List(ctx, "", false)
	if err != nil {
		return 0, err
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool {
		unclaimed := e.State == "" && time.Since(e.Started) < launchTime
		return e.State == StateRunning || unclaimed
	})
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID, b.ID))
	})
	var ids []string
	for i, e := range entries {
		if i >= r.Keep && time.Since(e.Started) >= r.OlderThan && (r.May == nil || r.May(e.ID)) {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	if err := j.host.Remove(ctx, ids); err != nil {
		return 0, err
	}
	return len(ids), nil
}

// Forget removes the files of the executions that ended and whose call ids
// begin with prefix.
func (j *Journal) Forget(ctx context.Context, prefix string) error {
	entries, err := j.host.List(ctx, prefix, false)
	if err != nil {
		return err
	}
	var ids []string
	for _, e := range entries {
		if e.State != StateRunning {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return j.host.Remove(ctx, ids)
}

func (j *Journal) fail(kind sandbox.Kind, op string, err error) error {
	return &sandbox.Error{Kind: kind, Backend: j.backend, Op: op, Err: err}
}
