package docker

import (
	"context"
	"slices"

	"github.com/docker/docker/api/types/image"
)

// maxImages is how many images are listed.
const maxImages = 200

// Images lists the images that the engine has, by name, sorted; those without a
// name are left out, and at most 200.
func (p *Provider) Images(ctx context.Context) ([]string, error) {
	const op = "list images"
	engine, err := p.client(ctx, op)
	if err != nil {
		return nil, err
	}
	list, err := engine.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return nil, wrap(op, err)
	}
	var names []string
	for _, i := range list {
		for _, tag := range i.RepoTags {
			if tag != "<none>:<none>" {
				names = append(names, tag)
			}
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxImages)], nil
}
