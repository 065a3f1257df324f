// Package backend puts the product together: it is the one place that knows
// all parts. The window and the command line call what it returns.
package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"temporal-sandbox-agent/backend/activity"
	"temporal-sandbox-agent/backend/config"
	"temporal-sandbox-agent/backend/engine"
	"temporal-sandbox-agent/backend/event"
	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/backend/transcript"
	"temporal-sandbox-agent/backend/workflow"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/docker"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

// Config says how to open the product. The zero value opens it as a user would.
type Config struct {
	// DataDir keeps everything in this folder; empty is the user's own.
	DataDir string
	Version string
	// StoreOnly opens no engine: for commands that only read.
	StoreOnly bool
	// Model is the default model of this process, before that of the settings.
	Model string
	// Trace decides the tracing of this process, before the settings.
	Trace trace.Mode
	// DemoPace is the demo's pause after each word; 0 is none.
	DemoPace time.Duration
	// StickyCache is how many workflows are kept in memory; 0 is the default
	// and engine.NoStickyCache none.
	StickyCache int
	// LongRun is the number of events from which a session's workflow continues
	// as new; engine.DefaultLongRun if 0.
	LongRun int
	// WebView loads what draws the window and tells what hinders; nil where it
	// is a part of the program.
	WebView func() error
}

// Backend is the open product.
type Backend struct {
	Sessions *session.Service
	Models   *llm.Registry
	Places   *workplace.Places

	config     Config
	paths      config.Paths
	settings   *config.SettingsStore
	keys       *config.Keys
	store      *store.SQLite
	events     *event.Bus
	tracer     trace.Tracer
	host       *engine.Host
	announced  []announced
	containers containers
	check      func(root string) error
	prune      func(context.Context, journal.Retention) (int, error)
	notices    []string
	closers    []func(context.Context) error
	log        *slog.Logger
	closeLog   func() error // nil without a log
}

// New opens the product. It returns before the engine runs: what needs it
// waits.
func New(ctx context.Context, c Config) (*Backend, error) {
	paths, err := config.FindPaths(c.DataDir)
	if err != nil {
		return nil, err
	}
	b := &Backend{config: c, paths: paths, events: &event.Bus{}, log: slog.New(slog.DiscardHandler)}
	objects, notices, err := store.Open(ctx, filepath.Join(paths.Data, "store"))
	if err != nil {
		return nil, storeFault(err)
	}
	b.store = objects
	// Without a log the app works all the same: say, on a full disk.
	if log, done, err := config.OpenLog(paths, slog.LevelInfo, b.redact); err == nil {
		b.log, b.closeLog = log, done
	}
	for _, n := range notices {
		b.notices = append(b.notices, n.Text())
	}
	if err := b.wire(ctx); err != nil {
		return nil, errors.Join(err, b.closeParts(ctx))
	}
	if !c.StoreOnly {
		b.startEngine(ctx)
	}
	return b, nil
}

// redact keeps keys out of the log.
func (b *Backend) redact(text string) string {
	if b.keys == nil {
		return text // not read yet
	}
	return b.keys.Redact(text)
}

// wire makes the parts and puts them together.
func (b *Backend) wire(ctx context.Context) error {
	var err error
	if b.settings, err = config.OpenSettings(b.paths); err != nil {
		return err
	}
	b.notices = append(b.notices, b.settings.Notices()...)
	b.keys = config.NewKeys(b.paths)
	backends := b.backends()
	b.Places = workplace.New(backends...)
	b.Places.IndexDir = filepath.Join(b.paths.Data, "trees")
	b.Models = llm.NewRegistry(llm.Config{
		Settings: func() llm.Settings { return b.modelSettings(ctx) },
		DemoPace: b.config.DemoPace,
	})
	if b.tracer, err = b.openTracer(ctx); err != nil {
		return err
	}
	index := store.NewTextIndex(filepath.Join(b.paths.Data, "store"))
	b.closers = append(b.closers, func(context.Context) error { return index.Close() })
	conversations := transcript.New(b.store, transcript.WithIndex(index))
	b.Sessions = &session.Service{
		Engine:     engineOf{b},
		Transcript: conversations,
		Objects:    b.store,
		Snapshots:  b.store,
		Places:     b.Places,
		Stopper:    b.Places,
		Defaults:   b,
		Log:        b.log,
		Forget:     b.forget,
	}
	return nil
}

