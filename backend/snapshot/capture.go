package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"temporal-sandbox-agent/backend/store"
)

// Capture keeps the files of a tree. It reads the content of those that are not
// as the index remembers them; when nothing changed it reads none and writes
// nothing. What can't be kept is told and is no error. When it fails, or is cut
// off, what was captured before is as it was. It uses the store (Store.Use)
// until it returns: who needs the new snapshot to stay uses it until it is named
// by something that stays.
func Capture(ctx context.Context, tree Tree, s Store, o CaptureOptions) (Captured, error) {
	release, err := s.Use(ctx)
	if err != nil {
		return Captured{}, fmt.Errorf("capture the files: %w", err)
	}
	defer release()
	c := &capture{tree: tree, store: s, o: o, progress: o.Progress}
	if c.progress == nil {
		c.progress = func(Progress) {}
	}
	out, err := c.run(ctx)
	if err != nil {
		return Captured{}, fmt.Errorf("capture the files: %w", err)
	}
	return out, nil
}

// capture is one Capture.
type capture struct {
	tree     Tree
	store    Store
	o        CaptureOptions
	progress func(Progress)

	excluded []string
	list     listing // in the order of paths
	listed   Listing
	states   []state // of the entries of list
	// sums and chunks are of the regular files.
	sums    [][32]byte
	chunks  map[int]store.ID
	fresh   map[int]*freshFile // those that are read
	skipped []skipped

	index    *index
	epoch    string
	result   Captured
	readSize int64 // of what is to be read
}

// state says what becomes of an entry.
type state uint8

const (
	stateKnown  state = iota // as the index remembers it, or of a kind without content
	stateRead                // its content is to be read
	stateOut                 // it is not in the snapshot
	stateGone                // it was removed meanwhile
	stateUnread              // it may not be read; not in the snapshot if it is still there
)

// freshFile is a file whose content is read.
type freshFile struct {
	stored
	opened, changed bool
	size, modified  int64 // as it was opened
	entryChange     int64
	inode           uint64
}

func (c *capture) run(ctx context.Context) (Captured, error) {
	if err := c.exclude(); err != nil {
		return Captured{}, err
	}
	if err := c.look(ctx); err != nil {
		return Captured{}, err
	}
	if c.result.TooLarge = c.tooLarge(); c.result.TooLarge != nil {
		return c.result, nil
	}
	var err error
	if c.epoch, err = c.store.Epoch(ctx); err != nil {
		return Captured{}, err
	}
	same, err := c.compare(ctx)
	if err != nil {
		return Captured{}, err
	}
	if same {
		c.result.Root = c.index.root
		return c.finish(ctx)
	}
	if err := c.read(ctx); err != nil {
		return Captured{}, err
	}
	if err := c.write(ctx); err != nil {
		return Captured{}, err
	}
	return c.finish(ctx)
}

// exclude brings the excluded paths into order.
func (c *capture) exclude() error {
	for _, p := range c.o.Exclude {
		if !validPath(p) {
			return fmt.Errorf("%q can't be left out: it is no path in the workspace", p)
		}
	}
	c.excluded = outermost(slices.Clone(c.o.Exclude))
	c.result.Excluded = c.excluded
	return nil
}

