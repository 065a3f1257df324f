package snapshot

import (
	"context"
	"iter"

	"temporal-sandbox-agent/backend/store"
)

// Change is an entry that differs between two snapshots.
type Change struct {
	Path string
	// Old and New are nil where it is not there.
	Old, New *File
}

// TimeOnly tells that only the time of a file differs.
func (c Change) TimeOnly() bool {
	return c.Old != nil && c.New != nil && sameButTime(c.Old, c.New)
}

func sameButTime(a, b *File) bool {
	x := *a
	x.Modified = b.Modified
	return x == *b
}

// Diff gives the entries that differ between the snapshots a and b, in the order
// of their paths; either may be empty, for nothing. What both have in common is
// read only where a page holds a change. The first error ends it.
func Diff(ctx context.Context, s Reader, a, b store.ID) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if a == b {
			return
		}
		x, err := newCursor(ctx, s, a)
		if err != nil {
			yield(Change{}, err)
			return
		}
		y, err := newCursor(ctx, s, b)
		if err != nil {
			yield(Change{}, err)
			return
		}
		for {
			skipShared(x, y)
			f, err := x.peek()
			if err != nil {
				yield(Change{}, err)
				return
			}
			g, err := y.peek()
			if err != nil {
				yield(Change{}, err)
				return
			}
			if f == nil && g == nil {
				return
			}
			var c Change
			switch {
			case g == nil || f != nil && comparePaths(f.Path, g.Path) < 0:
				c = Change{Path: f.Path, Old: f}
				x.next()
			case f == nil || comparePaths(f.Path, g.Path) > 0:
				c = Change{Path: g.Path, New: g}
				y.next()
			default:
				c = Change{Path: f.Path, Old: f, New: g}
				x.next()
				y.next()
				if *f == *g {
					continue
				}
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// skipShared passes over pages that both have.
func skipShared(x, y *cursor) {
	for x.atPage() && y.atPage() && x.m.root.pages[x.page].id == y.m.root.pages[y.page].id {
		x.page++
		y.page++
	}
}

// cursor goes through the entries of a snapshot.
type cursor struct {
	ctx   context.Context
	m     *Manifest
	page  int    // the next to read
	files []File // of the present one, from at on
	at    int
}

func newCursor(ctx context.Context, s Reader, id store.ID) (*cursor, error) {
	if id == "" {
		return &cursor{ctx: ctx, m: &Manifest{store: s, root: &root{}}}, nil
	}
	m, err := Load(ctx, s, id)
	if err != nil {
		return nil, err
	}
	return &cursor{ctx: ctx, m: m}, nil
}

// atPage tells whether a page begins here.
func (c *cursor) atPage() bool { return c.at == len(c.files) && c.page < len(c.m.root.pages) }

// peek returns the present entry, nil at the end.
func (c *cursor) peek() (*File, error) {
	if c.at == len(c.files) {
		if c.page == len(c.m.root.pages) {
			return nil, nil
		}
		files, err := c.m.page(c.ctx, c.page)
		if err != nil {
			return nil, err
		}
		c.files, c.at = files, 0
		c.page++
	}
	return &c.files[c.at], nil
}

func (c *cursor) next() { c.at++ }
