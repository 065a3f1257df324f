package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrDiffers is returned when a tree is not what was just made of it: something
// else changes it.
var ErrDiffers = errors.New("the files are not what they should be")

// digestNames is how many files are hashed at once.
const digestNames = 2048

// verify checks the tree after it was made.
func (r *restore) verify(ctx context.Context) error {
	var list listing
	listed, err := r.tree.List(ctx, r.kept, func(e Entry) error {
		list.add(&e)
		if n := list.len(); n%4096 == 0 {
			r.o.Progress(Progress{Phase: "verify", Files: n, FilesTotal: r.want.Files()})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	list.sort()
	missing := map[string]bool{}
	for _, s := range r.skipped {
		missing[s.path] = true
	}
	head := indexHead{root: r.want.id, excluded: r.want.Excluded(), entries: r.want.Files()}
	if head.epoch, err = r.store.Epoch(ctx); err != nil {
		return err
	}
	// What is not as the snapshot has it can't be remembered as such.
	var index *indexWriter
	if len(missing) == 0 && slices.Equal(r.kept, head.excluded) {
		if index, err = newIndexWriter(r.o.Index, &head); err != nil {
			return err
		}
	}
	if err := r.match(ctx, &list, &listed, missing, index); err != nil {
		index.drop()
		return err
	}
	if !r.o.Trust {
		if err := r.digest(ctx); err != nil {
			index.drop()
			return err
		}
	}
	return index.finish()
}

// match compares a listing with the snapshot.
func (r *restore) match(ctx context.Context, list *listing, listed *Listing, missing map[string]bool, index *indexWriter) error {
	i := 0
	extra := func(e *Entry) error {
		if r.o.Mode == Merge || e.Mode.IsDir() && r.holdsKept(e.Name) || missing[e.Name] || leaveOut(e.Mode) != 0 {
			return nil
		}
		return fmt.Errorf("verify: %w: %q is there and should not be", ErrDiffers, e.Name)
	}
	for f, err := range r.want.Walk(ctx) {
		if err != nil {
			return err
		}
		if r.keeps(f.Path) {
			continue
		}
		for ; i < list.len() && comparePaths(list.name(list.refs[i]), f.Path) < 0; i++ {
			e := list.entry(i)
			if err := extra(&e); err != nil {
				return err
			}
		}
		if i == list.len() || list.name(list.refs[i]) != f.Path {
			if missing[f.Path] {
				continue
			}
			return fmt.Errorf("verify: %w: %q is not there", ErrDiffers, f.Path)
		}
		e := list.entry(i)
		i++
		if missing[f.Path] {
			continue
		}
		got := fileOf(&e)
		got.Sum, got.Chunks = f.Sum, f.Chunks
		if got != f && (!sameButTime(&got, &f) || r.o.Trust && got.Modified != f.Modified) {
			return fmt.Errorf("verify: %w: %q has another kind, size, mode, time or target", ErrDiffers, f.Path)
		}
		s := seenOf(&e, listed)
		s.sum, s.chunks = f.Sum, f.Chunks
		index.add(&s)
	}
	for ; i < list.len(); i++ {
		e := list.entry(i)
		if err := extra(&e); err != nil {
			return err
		}
	}
	return nil
}

// digest has the tree hash what was written to it.
func (r *restore) digest(ctx context.Context) error {
	var names []string
	var want [][32]byte
	flush := func() error {
		got, err := r.tree.Digests(ctx, names)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		for i := range names {
			if i >= len(got) || got[i] != want[i] {
				return fmt.Errorf("verify: %w: %q has another content", ErrDiffers, names[i])
			}
		}
		names, want = names[:0], want[:0]
		return nil
	}
	for i := range r.files {
		f := &r.files[i]
		if f.Kind != KindFile {
			continue
		}
		if names, want = append(names, f.Path), append(want, f.Sum); len(names) == digestNames {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return flush()
}
