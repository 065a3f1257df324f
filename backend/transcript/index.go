package transcript

import (
	"context"

	"temporal-sandbox-agent/backend/protocol"
)

// Index finds turns by their text. It is derived from the store and may be
// lost: Reindex makes it again.
type Index interface{}

func (t *Transcript) addToIndex(ctx context.Context, c *Commit, items []protocol.Item) {}
func (t *Transcript) removeFromIndex(ctx context.Context, session string)              {}