// look lists the tree.
func (c *capture) look(ctx context.Context) error {
	var err error
	c.listed, err = c.tree.List(ctx, c.excluded, func(e Entry) error {
		if !validPath(e.Name) {
			return fmt.Errorf("the listing holds %q, which is no path", e.Name)
		}
		if e.Size < 0 || e.Held < 0 {
			return fmt.Errorf("the listing holds %q with a size below zero", e.Name)
		}
		c.list.add(&e)
		if n := c.list.len(); n%4096 == 0 {
			c.progress(Progress{Phase: "list", Files: n})
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.list.sort()
	c.states = make([]state, c.list.len())
	var in parents
	for i := range c.states {
		e := c.list.entry(i)
		if i > 0 && c.list.name(c.list.refs[i-1]) == e.Name {
			c.states[i] = stateOut // it was renamed while the folder was read, and seen twice
			continue
		}
		if w := leaveOut(e.Mode); w != 0 {
			c.states[i] = stateOut
			c.skipped = append(c.skipped, skipped{e.Name, w})
			continue
		}
		if f := fileOf(&e); !in.enter(&f) || f.Kind == KindLink && !validTarget(f.Target) {
			// Something else was there in between: no snapshot can hold it like this.
			c.states[i] = stateOut
			c.skipped = append(c.skipped, skipped{e.Name, whyUnread})
			continue
		}
		c.result.Files++
		if e.Mode.IsRegular() {
			c.result.Bytes += e.Size
		}
	}
	for _, u := range c.listed.Unread {
		if !validPath(u.Name) {
			return fmt.Errorf("look into the folder %q: %w", u.Name, u.Why)
		}
		c.skipped = append(c.skipped, skipped{u.Name, whyUnlisted})
	}
	return nil
}

// leaveOut says why an entry of a type can't be kept.
func leaveOut(mode fs.FileMode) why {
	switch {
	case mode.IsRegular(), mode.IsDir(), mode&fs.ModeSymlink != 0:
		return 0
	case mode&fs.ModeSocket != 0:
		return whySocket
	case mode&fs.ModeNamedPipe != 0:
		return whyPipe
	case mode&fs.ModeDevice != 0:
		return whyDevice
	default:
		return whyOther
	}
}

// compare finds out which contents are to be read. It returns true if nothing at
// all changed since the index was written.
func (c *capture) compare(ctx context.Context) (bool, error) {
	c.sums, c.chunks = make([][32]byte, c.list.len()), map[int]store.ID{}
	c.index = readIndex(c.o.Index)
	same := c.index != nil && c.index.epoch == c.epoch && c.index.entries == c.result.Files && slices.Equal(c.index.excluded, c.excluded)
	old := c.index.next()
	for i := range c.states {
		if c.states[i] == stateOut {
			continue
		}
		e := c.list.entry(i)
		for old != nil && comparePaths(old.path, e.Name) < 0 {
			old, same = c.index.next(), false
		}
		found := old != nil && old.path == e.Name
		same = same && found && old.mode == e.Mode && old.target == e.Target
		if !e.Mode.IsRegular() {
			continue
		}
		if !found || !old.same(&e) {
			c.states[i], same = stateRead, false
			continue
		}
		c.sums[i] = old.sum
		if old.chunks != "" {
			c.chunks[i] = old.chunks
		}
	}
	if same && c.index.next() == nil {
		c.sortSkipped()
		if slices.Equal(c.skipped, c.index.skipped) {
			return true, nil
		}
	}
	if c.index != nil && c.index.epoch != c.epoch {
		return false, c.recheck(ctx)
	}
	return false, nil
}

func (c *capture) sortSkipped() {
	slices.SortFunc(c.skipped, func(a, b skipped) int { return comparePaths(a.path, b.path) })
	c.skipped = slices.CompactFunc(c.skipped, func(a, b skipped) bool { return a.path == b.path })
}

// recheckBatch is how many contents are looked for at once.
const recheckBatch = 1024

// recheck has those contents read again that are not in the store any more:
// something was removed from it since the index was written.
func (c *capture) recheck(ctx context.Context) error {
	var (
		at  []int
		ids []store.ID
	)
	flush := func() error {
		there, err := c.store.HasMany(ctx, ids)
		if err != nil {
			return err
		}
		for j, ok := range there {
			if !ok {
				c.states[at[j]] = stateRead
			}
		}
		at, ids = at[:0], ids[:0]
		return nil
	}
	for i := range c.states {
		e := c.list.entry(i)
		if c.states[i] != stateKnown || !e.Mode.IsRegular() {
			continue
		}
		list, large := c.chunks[i]
		if !large {
			at, ids = append(at, i), append(ids, idOf(c.sums[i]))
		} else if data, err := c.store.Get(ctx, list); err != nil {
			c.states[i] = stateRead
		} else if parts, err := decodeChunks(data, e.Size); err != nil {
			c.states[i] = stateRead
		} else {
			for _, p := range parts {
				at, ids = append(at, i), append(ids, p.id)
			}
		}
		if len(ids) >= recheckBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// finish counts what changed.
func (c *capture) finish(ctx context.Context) (Captured, error) {
	c.result.Skipped = told(c.skipped)
	for change, err := range Diff(ctx, c.store, c.o.Previous, c.result.Root) {
		switch {
		case err != nil:
			return Captured{}, fmt.Errorf("compare with the snapshot before: %w", err)
		case change.TimeOnly():
		case change.Old == nil:
			c.result.Added++
		case change.New == nil:
			c.result.Removed++
		default:
			c.result.Updated++
		}
	}
	return c.result, nil
}
