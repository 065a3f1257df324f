// Package workplace opens the sandbox of a session, with its journal, once per
// process, and says which backends there are.
package workplace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// Journal runs a sandbox's commands exactly once and can end them.
type Journal interface {
	tool.Commands
	// List returns the running commands whose call ids begin with prefix.
	List(ctx context.Context, prefix string) ([]journal.Command, error)
	// KillAll ends the running commands whose call id begins with prefix.
	KillAll(ctx context.Context, prefix string) error
	// Forget removes what is kept of those that ended.
	Forget(ctx context.Context, prefix string) error
}

// Backend is one kind of sandbox with what the picker says of it.
type Backend struct {
	Provider sandbox.Provider
	Label    string
	Blurb    string
	// Folders is true where a session can work in a folder that the user picked.
	Folders bool
	// Image is the container image that is taken when none is named, empty where
	// there are no images.
	Image string
	// Journal opens the journal of one of its sandboxes.
	Journal func(sandbox.Sandbox) (Journal, error)
	// Shared opens the journal that all of its sandboxes share, which outlives
	// them; nil where commands and journal go with their sandbox.
	Shared func() Journal
}

// Place is an open sandbox.
type Place struct {
	Sandbox  sandbox.Sandbox
	Journal  Journal
	Confined bool
	// Ref is the sandbox's reference as text, for the session's record.
	Ref string
}

// Env is what the tools may know of the place.
func (p *Place) Env() tool.Env {
	return tool.Env{Backend: p.Sandbox.Ref().Backend, Root: p.Sandbox.Root(), Confined: p.Confined}
}

// Places keeps the sandboxes that are open in this process.
type Places struct {
	// IndexDir is a folder for what snapshots remember of the files; empty is
	// none.
	IndexDir string

	backends []Backend

	mu   sync.Mutex
	open map[string]*opening
}

// opening is a place that is open or being opened; done is closed when it is.
type opening struct {
	ref   string
	done  chan struct{}
	place *Place
	err   error
}

// New returns Places over the given backends, in the order of the picker.
func New(backends ...Backend) *Places {
	return &Places{backends: backends, open: map[string]*opening{}}
}

// Backends returns the backends in the order of the picker.
func (p *Places) Backends() []Backend { return p.backends }

// Backend returns the backend of a name.
func (p *Places) Backend(name string) (Backend, error) {
	at := slices.IndexFunc(p.backends, func(b Backend) bool { return b.Provider.Name() == name })
	if at < 0 {
		return Backend{}, &protocol.Fault{
			Class: protocol.ClassUnavailable, Happened: fmt.Sprintf("This version can't work on the backend %q", name), Remedy: "Choose another backend.",
		}
	}
	return p.backends[at], nil
}

// Open returns the session's sandbox: the one that is open already, the one
// that its reference names, or a new one. Two callers at a time get the same.
func (p *Places) Open(ctx context.Context, session string, place protocol.Place) (*Place, error) {
	for {
		opened, joined, err := p.join(ctx, session, place)
		if !joined || ctx.Err() != nil || err == nil && (place.Sandbox == "" || opened.Ref == place.Sandbox) {
			return opened, err
		}
		// Who opened it gave up, or opened another place, where the session was or
		// will be: that is not our answer.
	}
}

// join opens a session's place, or waits for who opens it.
func (p *Places) join(ctx context.Context, session string, place protocol.Place) (opened *Place, joined bool, err error) {
	p.mu.Lock()
	o, ok := p.open[session]
	if ok && place.Sandbox != "" && o.ref != place.Sandbox && isDone(o) {
		ok = false // the session moved: open it where it is now
	}
	joined = ok
	if !ok {
		o = &opening{ref: place.Sandbox, done: make(chan struct{})}
		p.open[session] = o
		p.mu.Unlock()
		o.place, o.err = p.openNew(ctx, session, place)
		p.mu.Lock()
		if o.err != nil {
			if p.open[session] == o {
				delete(p.open, session)
			}
		} else {
			o.ref = o.place.Ref
		}
		close(o.done)
	}
	p.mu.Unlock()
	select {
	case <-o.done:
		return o.place, joined, o.err
	case <-ctx.Done():
		return nil, joined, ctx.Err()
	}
}

