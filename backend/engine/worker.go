package engine

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// Defaults of WorkerOptions.
const (
	// DefaultActivitySlots is how many activities run at once. An activity
	// that waits for a model or a command costs a goroutine.
	DefaultActivitySlots = 200
	// pollers a side: with the SDK's two an activity takes 8 ms, with ten 5.5,
	// because one is always waiting when a task comes.
	pollers = 10
	// eagerPerTask is how many activities a workflow task may get back at
	// once: parallel tool calls of one answer.
	eagerPerTask = 10
	// stickyTimeout is how long a workflow task waits for the worker that has
	// the workflow in memory, after which any worker may have it (stock: 5 s).
	stickyTimeout = 2 * time.Second
	// heartbeats are sent at most this often. They carry back a cancellation
	// when the quicker way, a push, failed.
	heartbeats = 5 * time.Second
	// deadlockTime is how long workflow code may run without yielding. The
	// stock second is not enough for a laptop that was just opened.
	deadlockTime = 10 * time.Second
)

// NoStickyCache as WorkerOptions.StickyCache makes every workflow task replay
// from the start: slow, and what tests of determinism want.
const NoStickyCache = -1

// WorkerOptions of StartWorker. Only TaskQueue is needed.
type WorkerOptions struct {
	TaskQueue string
	// Version is recorded with the workflow tasks; "dev" if empty.
	Version string
	// ActivitySlots is how many activities run at once; DefaultActivitySlots
	// if 0.
	ActivitySlots int
	// StickyCache is how many workflows are kept in memory between tasks, in
	// all workers of the process; the SDK's default (10,000) if 0. It only
	// takes effect before the first worker of a process starts.
	StickyCache int
	// StopTimeout is how long Stop waits for running activities; 0 = not.
	StopTimeout time.Duration
	// heartbeats is for tests that must tell a push from a heartbeat; heartbeats
	// if 0.
	heartbeats time.Duration
	// OnFatalError is called if the worker can't go on. May be nil.
	OnFatalError func(error)
}

// Worker serves a task queue until it is stopped.
type Worker struct {
	worker worker.Worker
	stop   sync.Once
}

// StartWorker starts a worker on a client of any cluster. The register func
// names the workflows and activities, before the first task is taken.
func StartWorker(c client.Client, register func(worker.Registry), opts WorkerOptions) (*Worker, error) {
	if opts.TaskQueue == "" {
		return nil, errors.New("start a worker: no task queue given")
	}
	if opts.ActivitySlots == 0 {
		opts.ActivitySlots = DefaultActivitySlots
	}
	if opts.Version == "" {
		opts.Version = "dev"
	}
	if opts.heartbeats == 0 {
		opts.heartbeats = heartbeats
	}
	switch {
	case opts.StickyCache == NoStickyCache:
		worker.SetStickyWorkflowCacheSize(0)
	case opts.StickyCache > 0:
		worker.SetStickyWorkflowCacheSize(opts.StickyCache)
	}
	// Otherwise the SDK hashes the executable: 0.4 s for 200 MB.
	worker.SetBinaryChecksum(opts.Version)

	eager := eagerPerTask
	w := worker.New(c, opts.TaskQueue, worker.Options{
		MaxConcurrentActivityExecutionSize:          opts.ActivitySlots,
		MaxConcurrentActivityTaskPollers:            pollers,
		MaxConcurrentWorkflowTaskPollers:            pollers,
		MaxEagerActivityReservationsPerWorkflowTask: &eager,
		StickyScheduleToStartTimeout:                stickyTimeout,
		DeadlockDetectionTimeout:                    deadlockTime,
		MaxHeartbeatThrottleInterval:                opts.heartbeats,
		DefaultHeartbeatThrottleInterval:            opts.heartbeats,
		WorkerStopTimeout:                           opts.StopTimeout,
		DisableRegistrationAliasing:                 true,
		OnFatalError:                                opts.OnFatalError,
	})
	register(w)
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("start a worker on %q: %w", opts.TaskQueue, err)
	}
	return &Worker{worker: w}, nil
}

// Stop stops taking tasks and cancels the context of running activities. It
// may be called more than once.
func (w *Worker) Stop() { w.stop.Do(w.worker.Stop) }

// StartWorker starts a worker on this engine, which Close stops. Only the owner
// may: Reap takes what other processes have started for lost. Call Reap first,
// so that the worker finds what was handed back.
func (e *Engine) StartWorker(register func(worker.Registry), opts WorkerOptions) (*Worker, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, ErrClosed
	case e.role != RoleOwner:
		return nil, ErrNotOwner
	}
	if opts.Version == "" {
		opts.Version = e.opts.AppVersion
	}
	w, err := StartWorker(e.client, register, opts)
	if err != nil {
		return nil, err
	}
	e.workers = append(e.workers, w)
	return w, nil
}
