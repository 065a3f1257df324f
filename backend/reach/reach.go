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

// Set is a set of objects, of 33 bytes each and a little more.
type Set struct{ ids map[key]mark }

// mark is what is known of an object in a Set. To have found one does not mean
// that what it names was looked for, too: a file of a workspace may hold the very
// bytes of a snapshot or of a turn.
type mark uint8

const (
	found mark = 1 << iota
	walked
)

// NewSet returns an empty set.
func NewSet() *Set { return &Set{ids: map[key]mark{}} }

// Has tells whether an object is in the set.
func (s *Set) Has(id store.ID) bool {
	k, ok := keyOf(id)
	return ok && s.ids[k]&found != 0
}

// Add puts an object in; false if it was there, or is none.
func (s *Set) Add(id store.ID) bool { return s.set(id, found) }

// walk notes that what an object names is looked for; false if it was already.
func (s *Set) walk(id store.ID) bool { return s.set(id, walked) }

func (s *Set) set(id store.ID, m mark) bool {
	k, ok := keyOf(id)
	if !ok || s.ids[k]&m != 0 {
		return false
	}
	s.ids[k] |= m
	return true
}

// Len is how many objects are in the set.
func (s *Set) Len() int { return len(s.ids) }

// Session calls each for every object that a session needs and that is not in
// seen, to which all are added. An object that can't be read is told, perhaps a
// second time, and is no error: what is below it can't be known, and is lost
// anyway. An error of each ends the walk.
func (f *Finder) Session(ctx context.Context, record protocol.Session, seen *Set, each func(Object) error) error {
	w := &walk{f: f, seen: seen, each: each}
	err := w.session(ctx, record)
	if err != nil {
		return fmt.Errorf("find what session %s needs: %w", record.ID, err)
	}
	return nil
}

// walk is one walk from a session.
type walk struct {
	f    *Finder
	seen *Set
	each func(Object) error
}

func (w *walk) session(ctx context.Context, record protocol.Session) error {
	snapshots := []string{record.Snapshot, record.Held}
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

// tell tells of an object. It returns the error that ends the walk: ctx's, or
// that of each.
func (w *walk) tell(ctx context.Context, o Object) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return w.each(o)
}

// message is a message as it was sent, with what was attached.
func (w *walk) message(ctx context.Context, id store.ID) error {
	if !w.seen.walk(id) {
		return nil
	}
	w.seen.Add(id)
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

// commits are a commit and all before it, up to one that was walked: so was what
// is before that.
func (w *walk) commits(ctx context.Context, id store.ID) error {
	for w.seen.walk(id) {
		w.seen.Add(id)
		c, err := w.f.Transcript.GetCommit(ctx, id)
		if err := w.tell(ctx, Object{ID: id, What: "a turn", Err: err}); err != nil {
			return err
		}
		if err != nil {
			return nil
		}
		for _, chunk := range c.Chunks {
			if err := w.chunk(ctx, chunk, fmt.Sprintf("turn %d", c.TurnCount())); err != nil {
				return err
			}
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

// chunk is a part of a turn's items. Each is read by itself, so that a damaged
// one hides no more than what it names.
func (w *walk) chunk(ctx context.Context, chunk transcript.Chunk, what string) error {
	if !w.seen.walk(chunk.ID) {
		return nil
	}
	w.seen.Add(chunk.ID)
	items, err := w.f.Transcript.CommitItems(ctx, &transcript.Commit{Chunks: []transcript.Chunk{chunk}})
	if err := w.tell(ctx, Object{ID: chunk.ID, What: what, Err: err}); err != nil {
		return err
	}
	return w.items(ctx, items) // none if they can't be read
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
	seen := func(id store.ID) bool { return !w.seen.walk(id) }
	for o, err := range snapshot.Objects(ctx, w.f.Objects, id, seen) {
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