func isDone(o *opening) bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

func (p *Places) openNew(ctx context.Context, session string, place protocol.Place) (*Place, error) {
	backend, err := p.Backend(place.Backend)
	if err != nil {
		return nil, err
	}
	var sb sandbox.Sandbox
	if place.Sandbox == "" {
		sb, err = backend.Provider.Create(ctx, sandbox.Spec{
			Session: session, Root: place.Workspace, Folder: place.Folder, Image: place.Image,
		})
		// Somebody waits for it who can choose another backend: no use to try for
		// long.
		if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Kind == sandbox.KindUnavailable {
			err = &protocol.Fault{
				Class: protocol.ClassUnavailable, Happened: "No sandbox could be made on " + place.Backend,
				Remedy: e.Remedy, Detail: e.Error(),
			}
		}
	} else {
		var ref sandbox.Ref
		if ref, err = RefOf(place); err != nil {
			return nil, err
		}
		sb, err = backend.Provider.Attach(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	commands, err := backend.Journal(sb)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	ref, err := json.Marshal(sb.Ref())
	if err != nil {
		return nil, fmt.Errorf("write the sandbox's reference: %w", err)
	}
	return &Place{Sandbox: sb, Journal: commands, Confined: backend.Provider.Probe(ctx).Confined, Ref: string(ref)}, nil
}

// Forget drops an open place, so that the next Open attaches anew. Call it when
// a sandbox turned out to be gone.
func (p *Places) Forget(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o, ok := p.open[session]; ok && isDone(o) {
		delete(p.open, session)
	}
}

// Release ends what the session has running and forgets what it had run: the
// session is over. With remove, the sandbox is
// destroyed and a folder that we made is deleted.
func (p *Places) Release(ctx context.Context, session string, place protocol.Place, remove bool) error {
	if place.Sandbox == "" {
		return nil // never made
	}
	opened, err := p.Open(ctx, session, place)
	if sandbox.KindOf(err) == sandbox.KindGone || sandbox.KindOf(err) == sandbox.KindNotFound {
		// Somebody removed the folder; what runs, or ran, in it is still there.
		backend, err := p.Backend(place.Backend)
		if err != nil || backend.Shared == nil {
			return err
		}
		return endCommands(ctx, backend.Shared(), session)
	}
	if err != nil {
		return err
	}
	defer p.Forget(session)
	if err := endCommands(ctx, opened.Journal, session); err != nil {
		return err
	}
	p.dropIndex(place.Sandbox)
	if !remove {
		return opened.Sandbox.Close(ctx)
	}
	backend, err := p.Backend(place.Backend)
	if err != nil {
		return err
	}
	return backend.Provider.Destroy(ctx, opened.Sandbox.Ref())
}

// endCommands ends what a session has running and forgets what it ran.
func endCommands(ctx context.Context, j Journal, session string) error {
	if err := j.KillAll(ctx, session+"."); err != nil {
		return fmt.Errorf("end the session's commands: %w", err)
	}
	if err := j.Forget(ctx, session+"."); err != nil {
		return fmt.Errorf("forget the session's commands: %w", err)
	}
	return nil
}

// Kill ends at once what a session has running in this process's reach. It is
// the quick way of Stop, beside the durable one through the workflow.
func (p *Places) Kill(ctx context.Context, session, prefix string) error {
	p.mu.Lock()
	o, ok := p.open[session]
	p.mu.Unlock()
	if !ok || !isDone(o) || o.err != nil {
		return nil
	}
	return o.place.Journal.KillAll(ctx, prefix)
}
