package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"

	"temporal-sandbox-agent/backend/store"
)

// readNames is how many files are asked for at once.
const readNames = 8192

// read reads and stores the contents that are to be read.
func (c *capture) read(ctx context.Context) error {
	c.fresh = map[int]*freshFile{}
	var names []string
	total := 0
	for i, st := range c.states {
		if st == stateRead {
			total++
			c.readSize += c.list.entry(i).Size
		}
	}
	if total == 0 {
		return nil
	}
	w := newContentWriter(ctx, c.store)
	err := func() error {
		for i, st := range c.states {
			if st != stateRead {
				continue
			}
			if names = append(names, c.list.entry(i).Name); len(names) == readNames {
				if err := c.readFiles(ctx, w, names, total); err != nil {
					return err
				}
				names = names[:0]
			}
		}
		if len(names) == 0 {
			return nil
		}
		return c.readFiles(ctx, w, names, total)
	}()
	if waited := w.wait(ctx); waited != nil && (err == nil || errors.Is(err, context.Canceled) && ctx.Err() == nil) {
		err = waited
	}
	if err != nil {
		return err
	}
	if err := c.putChunkLists(ctx); err != nil {
		return err
	}
	return c.lookAgain(ctx)
}

func (c *capture) readFiles(ctx context.Context, w *contentWriter, names []string, total int) error {
	return c.tree.ReadFiles(ctx, names, func(f FileRead) error {
		i, ok := c.list.find(f.Name)
		if !ok || c.states[i] != stateRead {
			return fmt.Errorf("read files: %q was not asked for", f.Name)
		}
		if f.Err != nil || !f.Mode.IsRegular() {
			c.states[i] = stateUnread
			return nil
		}
		file := &freshFile{opened: true, size: f.Size, modified: f.Modified}
		var failed *errRead
		switch err := w.write(f.Content, f.Size, &file.stored); {
		case errors.As(err, &failed):
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.states[i] = stateUnread
			return nil
		case err != nil:
			return err
		}
		file.changed = file.stored.size != f.Size
		if !file.changed && file.stored.size <= maxWhole {
			// One more byte than it had tells that it grew.
			if n, _ := io.ReadFull(f.Content, make([]byte, 1)); n > 0 {
				file.changed = true
			}
		}
		c.fresh[i] = file
		c.result.Read++
		c.result.ReadBytes += file.stored.size
		if c.result.Read%256 == 0 {
			c.progress(Progress{Phase: "read", Files: c.result.Read, FilesTotal: total, Bytes: c.result.ReadBytes, BytesTotal: c.readSize})
		}
		return nil
	})
}

// putChunkLists stores the lists of the parts of large files.
func (c *capture) putChunkLists(ctx context.Context) error {
	var (
		at    []int
		lists [][]byte
	)
	for i, file := range c.fresh {
		c.sums[i] = file.sum
		delete(c.chunks, i)
		if len(file.parts) == 0 {
			continue
		}
		chunks := make([]chunk, len(file.parts))
		for j, part := range file.parts {
			chunks[j] = *part
		}
		at, lists = append(at, i), append(lists, encodeChunks(chunks))
	}
	if len(lists) == 0 {
		return nil
	}
	ids, err := c.store.PutMany(ctx, lists)
	if err != nil {
		return err
	}
	for j, i := range at {
		c.chunks[i] = ids[j]
	}
	return nil
}

// lookAgain lists the tree once more, to find out which of the files that were
// read changed meanwhile.
func (c *capture) lookAgain(ctx context.Context) error {
	there := make(map[int]bool, len(c.fresh))
	_, err := c.tree.List(ctx, c.excluded, func(e Entry) error {
		i, ok := c.list.find(e.Name)
		if !ok || c.states[i] != stateRead && c.states[i] != stateUnread {
			return nil
		}
		there[i] = true
		file := c.fresh[i]
		if file == nil {
			return nil
		}
		if !e.Mode.IsRegular() || e.Size != file.size || e.Modified != file.modified {
			file.changed = true
			return nil
		}
		file.entryChange, file.inode = e.Changed, e.Inode
		return nil
	})
	if err != nil {
		return err
	}
	for i, st := range c.states {
		if st != stateRead && st != stateUnread {
			continue
		}
		e := c.list.entry(i)
		c.result.Bytes -= e.Size
		switch {
		case !there[i]:
			c.states[i] = stateGone
			c.result.Files--
		case st == stateRead && c.fresh[i] == nil:
			return fmt.Errorf("read files: %q was not given", e.Name)
		case st == stateUnread:
			c.result.Files--
			c.skipped = append(c.skipped, skipped{e.Name, whyUnread})
		default:
			c.result.Bytes += c.fresh[i].stored.size
			if c.fresh[i].changed {
				c.skipped = append(c.skipped, skipped{e.Name, whyChanged})
			}
		}
	}
	return nil
}

