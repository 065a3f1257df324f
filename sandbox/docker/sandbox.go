package docker

import (
	"context"
	"path"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/shtree"
)

// Sandbox is a container. It does files also in bulk (sandbox.Bulk).
type Sandbox struct {
	*shtree.Tree

	provider *Provider
	engine   *client.Client
	ref      sandbox.Ref
	user     string // whom commands run as, "" for root

	mu sync.Mutex
	// since tells the container's present run from another one.
	since string
}

var _ sandbox.Bulk = (*Sandbox)(nil)

func newSandbox(p *Provider, engine *client.Client, ref sandbox.Ref, user string) *Sandbox {
	s := &Sandbox{provider: p, engine: engine, ref: ref, user: user}
	s.Tree = shtree.New(s)
	return s
}

// Ref implements sandbox.Sandbox.
func (s *Sandbox) Ref() sandbox.Ref { return s.ref }

// Root implements sandbox.Sandbox.
func (s *Sandbox) Root() string { return s.ref.Root }

// Close implements sandbox.Sandbox. The connection is the provider's.
func (s *Sandbox) Close(context.Context) error { return nil }

// workDir makes the folder of a command absolute.
func (s *Sandbox) workDir(dir string) string {
	if path.IsAbs(dir) {
		return dir
	}
	return path.Join(s.ref.Root, dir)
}

// wake sees that the container runs. It is stopped when the engine or the
// machine was started anew, or by the user.
func (s *Sandbox) wake(ctx context.Context, op string) error {
	asking, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for try := 0; ; try++ {
		found, err := s.engine.ContainerInspect(asking, s.ref.ID)
		if err != nil {
			return s.wrap(ctx, op, err)
		}
		if _, ours := found.Config.Labels[labelSession]; !ours {
			return fail(sandbox.KindInvalid, op, "the container %.12s was not made by the app", s.ref.ID)
		}
		state := found.State
		switch {
		case state.Running && !state.Paused && !state.Restarting:
			s.mu.Lock()
			s.since = state.StartedAt
			s.mu.Unlock()
			return nil
		case state.Dead || state.Status == container.StateRemoving:
			return fail(sandbox.KindGone, op, "the container is being removed")
		case state.Paused:
			err = s.engine.ContainerUnpause(asking, s.ref.ID)
		default:
			err = s.engine.ContainerStart(asking, s.ref.ID, container.StartOptions{})
		}
		// What is just stopping can't be started yet, say.
		if err != nil && (!cerrdefs.IsConflict(err) || try >= 20) {
			return s.wrap(ctx, op, err)
		}
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
		if try > 20 {
			return advise(fail(sandbox.KindInvalid, op, "the container does not stay up: it is %s, with the code %d", state.Status, state.ExitCode),
				"Use an image that has the usual tools; this one may have no sleep.")
		}
	}
}

// wrap classifies an error of the engine; the end of the caller's context is the
// context's own error.
func (s *Sandbox) wrap(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return wrap(op, err)
}

// sameRun tells whether the container still runs, as it did when it was last
// woken.
func (s *Sandbox) sameRun(ctx context.Context) (bool, error) {
	found, err := s.engine.ContainerInspect(ctx, s.ref.ID)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return found.State.Running && found.State.StartedAt == s.since, nil
}
