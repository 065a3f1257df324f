package docker

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
)

//go:embed scripts/prepare.sh
var prepareScript string

// Provider makes sandboxes that are containers.
type Provider struct {
	cfg Config
	env environment

	mu     sync.Mutex
	engine *client.Client // nil until it was needed
}

var _ sandbox.Provider = (*Provider)(nil)

// New returns a provider. It looks for the engine when it is needed. Close it in
// the end.
func New(cfg Config) *Provider {
	return &Provider{cfg: cfg, env: cfg.environment()}
}

// Close lets go of the engine. Containers live on.
func (p *Provider) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine == nil {
		return nil
	}
	err := p.engine.Close()
	p.engine = nil
	return wrap("close", err)
}

// Name implements sandbox.Provider.
func (p *Provider) Name() string { return Name }

// Probe implements sandbox.Provider.
func (p *Provider) Probe(ctx context.Context) sandbox.Availability { return p.env.probe(ctx) }

// client returns the engine's client. The engine is the first that answers; from
// then on it is that one, also while it does not answer.
func (p *Provider) client(ctx context.Context, op string) (*client.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine != nil {
		return p.engine, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	place, a := p.env.find(ctx)
	if !a.OK {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, advise(fail(sandbox.KindUnavailable, op, "%s", a.Reason), a.Remedy)
	}
	engine, err := place.client()
	if err != nil {
		return nil, wrap(op, err)
	}
	p.engine = engine
	return engine, nil
}

// data is what a Ref of ours carries.
type data struct {
	Image string `json:"image,omitempty"`
	// User is whom commands run as; empty is root.
	User string `json:"user,omitempty"`
}

// Create implements sandbox.Provider. An image that the engine does not have is
// pulled, which may take minutes. Root and Folder of the Spec are not used: a
// container has a fresh workspace of its own.
func (p *Provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	const op = "create sandbox"
	engine, err := p.client(ctx, op)
	if err != nil {
		return nil, err
	}
	for variable, value := range spec.Env {
		if variable == "" || strings.ContainsAny(variable, "=\x00") || strings.Contains(value, "\x00") || !text([]string{variable, value}) {
			return nil, fail(sandbox.KindInvalid, op, "%q can't be a variable of all commands", variable)
		}
	}
	name := spec.Image
	if name == "" {
		name = p.cfg.Image
	}
	if name == "" {
		name = DefaultImage
	}
	image, err := p.image(ctx, engine, spec.Session, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	limits, err := p.limits(ctx, engine)
	if err != nil {
		return nil, err
	}
	config, host := p.container(spec, name, limits)
	made, err := engine.ContainerCreate(ctx, config, host, nil, nil, "")
	if err != nil {
		if cerrdefs.IsNotFound(err) { // removed since it was looked at
			return nil, fail(sandbox.KindNotFound, op, "the image %s: %w", name, err)
		}
		return nil, wrap(op, err)
	}
	raw, err := json.Marshal(data{Image: name, User: image.user})
	if err != nil {
		return nil, wrap(op, err)
	}
	ref := sandbox.Ref{Backend: Name, ID: made.ID, Root: Root, OwnRoot: true, Data: raw}
	s := newSandbox(p, engine, ref, image.user)
	if err = s.wake(ctx, op); err == nil {
		err = s.prepare(ctx, op, name)
	}
	if err != nil {
		// Whatever it was, nobody will ask for this container.
		removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		return nil, errors.Join(err, p.remove(removing, engine, op, made.ID))
	}
	return s, nil
}

// prepare makes the workspace and sees what the image has.
func (s *Sandbox) prepare(ctx context.Context, op, image string) error {
	var out, said bytes.Buffer
	result, err := s.exec(ctx, sandbox.Cmd{
		Args: []string{"sh", "-c", prepareScript, "tsa", Root, s.user}, Dir: "/", Stdout: &out, Stderr: &said, Timeout: time.Minute,
	}, "")
	if err != nil {
		return err
	}
	if result.ExitCode != 0 {
		return fail(sandbox.KindUnavailable, op, "the image %s can't be made ready (%d): %s", image, result.ExitCode, strings.TrimSpace(said.String()))
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	s.ref.Root = lines[0]
	if missing := lines[1:]; len(missing) > 0 {
		return advise(fail(sandbox.KindUnavailable, op, "the image %s lacks %s, which files and snapshots need", image, strings.Join(missing, ", ")),
			"Name an image that has the usual tools, as those of Debian, Ubuntu, Alpine and what is made from them do.")
	}
	return nil
}

// Attach implements sandbox.Provider. A container that does not run, because the
// engine was started anew, is started.
func (p *Provider) Attach(ctx context.Context, ref sandbox.Ref) (sandbox.Sandbox, error) {
	const op = "attach to sandbox"
	if ref.Backend != Name || ref.ID == "" {
		return nil, fail(sandbox.KindInvalid, op, "%q of %q is not a container of ours", ref.ID, ref.Backend)
	}
	engine, err := p.client(ctx, op)
	if err != nil {
		return nil, err
	}
	var d data
	if len(ref.Data) > 0 {
		if err := json.Unmarshal(ref.Data, &d); err != nil {
			return nil, fail(sandbox.KindInvalid, op, "read its settings: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	s := newSandbox(p, engine, ref, d.User)
	if err := s.wake(ctx, op); err != nil {
		return nil, err
	}
	return s, nil
}

// Destroy implements sandbox.Provider.
func (p *Provider) Destroy(ctx context.Context, ref sandbox.Ref) error {
	const op = "destroy sandbox"
	if ref.Backend != Name || ref.ID == "" {
		return fail(sandbox.KindInvalid, op, "%q of %q is not a container of ours", ref.ID, ref.Backend)
	}
	engine, err := p.client(ctx, op)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	found, err := engine.ContainerInspect(ctx, ref.ID)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return wrap(op, err)
	}
	if _, ours := found.Config.Labels[labelSession]; !ours {
		return fail(sandbox.KindInvalid, op, "the container %.12s was not made by the app: it is not removed", ref.ID)
	}
	return p.remove(ctx, engine, op, ref.ID)
}

// removeTries is how often a removal is asked for that the engine is at already.
const removeTries = 50

// remove removes a container with its own volumes, and returns when it is gone.
func (p *Provider) remove(ctx context.Context, engine *client.Client, op, id string) error {
	for try := 0; ; try++ {
		err := engine.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil:
			return nil
		case cerrdefs.IsNotFound(err):
			return nil
		case !cerrdefs.IsConflict(err) || try == removeTries:
			return wrap(op, err)
		}
		select { // somebody else is removing it
		case <-ctx.Done():
			return wrap(op, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
