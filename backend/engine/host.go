package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// HostOptions of StartHost.
type HostOptions struct {
	Options
	// Worker and Register say what the owner's worker serves.
	Worker   WorkerOptions
	Register func(worker.Registry)
	// Running is called in a goroutine of its own each time the engine runs,
	// with a context that ends when this hold on it does. May be nil.
	Running func(ctx context.Context, e *Engine)
	// Changed is called with every change of the state. May be nil.
	Changed func(HostStatus)
	// HostLog takes what the host itself has to say; nil is nothing. The engine
	// has a log of its own, see Options.
	HostLog *slog.Logger
}

// HostState is what a Host is doing.
type HostState string

// The states of a host.
const (
	HostStarting   HostState = "starting"
	HostRunning    HostState = "running"
	HostAttached   HostState = "attached"
	HostRecovering HostState = "recovering" // the owner ended: taking over
	HostFailed     HostState = "failed"     // Err says why; Client fails
	HostClosed     HostState = "closed"
)

// HostStatus is the state of a host for people to see.
type HostStatus struct {
	State   HostState
	Err     error
	Notices []Notice
	Since   time.Time
}

// Host keeps the engine of a data folder open for as long as the process
// wants it: as owner with a worker, or attached to the owner; and when the
// owner ends, it opens it anew and may be the next one.
type Host struct {
	opts   HostOptions
	log    *slog.Logger
	cancel context.CancelFunc
	ended  chan struct{}
	again  chan struct{} // see Retry

	mu     sync.Mutex
	status HostStatus
	engine *Engine
	// turned is closed and replaced whenever status changes.
	turned chan struct{}
}

// StartHost begins to open the engine and returns at once; Client waits for it.
// The context ends the host, as Close does.
func StartHost(ctx context.Context, opts HostOptions) *Host {
	ctx, cancel := context.WithCancel(ctx)
	h := &Host{
		opts: opts, log: opts.HostLog, cancel: cancel,
		ended: make(chan struct{}), again: make(chan struct{}, 1), turned: make(chan struct{}),
		status: HostStatus{State: HostStarting, Since: time.Now()},
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	go h.run(ctx)
	return h
}

// closeWait bounds the end of one hold on the engine.
const closeWait = 3 * time.Second

func (h *Host) run(ctx context.Context) {
	defer close(h.ended)
	defer h.set(HostStatus{State: HostClosed}, nil)
	for ctx.Err() == nil {
		e, err := h.open(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			h.log.Error("the engine can't be opened", "error", err)
			h.set(HostStatus{State: HostFailed, Err: err}, nil)
			select {
			case <-ctx.Done():
				return
			case <-h.again:
			}
			continue
		}
		h.hold(ctx, e)
	}
}

// open opens the engine and, as owner, has a worker running.
func (h *Host) open(ctx context.Context) (*Engine, error) {
	e, err := Open(ctx, h.opts.Options)
	if err != nil {
		return nil, err
	}
	if e.Role() != RoleOwner {
		return e, nil
	}
	if err := h.work(ctx, e); err != nil {
		return nil, errors.Join(err, h.close(ctx, e))
	}
	return e, nil
}

func (h *Host) work(ctx context.Context, e *Engine) error {
	reaped, err := e.Reap(ctx)
	if err != nil {
		// What is left started times out by itself: slower, but not lost.
		h.log.Warn("what a lost process left could not all be handed back", "error", err)
	}
	h.log.Info("handed back what was at work", "activities", reaped.Activities, "tasks", reaped.Tasks)
	_, err = e.StartWorker(h.opts.Register, h.opts.Worker)
	return err
}

// hold keeps one hold on the engine until the host or the engine ends.
func (h *Host) hold(ctx context.Context, e *Engine) {
	running, stop := context.WithCancel(ctx)
	var side sync.WaitGroup
	if h.opts.Running != nil {
		side.Go(func() { h.opts.Running(running, e) })
	}
	state := HostRunning
	if e.Role() == RoleAttached {
		state = HostAttached
	}
	h.set(HostStatus{State: state, Notices: e.Notices()}, e)
	select {
	case <-ctx.Done():
	case <-e.OwnerGone():
		h.log.Info("the process that owned the engine has ended: taking over")
	case <-e.Failed():
		h.log.Error("the engine failed: opening it again", "error", e.FailedWith())
	}
	if ctx.Err() == nil {
		h.set(HostStatus{State: HostRecovering}, nil)
	}
	stop()
	if err := h.close(ctx, e); err != nil {
		h.log.Warn("the engine did not end cleanly", "error", err)
	}
	side.Wait()
}

func (h *Host) close(ctx context.Context, e *Engine) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	return e.Close(ctx)
}

func (h *Host) set(status HostStatus, e *Engine) {
	h.mu.Lock()
	status = h.become(status, e)
	h.mu.Unlock()
	if h.opts.Changed != nil {
		h.opts.Changed(status)
	}
}

// turn sets a status without an engine if the state is from, and tells whether
// it was.
func (h *Host) turn(from HostState, status HostStatus) bool {
	h.mu.Lock()
	was := h.status.State == from
	if was {
		status = h.become(status, nil)
	}
	h.mu.Unlock()
	if was && h.opts.Changed != nil {
		h.opts.Changed(status)
	}
	return was
}

// become is called with the lock held.
func (h *Host) become(status HostStatus, e *Engine) HostStatus {
	status.Since = time.Now()
	h.status, h.engine = status, e
	close(h.turned)
	h.turned = make(chan struct{})
	return status
}

// Retry opens the engine again after it could not be opened, and returns at
// once; Engine waits for it. In any other state there is nothing to do.
func (h *Host) Retry() {
	// Of two calls at once only one finds it failed.
	if !h.turn(HostFailed, HostStatus{State: HostStarting}) {
		return
	}
	select {
	case h.again <- struct{}{}:
	default:
	}
}

// Status is what the host is doing now.
func (h *Host) Status() HostStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// Engine waits until the engine can be used and returns it. It may be closed a
// moment later, when its owner ends: then ask again.
func (h *Host) Engine(ctx context.Context) (*Engine, error) {
	for {
		h.mu.Lock()
		e, status, turned := h.engine, h.status, h.turned
		h.mu.Unlock()
		switch {
		case e != nil:
			return e, nil
		case status.State == HostFailed:
			return nil, status.Err
		case status.State == HostClosed:
			return nil, ErrClosed
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-turned:
		}
	}
}

// Client is the client of Engine.
func (h *Host) Client(ctx context.Context) (client.Client, error) {
	e, err := h.Engine(ctx)
	if err != nil {
		return nil, err
	}
	return e.Client(), nil
}

// Close ends the hold on the engine: workers first, then the server of an
// owner. What is running goes on at the next start.
func (h *Host) Close(ctx context.Context) error {
	h.cancel()
	select {
	case <-h.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the engine: %w", ctx.Err())
	}
}
