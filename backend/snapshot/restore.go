package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"temporal-sandbox-agent/backend/store"
)

// Restore makes a tree hold what a snapshot holds, touching only what differs
// from Current, and verifies it. What Current does not hold, as it was excluded
// or could not be read, is left alone. If it is cut off, or fails, the tree is
// between the two: capture it and restore again.
func Restore(ctx context.Context, tree Tree, s Store, id store.ID, o RestoreOptions) (Restored, error) {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	r := &restore{tree: tree, store: s, o: o}
	var err error
	if r.want, err = Load(ctx, s, id); err != nil {
		return Restored{}, fmt.Errorf("restore the files: %w", err)
	}
	if err := r.run(ctx); err != nil {
		return Restored{}, fmt.Errorf("restore the files: %w", err)
	}
	r.result.Files, r.result.Bytes = r.want.Files(), r.want.Bytes()
	r.result.Skipped = told(r.skipped)
	return r.result, nil
}

// restore is one Restore.
type restore struct {
	tree   Tree
	store  Store
	o      RestoreOptions
	want   *Manifest
	result Restored

	kept    []string // left alone with all below
	skipped []skipped
	remove  []string
	files   []File // to be made
	bytes   int64
	done    int
	doneAll int64
	// spoiled are files of which the source had another content.
	spoiled map[string]bool
}

func (r *restore) run(ctx context.Context) error {
	if err := r.keep(ctx); err != nil {
		return err
	}
	if err := r.plan(ctx); err != nil {
		return err
	}
	for {
		err := r.tree.Apply(ctx, r.remove, r.makes(ctx))
		if spoiled := (*errSpoiled)(nil); errors.As(err, &spoiled) {
			// Once more: what is made already is made again.
			r.setSpoiled(spoiled.path)
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	r.result.Written, r.result.Removed = len(r.files), len(r.remove)
	return r.verify(ctx)
}

// keep finds out what is left alone.
func (r *restore) keep(ctx context.Context) error {
	r.kept = slices.Clone(r.want.Excluded())
	if r.o.Current != "" {
		now, err := Load(ctx, r.store, r.o.Current)
		if err != nil {
			return err
		}
		r.kept = append(r.kept, now.Excluded()...)
		for _, s := range now.root.skipped {
			if s.why.lost() {
				r.kept = append(r.kept, s.path)
			}
		}
	}
	r.kept = outermost(r.kept)
	return nil
}

// keeps tells whether a path is left alone.
func (r *restore) keeps(path string) bool {
	i, found := slices.BinarySearchFunc(r.kept, path, comparePaths)
	return found || i > 0 && below(path, r.kept[i-1])
}

// holdsKept tells whether something below a folder is left alone.
func (r *restore) holdsKept(dir string) bool {
	i, _ := slices.BinarySearchFunc(r.kept, dir, comparePaths)
	return i < len(r.kept) && below(r.kept[i], dir)
}

// plan finds out what is to be removed and made.
func (r *restore) plan(ctx context.Context) error {
	gone := ""    // what is removed, or replaced by what is no folder
	blocked := "" // what can't be made, as something kept is in its place
	for c, err := range Diff(ctx, r.store, r.o.Current, r.want.id) {
		if err != nil {
			return err
		}
		if r.keeps(c.Path) {
			if c.New != nil && !r.excludes(c.Path) {
				r.skip(c.Path, whyKept)
			}
			continue
		}
		if c.New == nil {
			switch {
			case gone != "" && below(c.Path, gone), r.o.Mode == Merge:
			case c.Old.Kind == KindDir && r.holdsKept(c.Path):
			default:
				r.remove, gone = append(r.remove, c.Path), c.Path
			}
			continue
		}
		switch {
		case blocked != "" && below(c.Path, blocked):
			r.skip(c.Path, whyKept)
		case c.New.Kind != KindDir && c.Old != nil && c.Old.Kind == KindDir && r.holdsKept(c.Path):
			blocked = c.Path
			r.skip(c.Path, whyKept)
		case c.New.Outside && !r.o.OutsideLinks:
			r.skip(c.Path, whyOutside)
			if c.Old != nil && r.o.Mode == Equal {
				r.remove, gone = append(r.remove, c.Path), c.Path
			}
		default:
			if c.Old != nil && c.Old.Kind == KindDir && c.New.Kind != KindDir {
				gone = c.Path
			}
			r.files = append(r.files, *c.New)
			r.bytes += c.New.Size
		}
	}
	return nil
}

// excludes tells whether the snapshot leaves a path out by the user's choice.
func (r *restore) excludes(path string) bool {
	return slices.ContainsFunc(r.want.Excluded(), func(p string) bool { return below(path, p) })
}

func (r *restore) skip(path string, w why) { r.skipped = append(r.skipped, skipped{path, w}) }

// makes gives what is to be made to an Apply.
func (r *restore) makes(ctx context.Context) iter.Seq2[Make, error] {
	return func(yield func(Make, error) bool) {
		r.done, r.doneAll = 0, 0
		for i := range r.files {
			if err := ctx.Err(); err != nil {
				yield(Make{}, err)
				return
			}
			if !yield(r.make(&r.files[i]), nil) {
				return
			}
			r.done++
			r.doneAll += r.files[i].Size
			if r.done%256 == 0 {
				r.o.Progress(Progress{Phase: "write", Files: r.done, FilesTotal: len(r.files), Bytes: r.doneAll, BytesTotal: r.bytes})
			}
		}
	}
}

func (r *restore) make(f *File) Make {
	m := Make{Name: f.Path, Mode: f.Mode}
	switch f.Kind {
	case KindDir:
		m.Mode |= fs.ModeDir
	case KindLink:
		m.Mode, m.Target = fs.ModeSymlink|0o777, f.Target
	default:
		m.Size, m.Modified = f.Size, f.Modified
		m.Open = r.opener(f)
	}
	return m
}
