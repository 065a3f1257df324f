package snapshot

import (
	"cmp"
	"slices"

	"temporal-sandbox-agent/backend/protocol"
)

// maxLargest is how many folders are told.
const maxLargest = 20

// tooLarge returns what is to be asked if the tree is over the limits.
func (c *capture) tooLarge() *protocol.SnapshotAsk {
	if c.o.Limits.Whole {
		return nil
	}
	var held int64
	for i := range c.states {
		if c.states[i] != stateOut {
			held += heldOf(c.list.entry(i))
		}
	}
	if c.result.Files <= cmp.Or(c.o.Limits.MaxFiles, DefaultMaxFiles) && held <= cmp.Or(c.o.Limits.MaxBytes, DefaultMaxBytes) {
		return nil
	}
	return &protocol.SnapshotAsk{Files: c.result.Files, Bytes: held, Largest: c.largest()}
}

// heldOf is what a file holds of the disk: less than its size if it has holes,
// and not more, as blocks are no content.
func heldOf(e Entry) int64 {
	if !e.Mode.IsRegular() {
		return 0
	}
	return min(e.Size, e.Held)
}

// largest returns the folders that hold most. A folder that holds little beside
// one of its own is not told: it is that one which matters.
func (c *capture) largest() []protocol.FolderSize {
	sizes := map[string]*protocol.FolderSize{}
	for i := range c.states {
		if c.states[i] == stateOut {
			continue
		}
		e := c.list.entry(i)
		for dir := parentOf(e.Name); dir != ""; dir = parentOf(dir) {
			s := sizes[dir]
			if s == nil {
				s = &protocol.FolderSize{Path: dir}
				sizes[dir] = s
			}
			s.Files++
			s.Bytes += heldOf(e)
		}
	}
	mostly := map[string]bool{}
	for dir, s := range sizes {
		if parent := sizes[parentOf(dir)]; parent != nil && s.Bytes*10 >= parent.Bytes*9 && s.Files*10 >= parent.Files*9 {
			mostly[parent.Path] = true
		}
	}
	var list []protocol.FolderSize
	for dir, s := range sizes {
		if !mostly[dir] {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b protocol.FolderSize) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Files, a.Files), cmp.Compare(a.Path, b.Path))
	})
	return list[:min(len(list), maxLargest)]
}
