// Package engine runs the Temporal server inside the app, one per data folder,
// and makes the clients and workers of it.
//
// The first process that opens a data folder owns its engine: it runs the
// server and the worker. Later ones attach to it. When the owner ends in
// whatever way, OwnerGone tells those who are attached; whoever opens the
// folder first is the next owner and goes on with what was running.
//
// The server is go.temporal.io/server, the module that the Temporal command
// line tool wraps as its development server, put together as small as that
// tool does it.
package engine

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	dc "go.temporal.io/server/common/dynamicconfig"
)

// Role says what a process is to the engine of its data folder.
type Role string

// The roles.
const (
	RoleOwner    Role = "owner"    // runs the server
	RoleAttached Role = "attached" // uses another process's server
)

// DefaultWait is how long Open waits for another process that is starting.
const DefaultWait = 15 * time.Second

// Options of Open. Only DataDir is needed.
type Options struct {
	// DataDir is the data folder; the engine keeps to DataDir/engine, which it
	// makes and closes to other users.
	DataDir string
	// AppVersion is written beside the database and told to the workers.
	AppVersion string
	// Namespace of the workflows; DefaultNamespace if empty.
	Namespace string
	// Log takes the log of server, client and workers; if nil it goes to
	// DataDir/engine/engine.log from LogLevel on.
	Log *slog.Logger
	// LogLevel of the log file; warnings and errors if nil.
	LogLevel slog.Leveler
	// Wait is how long to wait for another process that holds the folder but
	// can't be reached yet; DefaultWait if 0.
	Wait time.Duration
	// LongRun is the number of events from which a run of a workflow is told to
	// continue as new; DefaultLongRun if 0.
	LongRun int

	// What tests fix.
	pick     func(context.Context) (ports, error)
	now      func() time.Time
	settings dc.StaticClient
}

func (o *Options) setDefaults() {
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if o.AppVersion == "" {
		o.AppVersion = "dev"
	}
	if o.LogLevel == nil {
		o.LogLevel = slog.LevelWarn
	}
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	if o.pick == nil {
		o.pick = freePorts
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.LongRun == 0 {
		o.LongRun = DefaultLongRun
	}
	if o.settings == nil {
		o.settings = settings(o.LongRun)
	}
}

// Engine is one process's hold on the engine of a data folder. Its methods may
// be called from any goroutine.
type Engine struct {
	opts    Options
	paths   paths
	role    Role
	link    link
	client  client.Client
	log     *slog.Logger
	logFile *os.File
	notices []Notice
	gone    chan struct{}

	// Of the owner only. What was started before owned was started by a process
	// that is gone.
	owned  time.Time
	lock   *ownership
	server *server
	db     *database

	mu      sync.Mutex
	file    runtimeFile
	workers []*Worker
	ui      *devUI
	closed  bool
	// done ends what runs in the background.
	done chan struct{}
	wg   sync.WaitGroup
}

// Open takes hold of the engine of a data folder, as its owner if nobody owns
// it yet. The context is for opening only.
//
// Errors: *UnwritableError, *DiskFullError, *BusyError, or the context's.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	opts.setDefaults()
	p, err := preparePaths(opts.DataDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		opts: opts, paths: p, log: opts.Log,
		gone: make(chan struct{}), done: make(chan struct{}),
	}
	if e.log == nil {
		if e.log, e.logFile, err = openLog(p, opts.LogLevel); err != nil {
			return nil, err
		}
	}
	if err := e.open(ctx); err != nil {
		e.closeLog()
		return nil, err
	}
	return e, nil
}

// retryAfter is the pause between two looks at an engine that is starting or
// ending.
const retryAfter = 20 * time.Millisecond

