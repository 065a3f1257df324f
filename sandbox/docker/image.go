package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
)

// found is an image that the engine has.
type found struct {
	user string // whom its commands run as, "" for root
}

// image returns an image, which is pulled if the engine does not have it.
func (p *Provider) image(ctx context.Context, engine *client.Client, session, name string) (found, error) {
	const op = "find image"
	for pulled := false; ; pulled = true {
		asking, cancel := context.WithTimeout(ctx, askTime)
		got, err := engine.ImageInspect(asking, name)
		cancel()
		switch {
		case err == nil:
			out := found{}
			if got.Config != nil {
				out.user = got.Config.User
				if name, _, _ := strings.Cut(out.user, ":"); name == "root" || name == "0" {
					out.user = ""
				}
			}
			return out, nil
		case ctx.Err() != nil:
			return found{}, ctx.Err()
		case !cerrdefs.IsNotFound(err) || pulled:
			return found{}, wrap(op, err)
		}
		if err := p.pull(ctx, engine, session, name); err != nil {
			return found{}, err
		}
	}
}

// pull has the engine fetch an image.
func (p *Provider) pull(ctx context.Context, engine *client.Client, session, name string) error {
	const op = "pull image"
	tell := func(progress Progress) {
		if p.cfg.Progress != nil {
			progress.Session = session
			p.cfg.Progress(progress)
		}
	}
	last := Progress{Text: "Pulling the image " + name}
	tell(last)
	defer func() {
		last.Ended = true
		tell(last)
	}()
	stream, err := engine.ImagePull(ctx, name, image.PullOptions{})
	if err != nil {
		return p.notPulled(ctx, engine, name, err)
	}
	defer stream.Close()
	layers := layers{sizes: map[string]int64{}, done: map[string]int64{}}
	for decoder := json.NewDecoder(stream); ; {
		var message pullMessage
		err := decoder.Decode(&message)
		switch {
		case errors.Is(err, io.EOF):
			last = Progress{Text: "The image " + name + " is there", Done: layers.sum(layers.sizes), Total: layers.sum(layers.sizes)}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return wrap(op, err)
		case message.Error != nil:
			return p.notPulled(ctx, engine, name, errors.New(message.Error.Message))
		}
		if layers.note(message) {
			last.Done, last.Total = layers.sum(layers.done), layers.sum(layers.sizes)
			tell(last)
		}
	}
}

// pullMessage is what the engine tells of a pull. (The engine's own type for it
// comes with all that paints it on terminals.)
type pullMessage struct {
	ID       string `json:"id"` // of a layer
	Status   string `json:"status"`
	Progress *struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error *struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
}

// layers is how far the layers of a pull are, in bytes.
type layers struct {
	sizes, done map[string]int64
}

// note takes a message, and tells whether it says something new.
func (l layers) note(m pullMessage) bool {
	switch {
	case m.ID == "":
	case m.Status == "Downloading" && m.Progress != nil:
		l.done[m.ID], l.sizes[m.ID] = m.Progress.Current, max(m.Progress.Total, l.sizes[m.ID])
		return true
	case m.Status == "Download complete" || m.Status == "Pull complete":
		l.done[m.ID] = l.sizes[m.ID]
		return true
	}
	return false
}

func (l layers) sum(of map[string]int64) (n int64) {
	for _, bytes := range of {
		n += bytes
	}
	return n
}

// notPulled tells why there is no image, and which ones there are.
func (p *Provider) notPulled(ctx context.Context, engine *client.Client, name string, err error) error {
	const op = "pull image"
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if unreachable(err) {
		return wrap(op, err)
	}
	text := strings.ToLower(err.Error())
	has := p.present(ctx, engine)
	for _, refused := range []string{"not found", "manifest unknown", "pull access denied", "unauthorized", "does not exist", "invalid reference", "no matching manifest"} {
		if strings.Contains(text, refused) && !strings.Contains(text, "lookup ") {
			return advise(fail(sandbox.KindNotFound, op, "there is no image %s that can be had: %w", name, err),
				"Correct the image's name; for a private one run docker login and docker pull first. "+has)
		}
	}
	if cerrdefs.IsInvalidArgument(err) {
		return advise(fail(sandbox.KindInvalid, op, "the image %q: %w", name, err), "Correct the image's name.")
	}
	return advise(fail(sandbox.KindUnavailable, op, "the image %s is not on this machine, and its registry could not be asked: %w", name, err),
		"Connect to the network and try again, or name an image that is here. "+has)
}

// presentMax is how many images are named to the user.
const presentMax = 8

// present says which images there are.
func (p *Provider) present(ctx context.Context, engine *client.Client) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	list, err := engine.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return "docker images lists those."
	}
	var names []string
	for _, i := range list {
		for _, tag := range i.RepoTags {
			if tag != "<none>:<none>" {
				names = append(names, strings.TrimSuffix(tag, ":latest"))
			}
		}
	}
	switch {
	case len(names) == 0:
		return "There are none yet."
	case len(names) > presentMax:
		return fmt.Sprintf("There are %s and %d more.", strings.Join(names[:presentMax], ", "), len(names)-presentMax)
	}
	return fmt.Sprintf("There are %s.", strings.Join(names, ", "))
}
