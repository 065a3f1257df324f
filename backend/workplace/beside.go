package workplace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// Create makes a sandbox for a session beside the one that it has. It is not
// the session's until the session says so.
func (p *Places) Create(ctx context.Context, session string, place protocol.Place) (protocol.PrepareSandboxResult, error) {
	place.Sandbox = ""
	made, err := p.openNew(ctx, session, place)
	if err != nil {
		return protocol.PrepareSandboxResult{}, err
	}
	out := protocol.PrepareSandboxResult{
		Sandbox: made.Ref, Workspace: made.Sandbox.Root(), OwnWorkspace: made.Sandbox.Ref().OwnRoot, Confined: made.Confined,
	}
	return out, made.Sandbox.Close(ctx)
}

// Beside opens a place that need not be the session's own. The returned
// function closes it.
func (p *Places) Beside(ctx context.Context, session string, place protocol.Place) (*Place, func() error, error) {
	if place.Sandbox == "" {
		return nil, nil, errors.New("open a place: it has no sandbox yet")
	}
	p.mu.Lock()
	o, ok := p.open[session]
	p.mu.Unlock()
	if ok && isDone(o) && o.err == nil && o.ref == place.Sandbox {
		return o.place, func() error { return nil }, nil
	}
	opened, err := p.openNew(ctx, session, place)
	if err != nil {
		return nil, nil, err
	}
	return opened, func() error { return opened.Sandbox.Close(context.WithoutCancel(ctx)) }, nil
}

// Leave lets go of a place that a session has moved away from: what runs there
// is ended and, with remove, the sandbox is destroyed. What commands had put
// out is kept where it outlives the sandbox.
func (p *Places) Leave(ctx context.Context, session string, place protocol.Place, remove bool) error {
	if place.Sandbox == "" {
		return nil
	}
	backend, err := p.Backend(place.Backend)
	if err != nil {
		return err
	}
	opened, done, err := p.Beside(ctx, session, place)
	switch kind := sandbox.KindOf(err); {
	case kind == sandbox.KindGone || kind == sandbox.KindNotFound:
		return nil
	case err != nil:
		return err
	}
	err = opened.Journal.KillAll(ctx, session+".")
	if remove && err == nil {
		err = backend.Provider.Destroy(ctx, opened.Sandbox.Ref())
	}
	p.forgetRef(session, place.Sandbox)
	p.dropIndex(place.Sandbox)
	if err := errors.Join(err, done()); err != nil {
		return fmt.Errorf("leave the old place: %w", err)
	}
	return nil
}

// forgetRef drops a session's open place if it is this one.
func (p *Places) forgetRef(session, ref string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o, ok := p.open[session]; ok && isDone(o) && o.ref == ref {
		delete(p.open, session)
	}
}

// RefOf reads a session's reference to its sandbox.
func RefOf(place protocol.Place) (sandbox.Ref, error) {
	var ref sandbox.Ref
	if err := json.Unmarshal([]byte(place.Sandbox), &ref); err != nil {
		return ref, fmt.Errorf("read the sandbox's reference: %w", err)
	}
	return ref, nil
}
