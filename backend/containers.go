package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// owner marks the containers of this installation: another data folder has
// others, and must not sweep these.
func (b *Backend) owner() string {
	sum := sha256.Sum256([]byte(b.paths.Data))
	return hex.EncodeToString(sum[:8])
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