// open becomes the owner, or attaches, or waits: whoever holds the lock may
// still be starting, or be about to end.
func (e *Engine) open(ctx context.Context) error {
	nonce := make([]byte, 8)
	if _, err := rand.Read(nonce); err != nil {
		return fmt.Errorf("open the engine: %w", err)
	}
	id := hex.EncodeToString(nonce)
	begin := time.Now()
	for {
		lock, err := takeOwnership(e.paths)
		if err != nil {
			return err
		}
		if lock != nil {
			if err := e.own(ctx, lock, id); err != nil {
				_ = lock.release()
				return err
			}
			return nil
		}
		attachErr := e.attach(ctx, id)
		if attachErr == nil {
			return nil
		}
		if waited := time.Since(begin); waited > e.opts.Wait {
			last, _ := readRuntime(e.paths)
			return &BusyError{Dir: e.opts.DataDir, PID: last.PID, Waited: waited, Err: attachErr}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("open the engine: %w", ctx.Err())
		case <-time.After(retryAfter):
		}
	}
}

// identity names this hold on the engine in Temporal's records. It is never
// used again, not even by a process with the same id.
func (e *Engine) identity(id string) string {
	return fmt.Sprintf("%d@temporal-sandbox-agent-%s", os.Getpid(), id)
}

// Role tells whether this process runs the server.
func (e *Engine) Role() Role { return e.role }

// Notices are what the user must be told about the start.
func (e *Engine) Notices() []Notice { return e.notices }

// Client is the SDK client of the engine. Close closes it.
func (e *Engine) Client() client.Client { return e.client }

// OwnerGone is closed when the process that this one is attached to no longer
// owns the engine, within ownerPoll. What to do then: Close and Open again. It
// is never closed for an owner.
func (e *Engine) OwnerGone() <-chan struct{} { return e.gone }

// Failed is closed when the server of an owner can't go on; FailedWith says
// why. What to do then: Close and Open again.
func (e *Engine) Failed() <-chan struct{} {
	if e.server == nil {
		return nil
	}
	return e.server.failed.set
}

// FailedWith is the reason after Failed was closed, nil before.
func (e *Engine) FailedWith() error {
	select {
	case <-e.Failed():
		return e.server.failed.err
	default:
		return nil
	}
}

// OwnerPID is the process that runs the server.
func (e *Engine) OwnerPID() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file.PID
}

// SetEventsAddress publishes where the owner serves live events to the
// processes that attach. Only the owner may call it.
func (e *Engine) SetEventsAddress(addr string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case e.role != RoleOwner:
		return ErrNotOwner
	}
	e.file.Events = addr
	return e.file.write(e.paths)
}

// EventsAddress is what the owner published, empty if nothing yet.
func (e *Engine) EventsAddress() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.role == RoleAttached && !e.closed {
		if f, err := readRuntime(e.paths); err == nil && f.ID == e.file.ID {
			e.file = f
		}
	}
	return e.file.Events
}

// Secret is a key that the processes of this data folder share and others
// can't know, for one purpose: with it the owner tells them apart where it
// serves events. It does not reveal the engine's token.
func (e *Engine) Secret(purpose string) string {
	mac := hmac.New(sha256.New, []byte(e.link.token))
	mac.Write([]byte(purpose))
	return hex.EncodeToString(mac.Sum(nil))
}

// Close stops the workers and, for an owner, the server, and gives the data
// folder back. An activity that was cut short is told by Reap at the next
// start. When the context ends first, Close returns its error and what is left
// goes on in the background.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()

	ended := make(chan error, 1)
	go func() { ended <- e.shutDown(context.WithoutCancel(ctx)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return fmt.Errorf("close the engine: %w", ctx.Err())
	}
}

func (e *Engine) shutDown(ctx context.Context) error {
	close(e.done)
	var errs []error
	// Nobody adds to these after closed was set.
	if e.ui != nil {
		errs = append(errs, e.ui.close())
	}
	for _, w := range e.workers {
		w.Stop()
	}
	e.wg.Wait()
	e.client.Close()
	if e.role == RoleOwner {
		errs = append(errs, e.disown(ctx))
	}
	e.closeLog()
	return errors.Join(errs...)
}

func (e *Engine) closeLog() {
	if e.logFile != nil {
		_ = e.logFile.Close()
	}
}
