// Package reach finds out which objects of the store are needed, and by which
// session: what no session reaches may be swept.
package reach

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
)

// Sort is what an object is for.
type Sort int

// The sorts of objects.
const (
	Conversation Sort = iota
	Files
)

// Object is an object that a session needs.
type Object struct {
	ID   store.ID
	Sort Sort
	// What names it for people: "turn 3", "src/main.go".
	What string
	// Err says why it, and so what is below it, could not be read.
	Err error
}

// Finder walks from sessions to objects.
type Finder struct {
	Transcript *transcript.Transcript
	Objects    snapshot.Reader
}

// key is an id in a form that takes less room than its text.
type key [32]byte

func keyOf(id store.ID) (key, bool) {
	var k key
	if len(id) != 2*len(k) {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(id))
	return k, err == nil
}

// Set is a set of objects, of 32 bytes each and a little more.
type Set struct{ ids map[key]struct{} }

// NewSet returns an empty set.
func NewSet() *Set { return &Set{ids: map[key]struct{}{}} }

// Has tells whether an object is in the set.
func (s *Set) Has(id store.ID) bool {
	k, ok := keyOf(id)
	if !ok {
		return false
	}
	_, ok = s.ids[k]
	return ok
}

// Add puts an object in; false if it was there.
func (s *Set) Add(id store.ID) bool {
	k, ok := keyOf(id)
	if !ok {
		return false
	}
	if _, there := s.ids[k]; there {
		return false
	}
	s.ids[k] = struct{}{}
	return true
}

// Len is how many objects are in the set.
func (s *Set) Len() int { return len(s.ids) }

// Session calls found once for each object that a session needs and that is not
// in seen, to which all are added. An object that can't be read is told, and is
// no error: what is below it can't be known, and is lost anyway. An error of
// found ends the walk.
func (f *Finder) Session(ctx context.Context, record protocol.Session, seen *Set, found func(Object) error) error {
	w := &walk{f: f, seen: seen, found: found}
	err := w.session(ctx, record)
	if err != nil {
		return fmt.Errorf("find what session %s needs: %w", record.ID, err)
	}
	return nil
}

// walk is one walk from a session.
type walk struct {
	f     *Finder
	seen  *Set
	found func(Object) error
}

func (w *walk) session(ctx context.Context, record protocol.Session) error {
	snapshots := []string{record.Snapshot}
	heads := []string{record.Head}
	for _, r := range record.Rewinds {
		heads, snapshots = append(heads, r.Head), append(snapshots, r.Snapshot)
	}
	if record.Setup != nil {
		snapshots = append(snapshots, record.Setup.Snapshot)
		if c := record.Setup.Current; c != nil {
			snapshots = append(snapshots, c.Snapshot)
		}
	}
	for _, m := range record.Queue {
		if err := w.message(ctx, store.ID(m.Content)); err != nil {
			return err
		}
	}
	if record.Turn != nil {
		for _, content := range record.Turn.Content {
			if err := w.message(ctx, store.ID(content)); err != nil {
				return err
			}
		}
		items, err := w.f.Transcript.OpenItems(ctx, record.Turn.ID)
		if err != nil {
			return err
		}
		if err := w.items(ctx, items); err != nil {
			return err
		}
	}
	for _, head := range heads {
		if err := w.commits(ctx, store.ID(head)); err != nil {
			return err
		}
	}
	for _, id := range snapshots {
		if err := w.snapshot(ctx, store.ID(id)); err != nil {
			return err
		}
	}
	return nil
}

// tell tells of an object once; err is why it could not be read. It returns the
// error that ends the walk: ctx's, or found's.
func (w *walk) tell(ctx context.Context, o Object) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return w.found(o)
}

// message is a message as it was sent, with what was attached.
func (w *walk) message(ctx context.Context, id store.ID) error {
	if id == "" || !w.seen.Add(id) {
		return nil
	}
	o := Object{ID: id, What: "a message that waits"}
	content, err := w.f.Objects.Get(ctx, id)
	var m protocol.Message
	if err == nil {
		err = json.Unmarshal(content, &m)
	}
	o.Err = err
	if err := w.tell(ctx, o); err != nil {
		return err
	}
	return w.attached(ctx, m.Attachments)
}

func (w *walk) attached(ctx context.Context, files []protocol.Attachment) error {
	for _, file := range files {
		if err := w.plain(ctx, store.ID(file.Object), file.Name); err != nil {
			return err
		}
	}
	return nil
}

// plain is an object that names no others.
func (w *walk) plain(ctx context.Context, id store.ID, what string) error {
	if id == "" || !w.seen.Add(id) {
		return nil
	}
	return w.tell(ctx, Object{ID: id, What: what})
}

// commits are a commit and all before it, up to one that was seen: what is
// before that was seen, too.
func (w *walk) commits(ctx context.Context, id store.ID) error {
	for id != "" && w.seen.Add(id) {
		c, err := w.f.Transcript.GetCommit(ctx, id)
		if err := w.tell(ctx, Object{ID: id, What: "a turn", Err: err}); err != nil {
			return err
		}
		if err != nil {
			return nil
		}
		for _, chunk := range c.Chunks {
			if err := w.plain(ctx, chunk.ID, fmt.Sprintf("turn %d", c.TurnCount())); err != nil {
				return err
			}
		}
		items, err := w.f.Transcript.CommitItems(ctx, c)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.items(ctx, items); err != nil { // none if they can't be read
			return err
		}
		for _, s := range []string{c.Base, c.Snapshot} {
			if err := w.snapshot(ctx, store.ID(s)); err != nil {
				return err
			}
		}
		id = c.Parent
	}
	return nil
}

func (w *walk) items(ctx context.Context, items []protocol.Item) error {
	for _, item := range items {
		var err error
		switch {
		case item.User != nil:
			err = w.attached(ctx, item.User.Attachments)
		case item.Tool != nil:
			err = w.plain(ctx, store.ID(item.Tool.Result.Image), "an image")
		case item.Notice != nil && item.Notice.Receipt != nil:
			r := item.Notice.Receipt
			err = errors.Join(w.snapshot(ctx, store.ID(r.Snapshot)), w.snapshot(ctx, store.ID(r.Kept)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// snapshot is a snapshot with all that is in it.
func (w *walk) snapshot(ctx context.Context, id store.ID) error {
	if id == "" {
		return nil
	}
	for o, err := range snapshot.Objects(ctx, w.f.Objects, id, w.seen.Has) {
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if !w.seen.Add(o.ID) && err == nil {
			continue
		}
		what := o.Path
		if what == "" {
			what = "the list of files"
		}
		if err := w.tell(ctx, Object{ID: o.ID, Sort: Files, What: what, Err: err}); err != nil {
			return err
		}
	}
	return nil
}

// id is the reverse of keyOf.
func (k key) id() store.ID { return store.ID(hex.EncodeToString(k[:])) }
