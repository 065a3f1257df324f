package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
)

// Usage implements Keeper.
func (s *SQLite) Usage(ctx context.Context) (Usage, error) {
	if s.closed.Load() {
		return Usage{}, errClosed
	}
	var u Usage
	for _, suffix := range []string{"", "-wal"} {
		// The log is not there when it was folded in.
		if info, err := os.Stat(s.Path() + suffix); err == nil {
			u.File += info.Size()
		}
	}
	const doing = "look how large the store is"
	if err := s.readDB.QueryRowContext(ctx, sqlUsage).Scan(&u.Objects, &u.Stored, &u.Free); err != nil {
		return Usage{}, s.classify(doing, err)
	}
	all, err := s.listPacks(ctx)
	if err != nil {
		return Usage{}, s.classify(doing, err)
	}
	live, err := s.livePacked(ctx)
	if err != nil {
		return Usage{}, s.classify(doing, err)
	}
	for _, num := range all {
		size := s.packs.bytes(num)
		u.File += size
		u.Free += max(size-live[num], 0)
	}
	return u, nil
}

// Sizes implements Keeper.
func (s *SQLite) Sizes(ctx context.Context, ids []ID) ([]int64, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	sizes := make([]int64, len(ids))
	for i, id := range ids {
		row := id.rowID()
		if row == nil {
			continue
		}
		err := s.reads.size.QueryRowContext(ctx, row).Scan(&sizes[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, s.classify("look how large object "+string(id)+" is", err)
		}
	}
	return sizes, nil
}

// Verify implements Keeper.
func (s *SQLite) Verify(ctx context.Context, each func(ID, error)) error {
	if s.closed.Load() {
		return errClosed
	}
	var failed error
	err := s.eachKnown(ctx, func(list []known) bool {
		faults := make([]error, len(list))
		parallel(len(list), func(i int) { _, faults[i] = s.Get(ctx, list[i].id) })
		for i, err := range faults {
			switch {
			case ctx.Err() != nil:
				failed = ctx.Err()
				return false
			case errors.Is(err, ErrCorrupt):
				each(list[i].id, err)
			case err != nil && !errors.Is(err, ErrNotFound): // removed meanwhile
				failed = err
				return false
			}
		}
		return true
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return s.classify("verify the store", err)
	}
	return nil
}
