package backend

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// ownerFile holds what marks the containers of this installation.
const ownerFile = "installation"

// owner marks the containers of this installation: another data folder has
// others, also one of the same name on another machine that uses the same
// engine, and must not sweep these. Without one nothing is swept.
func (b *Backend) owner() string {
	name := filepath.Join(b.paths.Data, ownerFile)
	made := rand.Text()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.WriteString(made)
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(name)
			return ""
		}
		return made
	}
	for range 20 { // another process may be writing it
		if text, err := os.ReadFile(name); err == nil && len(text) == len(made) {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.log.Warn("the installation's mark can't be read: containers are not swept", "file", name)
	return ""
}

// orphanAge spares containers that are just being made, or moved to.
const orphanAge = time.Hour

// sweepContainers removes the containers that no session has: what a crash left
// between the making of one and the note of it.
func (b *Backend) sweepContainers(ctx context.Context) {
	sessions, err := b.Sessions.List(ctx)
	if err != nil {
		b.log.Warn("containers that nobody needs were not looked for", "error", err)
		return
	}
	needed := map[string]bool{}
	for _, s := range sessions {
		var ref sandbox.Ref
		if s.Sandbox != "" && json.Unmarshal([]byte(s.Sandbox), &ref) == nil {
			needed[ref.ID] = true
		}
		for _, left := range s.Left {
			if json.Unmarshal([]byte(left.Sandbox), &ref) == nil {
				needed[ref.ID] = true
			}
		}
		if s.Setup != nil && s.Setup.Source.Sandbox != "" && json.Unmarshal([]byte(s.Setup.Source.Sandbox), &ref) == nil {
			needed[ref.ID] = true
		}
	}
	n, err := b.containers.Sweep(ctx, orphanAge, func(_, container string) bool { return needed[container] })
	if n > 0 {
		b.log.Info("containers that no session had were removed", "containers", n)
	}
	if err != nil && sandbox.KindOf(err) != sandbox.KindUnavailable && ctx.Err() == nil {
		b.log.Warn("not all containers that nobody needs could be removed", "error", err)
	}
}
