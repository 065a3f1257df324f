// Package transcript keeps conversations over a store: the items of the turn
// under way as records, and the turns that ended as immutable commits that
// name their parent, so that a fork shares all that came before it.
package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// ErrCommitted is returned by Write for a turn that has been committed: it
// never changes again.
var ErrCommitted = errors.New("the turn is committed")

// Bounds of what is kept in memory.
const (
	itemCacheBytes   = 32 << 20 // of JSON, of committed items
	commitCacheCount = 4096
	openCacheCount   = 64
	imageCacheBytes  = 24 << 20
)

// Transcript reads and writes conversations. It is safe for concurrent use,
// and other processes may write to the same store.
type Transcript struct {
	store store.Store
	index Index

	commits *lru[store.ID, *Commit]
	chunks  *lru[store.ID, []protocol.Item]
	open    *lru[string, *openTurn]
	images  *lru[store.ID, []byte]

	sessions sessionCache
	// saving makes reading and replacing a session's record one step.
	saving    sync.Mutex
	searchFor time.Duration
	// indexing guards storeID and keeps two from indexing the same.
	indexing sync.Mutex
	storeID  string
}

// Option changes a Transcript while it is made.
type Option func(*Transcript)

// WithIndex has Search use ix, which Commit keeps up to date.
func WithIndex(ix Index) Option { return func(t *Transcript) { t.index = ix } }

// New returns the conversations in s.
func New(s store.Store, options ...Option) *Transcript {
	t := &Transcript{
		store:   s,
		commits: newLRU[store.ID, *Commit](commitCacheCount),
		chunks:  newLRU[store.ID, []protocol.Item](itemCacheBytes),
		open:    newLRU[string, *openTurn](openCacheCount),
		images:  newLRU[store.ID, []byte](imageCacheBytes),

		searchFor: searchFor,
	}
	for _, o := range options {
		o(t)
	}
	return t
}

// Keys of records.
const (
	turnPrefix   = "turn/"   // turn/<turn>/<seq>: an item of the turn under way
	commitPrefix = "commit/" // commit/<turn>: the id of the turn's commit
)

func turnKey(turn string) string   { return turnPrefix + turn + "/" }
func commitKey(turn string) string { return commitPrefix + turn }

// ItemID is the id of a turn's item.
func ItemID(turn string, seq int) string { return fmt.Sprintf("%s/%06d", turn, seq) }

// splitItemID is the reverse of ItemID.
func splitItemID(id string) (turn string, seq int, ok bool) {
	turn, digits, ok := cutLast(id, "/")
	if !ok || turn == "" {
		return "", 0, false
	}
	seq, err := strconv.Atoi(digits)
	return turn, seq, err == nil && seq >= 0
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// SessionOfTurn is the id of the session in which a turn was made: forks share
// turns of others.
func SessionOfTurn(turn string) string {
	session, _, _ := cutLast(turn, ".")
	return session
}

// Write writes items of the turn under way, new ones and again, all or none,
// durably. It fills in the items' ID and Turn. A turn that is committed is
// refused with ErrCommitted.
func (t *Transcript) Write(ctx context.Context, turn protocol.TurnRef, items ...protocol.Item) error {
	if len(items) == 0 {
		return nil
	}
	_, done, err := t.committed(ctx, turn.TurnID)
	if err != nil {
		return err
	}
	if done {
		return fmt.Errorf("write items of turn %s: %w", turn.TurnID, ErrCommitted)
	}
	records := make([]store.Record, len(items))
	for i := range items {
		records[i], err = itemRecord(turn.TurnID, items[i])
		if err != nil {
			return err
		}
	}
	if err := t.store.Set(ctx, records...); err != nil {
		return fmt.Errorf("write items of turn %s: %w", turn.TurnID, err)
	}
	return nil
}

func itemRecord(turn string, item protocol.Item) (store.Record, error) {
	if turn == "" || item.Seq < 0 || item.Seq > 999_999 {
		return store.Record{}, fmt.Errorf("write item %d of turn %q: not a valid place", item.Seq, turn)
	}
	id := ItemID(turn, item.Seq)
	if (item.ID != "" && item.ID != id) || (item.Turn != "" && item.Turn != turn) {
		return store.Record{}, fmt.Errorf("write item %q of turn %q: it belongs to %q", item.ID, item.Turn, id)
	}
	item.ID, item.Turn = id, turn
	value, err := json.Marshal(item)
	if err != nil {
		return store.Record{}, fmt.Errorf("write item %s: %w", id, err)
	}
	return store.Record{Key: turnPrefix + id, Value: value}, nil
}

// OpenItems returns the items of the turn under way, in order. They are shared:
// do not change what they point to.
func (t *Transcript) OpenItems(ctx context.Context, turn string) ([]protocol.Item, error) {
	return t.openTurn(turn).refresh(ctx, t.store, turn)
}

// openTurn is what was read of a turn under way: only what is newer is read
// again, so a step costs the same however long the turn is.
type openTurn struct {
	mu    sync.Mutex
	rev   int64
	items []protocol.Item
}

func (t *Transcript) openTurn(turn string) *openTurn {
	return t.open.getOrAdd(turn, func() (*openTurn, int) { return &openTurn{}, 1 })
}

func (o *openTurn) refresh(ctx context.Context, s store.Store, turn string) ([]protocol.Item, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	records, err := s.List(ctx, turnKey(turn), o.rev, 0)
	if err != nil {
		return nil, fmt.Errorf("read the items of turn %s: %w", turn, err)
	}
	for _, r := range records {
		var item protocol.Item
		if err := json.Unmarshal(r.Value, &item); err != nil {
			return nil, fmt.Errorf("read item %s: %w", strings.TrimPrefix(r.Key, turnPrefix), err)
		}
		at, found := slices.BinarySearchFunc(o.items, item.Seq, func(i protocol.Item, seq int) int { return i.Seq - seq })
		if found {
			o.items[at] = item
		} else {
			o.items = slices.Insert(o.items, at, item)
		}
	}
	// Only now: after an error above the same is read again.
	for _, r := range records {
		o.rev = max(o.rev, r.Rev)
	}
	return slices.Clone(o.items), nil
}

// IsOver tells whether a turn is committed, or its session was removed.
func (t *Transcript) IsOver(ctx context.Context, turn string) (bool, error) {
	if _, done, err := t.committed(ctx, turn); err != nil || done {
		return done, err
	}
	_, err := t.store.Lookup(ctx, endedKey(SessionOfTurn(turn)))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// committed finds the commit of a turn.
func (t *Transcript) committed(ctx context.Context, turn string) (store.ID, bool, error) {
	r, err := t.store.Lookup(ctx, commitKey(turn))
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look for the commit of turn %s: %w", turn, err)
	}
	return store.ID(r.Value), true, nil
}
