package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Keys of records.
const (
	sessionPrefix = "session/" // session/<id>/: the record
	endedPrefix   = "ended/"   // ended/<id>/: the session was removed
)

func sessionKey(id string) string { return sessionPrefix + id + "/" }
func endedKey(id string) string   { return endedPrefix + id + "/" }

// SaveSession projects a record. It returns false, and changes nothing, when a
// newer one is there already or the session was removed.
func (t *Transcript) SaveSession(ctx context.Context, session protocol.Session) (bool, error) {
	if session.ID == "" {
		return false, errors.New("save a session: it has no id")
	}
	t.saving.Lock()
	defer t.saving.Unlock()
	old, err := t.Session(ctx, session.ID)
	if err != nil && !isNotFound(err) {
		return false, err
	}
	if err == nil && old.Version > session.Version {
		return false, nil
	}
	if err != nil {
		// Unknown: new, or removed and projected too late.
		_, err := t.store.Lookup(ctx, endedKey(session.ID))
		if err == nil {
			return false, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return false, fmt.Errorf("save session %s: %w", session.ID, err)
		}
	}
	value, err := json.Marshal(session)
	if err != nil {
		return false, fmt.Errorf("save session %s: %w", session.ID, err)
	}
	if err := t.store.Set(ctx, store.Record{Key: sessionKey(session.ID), Value: value}); err != nil {
		return false, fmt.Errorf("save session %s: %w", session.ID, err)
	}
	return true, nil
}

// Session returns the record of a session; one that is not there is a
// *protocol.Fault of ClassNotFound.
func (t *Transcript) Session(ctx context.Context, id string) (protocol.Session, error) {
	r, err := t.store.Lookup(ctx, sessionKey(id))
	if errors.Is(err, store.ErrNotFound) {
		return protocol.Session{}, &protocol.Fault{Class: protocol.ClassNotFound, Happened: "There is no such session.", Detail: id}
	}
	if err != nil {
		return protocol.Session{}, fmt.Errorf("read session %s: %w", id, err)
	}
	return decodeSession(r)
}

// Sessions returns all records, the last updated first. They are shared: do not
// change what they point to.
func (t *Transcript) Sessions(ctx context.Context) ([]protocol.Session, error) {
	sessions, err := t.sessions.refresh(ctx, t.store)
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	slices.SortFunc(sessions, func(a, b protocol.Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	return sessions, nil
}

// sessionCache is what was read of the sessions: only records that are newer
// are read again. Removed ones leave a mark, so they are seen, too.
type sessionCache struct {
	mu   sync.Mutex
	rev  int64 // of the newest record read
	gone int64 // of the newest mark read
	byID map[string]protocol.Session
	// ended are never shown again, whatever is written late.
	ended map[string]bool
}

func (c *sessionCache) refresh(ctx context.Context, s store.Store) ([]protocol.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID, c.ended = map[string]protocol.Session{}, map[string]bool{}
	}
	written, err := s.List(ctx, sessionPrefix, c.rev, 0)
	if err != nil {
		return nil, err
	}
	// After the records: a removal in between is seen here.
	removed, err := s.List(ctx, endedPrefix, c.gone, 0)
	if err != nil {
		return nil, err
	}
	for _, r := range written {
		session, err := decodeSession(r)
		if err != nil {
			return nil, err
		}
		c.byID[session.ID] = session
	}
	for _, r := range removed {
		id := strings.TrimSuffix(strings.TrimPrefix(r.Key, endedPrefix), "/")
		c.ended[id] = true
	}
	for _, r := range written {
		c.rev = max(c.rev, r.Rev)
	}
	for _, r := range removed {
		c.gone = max(c.gone, r.Rev)
	}
	sessions := make([]protocol.Session, 0, len(c.byID))
	for id, session := range c.byID {
		if c.ended[id] {
			delete(c.byID, id)
			continue
		}
		sessions = append(sessions, session)
	}
	return sessions, nil
}

// RemoveSession forgets a session: its record, the items of a turn under way
// and, unless forks share them, where its commits are. A record that is saved
// later is dropped. Objects stay: what nobody else needs of them is swept.
func (t *Transcript) RemoveSession(ctx context.Context, id string) error {
	t.saving.Lock()
	defer t.saving.Unlock()
	shared, err := t.hasForks(ctx, id)
	if err != nil {
		return err
	}
	// The mark first: from then on nothing can bring the session back.
	if err := t.store.Set(ctx, store.Record{Key: endedKey(id)}); err != nil {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	gone := []string{sessionKey(id), turnPrefix + id + "."}
	if !shared {
		gone = append(gone, commitKey(id+"."))
	}
	for _, prefix := range gone {
		if err := t.store.Delete(ctx, prefix); err != nil {
			return fmt.Errorf("remove session %s: %w", id, err)
		}
	}
	if !shared && t.index != nil {
		if err := t.index.Remove(ctx, id+"."); err != nil {
			return fmt.Errorf("remove session %s: %w", id, err)
		}
	}
	return nil
}

// hasForks tells whether a session that is there was forked from id, or goes on
// from one of its turns through others that are gone.
func (t *Transcript) hasForks(ctx context.Context, id string) (bool, error) {
	sessions, err := t.Sessions(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range sessions {
		if s.Parent == id {
			return true, nil
		}
		if s.Parent == "" || s.ID == id {
			continue
		}
		for at := store.ID(s.Head); at != ""; {
			c, err := t.GetCommit(ctx, at)
			if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
				return true, nil // nobody can tell
			}
			if err != nil {
				return false, err
			}
			if SessionOfTurn(c.Turn) == id {
				return true, nil
			}
			at = c.Parent
		}
	}
	return false, nil
}

func decodeSession(r store.Record) (protocol.Session, error) {
	var s protocol.Session
	if err := json.Unmarshal(r.Value, &s); err != nil {
		return protocol.Session{}, fmt.Errorf("read session record %q: %w", r.Key, err)
	}
	return s, nil
}

func isNotFound(err error) bool {
	var f *protocol.Fault
	return errors.As(err, &f) && f.Class == protocol.ClassNotFound
}