// write makes the pages, the root and the next index.
func (c *capture) write(ctx context.Context) error {
	c.sortSkipped()
	w := &pageWriter{ctx: ctx, store: c.store, known: map[store.ID]bool{}}
	w.root.excluded, w.root.skipped = c.excluded, c.skipped
	if c.index != nil && c.index.epoch == c.epoch {
		if old, err := Load(ctx, c.store, c.index.root); err == nil {
			w.known[c.index.root] = true
			for _, p := range old.root.pages {
				w.known[p.id] = true
			}
		}
	}
	for i := range c.states {
		if f, ok := c.file(i); ok {
			if err := w.add(f); err != nil {
				return err
			}
		}
	}
	root, err := w.finish()
	if err != nil {
		return err
	}
	c.result.Root = root
	c.result.Files, c.result.Bytes = w.root.entries, w.root.bytes
	return c.writeIndex()
}

// file is the entry with number i as the snapshot has it.
func (c *capture) file(i int) (File, bool) {
	if st := c.states[i]; st != stateKnown && st != stateRead {
		return File{}, false
	}
	e := c.list.entry(i)
	f := fileOf(&e)
	if f.Kind == KindFile {
		if file := c.fresh[i]; file != nil {
			f.Size, f.Modified = file.stored.size, file.modified
		}
		f.Sum, f.Chunks = c.sums[i], c.chunks[i]
	}
	return f, true
}

// fileOf is what a listing tells of an entry of a snapshot.
func fileOf(e *Entry) File {
	f := File{Path: e.Name}
	switch {
	case e.Mode.IsDir():
		f.Kind, f.Mode = KindDir, fileMode(unixMode(e.Mode))
	case e.Mode.IsRegular():
		f.Kind, f.Mode, f.Size, f.Modified = KindFile, fileMode(unixMode(e.Mode)), e.Size, e.Modified
	default:
		f.Kind, f.Target, f.Outside = KindLink, e.Target, leadsOutside(e.Name, e.Target)
	}
	return f
}

// writeIndex remembers what was captured.
func (c *capture) writeIndex() error {
	w, err := newIndexWriter(c.o.Index, &indexHead{
		root: c.result.Root, epoch: c.epoch, excluded: c.excluded, skipped: c.skipped, entries: c.result.Files,
	})
	if err != nil || w == nil {
		return err
	}
	for i := range c.states {
		if st := c.states[i]; st != stateKnown && st != stateRead {
			continue
		}
		e := c.list.entry(i)
		s := seenOf(&e, &c.listed)
		if s.mode.IsRegular() {
			s.sum, s.chunks = c.sums[i], c.chunks[i]
		}
		if file := c.fresh[i]; file != nil {
			s.size, s.modified, s.changed, s.inode = file.size, file.modified, file.entryChange, file.inode
			s.again = s.again || file.changed || tooRecent(file.modified, file.entryChange, &c.listed)
		}
		w.add(&s)
	}
	return w.finish()
}

func seenOf(e *Entry, l *Listing) seen {
	return seen{
		path: e.Name, mode: e.Mode, size: e.Size, modified: e.Modified, changed: e.Changed, inode: e.Inode, target: e.Target,
		again: tooRecent(e.Modified, e.Changed, l),
	}
}

// tooRecent tells whether a file could have been changed after it was listed, and
// still bear the same times. The time of the entry, where there is one, can't be
// set back.
func tooRecent(modified, changed int64, l *Listing) bool {
	at := changed
	if at == 0 {
		at = modified
	}
	return at >= l.Begun.Add(-l.Granularity).UnixNano()
}
