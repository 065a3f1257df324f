package docker

import (
	"context"
	"errors"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"temporal-sandbox-agent/sandbox"
)

// Sweep removes our containers (those of Config.Owner) that are older than age
// and that nobody wants to keep: a crash between the making of a container and
// the note of it leaves one. It returns how many it removed, also beside an
// error. An empty owner owns nothing.
func (p *Provider) Sweep(ctx context.Context, age time.Duration, keep func(session, containerID string) bool) (int, error) {
	const op = "look for containers that nobody needs"
	if p.cfg.Owner == "" {
		return 0, fail(sandbox.KindInvalid, op, "the containers of no owner can't be told from others'")
	}
	engine, err := p.client(ctx, op)
	if err != nil {
		return 0, err
	}
	list, err := engine.ContainerList(ctx, container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", labelOwner+"="+p.cfg.Owner), filters.Arg("label", labelSession)),
	})
	if err != nil {
		return 0, wrap(op, err)
	}
	var errs error
	n := 0
	for _, c := range list {
		if time.Since(time.Unix(c.Created, 0)) < age || keep(c.Labels[labelSession], c.ID) {
			continue
		}
		if err := p.remove(ctx, engine, op, c.ID); err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		n++
	}
	return n, errs
}