// backends are the places where sessions can work, in the order of the picker.
func (b *Backend) backends() []workplace.Backend {
	provider := local.New(local.Config{
		WorkspacesDir: filepath.Join(b.paths.Data, "workspaces"),
		StateDir:      filepath.Join(b.paths.Data, "journal"),
		Scrub:         b.keys.SecretNames(),
		Holder:        true,
	})
	b.closers = append(b.closers, func(context.Context) error { return provider.Close() })
	b.check = provider.Check
	b.prune = func(ctx context.Context, r journal.Retention) (int, error) { return provider.Journal().Prune(ctx, r) }
	containers := docker.New(docker.Config{
		Owner:    b.owner(),
		Progress: b.tellPull,
	})
	b.closers = append(b.closers, func(context.Context) error { return containers.Close() })
	b.containers = containers
	b.announced = []announced{
		{"e2b", "E2B", "A sandbox in the cloud", later()},
		{"daytona", "Daytona", "A sandbox in the cloud", later()},
	}
	return []workplace.Backend{{
		Provider: provider,
		Label:    "Local",
		Blurb:    "A folder on this machine",
		Folders:  true,
		Journal:  func(sb sandbox.Sandbox) (workplace.Journal, error) { return journal.Open(sb), nil },
		Shared:   func() workplace.Journal { return provider.Journal() },
	}, {
		Provider: containers,
		Label:    "Docker",
		Blurb:    "A container on this machine",
		Image:    docker.DefaultImage,
		Journal:  func(sb sandbox.Sandbox) (workplace.Journal, error) { return journal.Open(sb), nil },
	}}
}

// tellPull tells who watches a session how far the pull of its image is.
func (b *Backend) tellPull(p docker.Progress) {
	b.events.Publish(protocol.Event{Type: protocol.EventProgress, SessionID: p.Session, Progress: &protocol.Progress{
		ID: "pull-" + p.Session, Text: p.Text, Done: p.Done, Total: p.Total, End: p.Ended,
	}})
}

// containers is what the app wants of the Docker engine beside sandboxes.
type containers interface {
	Images(ctx context.Context) ([]string, error)
	Sweep(ctx context.Context, age time.Duration, keep func(session, containerID string) bool) (int, error)
}

// later is the probe of a backend that this version has nothing of.
func later() func(context.Context) sandbox.Availability {
	return func(context.Context) sandbox.Availability { return sandbox.Availability{} }
}

// modelSettings is what the user chose of models, read anew for each use.
func (b *Backend) modelSettings(ctx context.Context) llm.Settings {
	settings := b.settings.Get()
	openAI := b.keys.OpenAI(ctx)
	out := llm.Settings{
		OpenAI: llm.OpenAISettings{
			Key: openAI.Key, BaseURL: openAI.BaseURL, Organization: openAI.Organization, Project: openAI.Project,
		},
		Provider: settings.Provider,
		Model:    cmp.Or(b.config.Model, settings.Model),
	}
	if b.config.Model == "" {
		out.OpenAI.Model = b.keys.Get(ctx, config.KeyModel)
	}
	for _, e := range settings.Endpoints {
		out.Endpoints = append(out.Endpoints, llm.Endpoint{
			Name: e.Name, Label: e.Name, BaseURL: e.URL, Key: b.keys.Get(ctx, config.EndpointKey(e)),
		})
	}
	return out
}

// SessionDefaults implements session.Defaults.
func (b *Backend) SessionDefaults() protocol.Settings {
	settings := b.settings.Get()
	// The provider and the model are resolved when a turn begins, so that a new
	// key counts for the sessions that are there.
	settings.Provider, settings.Model = "", ""
	return settings
}

// engineOf gives the engine's client to the session service.
type engineOf struct{ b *Backend }

// Client implements session.Engine.
func (e engineOf) Client(ctx context.Context) (client.Client, error) {
	if e.b.host == nil {
		return nil, &protocol.Fault{Class: protocol.ClassUnavailable, Happened: "This command runs without the engine"}
	}
	c, err := e.b.host.Client(ctx)
	if err != nil {
		return nil, engineFault(err)
	}
	return c, nil
}

// startEngine begins to open the engine.
func (b *Backend) startEngine(ctx context.Context) {
	activities := &activity.Activities{
		Transcript: b.Sessions.Transcript,
		Objects:    b.store,
		Snapshots:  b.store,
		Models:     b.Models,
		Tools:      tool.NewSet(),
		Places:     b.Places,
		Events:     b.events,
		Tracer:     b.tracer,
		Log:        b.log,
		Now:        time.Now,
	}
	known := make(chan struct{}) // closed when b.host is set
	b.host = engine.StartHost(ctx, engine.HostOptions{
		Options: engine.Options{DataDir: b.paths.Data, AppVersion: b.config.Version, LongRun: b.config.LongRun},
		Worker:  engine.WorkerOptions{TaskQueue: protocol.TaskQueue, StickyCache: b.config.StickyCache},
		Register: func(r worker.Registry) {
			workflow.Register(r)
			activities.Register(r)
		},
		Running: func(ctx context.Context, e *engine.Engine) {
			<-known
			b.engineRuns(ctx, e)
		},
		HostLog: b.log,
		Changed: b.tellEngine,
	})
	close(known)
}

// engineRuns is what is done beside the engine while it runs: an owner gives
// its events to other processes, one that is attached takes them.
func (b *Backend) engineRuns(ctx context.Context, e *engine.Engine) {
	if e.Role() == engine.RoleAttached {
		b.takeEvents(ctx, e)
		return
	}
	go b.tidy(ctx)
	if err := b.serveEvents(ctx, e); err != nil {
		b.log.Error("other windows of this app get no live events", "error", err)
	}
}

// eventsPurpose names the key with which processes watch each other's events.
const eventsPurpose = "events"

func (b *Backend) takeEvents(ctx context.Context, e *engine.Engine) {
	watcher := event.NewClient(func(context.Context) (string, string, error) {
		return e.EventsAddress(), e.Secret(eventsPurpose), nil
	})
	for batch := range watcher.Subscribe(ctx, event.Filter{}) {
		for _, ev := range batch {
			b.events.Publish(ev)
		}
	}
}

func (b *Backend) serveEvents(ctx context.Context, e *engine.Engine) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for other windows: %w", err)
	}
	server := &http.Server{
		Handler: event.NewHandler(b.events, e.Secret(eventsPurpose), func(ctx context.Context, session string) error {
			return b.Places.Kill(ctx, session, session+".")
		}),
		ReadHeaderTimeout: 5 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := e.SetEventsAddress("http://" + listener.Addr().String()); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve other windows: %w", err)
	}
	return nil
}

// tidyAfter is when the owner looks whether everything is in its place: not at
// the start, which should be quick.
const tidyAfter = 2 * time.Second

func (b *Backend) tidy(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(tidyAfter):
	}
	if err := b.Sessions.Transcript.Reindex(ctx); err != nil && ctx.Err() == nil {
		b.log.Warn("the index of the search could not be brought up to date", "error", err)
	}
	done, err := b.Sessions.Reconcile(ctx)
	if err != nil && ctx.Err() == nil {
		b.log.Warn("the sessions could not all be looked at", "error", err)
	}
	if done != (session.Reconciled{}) {
		b.log.Info("sessions were set right", "what", done)
	}
	if err := b.Sessions.Nudge(ctx, false); err != nil && ctx.Err() == nil {
		b.log.Warn("turns that wait could not all be told to try again", "error", err)
	}
	go b.watchClock(ctx)
	go b.sweepLoop(ctx)
	b.PruneOutput(ctx, KeptOutput{Age: keptAge, Newest: keptNewest})
}

// Watch gives the live events of a session.
func (b *Backend) Watch(ctx context.Context, id string) <-chan []protocol.Event {
	return b.events.Subscribe(ctx, event.Filter{Session: id})
}

// WatchAll gives the records of all sessions and the state of the engine.
func (b *Backend) WatchAll(ctx context.Context) <-chan []protocol.Event {
	out := make(chan []protocol.Event)
	go func() {
		defer close(out)
		for batch := range b.events.Subscribe(ctx, event.Filter{}) {
			batch = slices.DeleteFunc(batch, func(e protocol.Event) bool {
				switch e.Type {
				case protocol.EventItem, protocol.EventDelta, protocol.EventOutput, protocol.EventFiles:
					return true
				default:
					return false
				}
			})
			if len(batch) == 0 {
				continue
			}
			select {
			case out <- batch:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// Notices are what the user must be told about the start.
func (b *Backend) Notices() []string { return slices.Concat(b.notices, b.keys.Notices()) }

// Close ends the product: the worker, the engine if this process owns it, what
// waits to be sent, the store. Commands that run go on, and so do their turns
// at the next start.
func (b *Backend) Close(ctx context.Context) error {
	var errs []error
	if b.host != nil {
		errs = append(errs, b.host.Close(ctx))
	}
	errs = append(errs, b.tracer.Close(ctx), b.closeParts(ctx))
	return errors.Join(errs...)
}

// closeParts closes what wire has opened so far.
func (b *Backend) closeParts(ctx context.Context) error {
	var errs []error
	for _, c := range b.closers {
		errs = append(errs, c(ctx))
	}
	if b.Models != nil {
		b.Models.Close()
	}
	errs = append(errs, b.store.Close())
	if b.closeLog != nil {
		errs = append(errs, b.closeLog())
	}
	return errors.Join(errs...)
}
