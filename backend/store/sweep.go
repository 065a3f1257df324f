package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"iter"
	"time"
)

const (
	// sweepBatch is how many objects one transaction of a sweep removes at most,
	// and how many one reading looks at.
	sweepBatch = 128
	sweepLook  = 1024
	// sweepBytes is what one transaction removes at most, but for the last object.
	sweepBytes = 4 << 20
	// vacuumPages is how many pages one transaction gives back.
	vacuumPages = 512
)

// Sweep implements Keeper.
func (s *SQLite) Sweep(ctx context.Context, keep func(ID) bool, before time.Time) (removed int, bytes int64, err error) {
	return s.sweep(ctx, before, func(yield func([]known) bool) error {
		return s.eachKnown(ctx, func(list []known) bool {
			unused := list[:0]
			for _, k := range list {
				if k.used < before.Unix() && !keep(k.id) {
					unused = append(unused, k)
				}
			}
			return yield(unused)
		})
	})
}

// RemoveUnused implements Keeper.
func (s *SQLite) RemoveUnused(ctx context.Context, ids []ID, before time.Time) (removed int, bytes int64, err error) {
	return s.sweep(ctx, before, func(yield func([]known) bool) error {
		for begin := 0; begin < len(ids); begin += sweepLook {
			part := ids[begin:min(begin+sweepLook, len(ids))]
			sizes, err := s.Sizes(ctx, part)
			if err != nil {
				return err
			}
			list := make([]known, len(part))
			for i, id := range part {
				list[i] = known{id: id, size: sizes[i]}
			}
			if !yield(list) {
				return nil
			}
		}
		return nil
	})
}

// sweep removes what candidates names, a few in each transaction, and gives the
// space back.
func (s *SQLite) sweep(ctx context.Context, before time.Time, candidates func(yield func([]known) bool) error) (removed int, bytes int64, err error) {
	const doing = "sweep the store"
	release, err := s.alone()
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", doing, err)
	}
	defer release()
	var failed error
	err = candidates(func(list []known) bool {
		for batch := range batches(list) {
			var (
				n    int
				size int64
			)
			failed = s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
				var err error
				n, size, err = st.remove(ctx, batch, before.Unix())
				return err
			})
			if failed != nil {
				return false
			}
			removed, bytes = removed+n, bytes+size
		}
		return true
	})
	if failed != nil {
		err = failed
	}
	if err == nil {
		err = s.reclaim(ctx)
	}
	if err == nil {
		err = s.giveBack(ctx)
	}
	if err != nil {
		return removed, bytes, s.classify(doing, err)
	}
	return removed, bytes, nil
}

// batches cuts a list into what one transaction removes.
func batches(list []known) iter.Seq[[]ID] {
	return func(yield func([]ID) bool) {
		var (
			batch []ID
			size  int64
		)
		for _, k := range list {
			batch, size = append(batch, k.id), size+k.size
			if len(batch) < sweepBatch && size < sweepBytes {
				continue
			}
			if !yield(batch) {
				return
			}
			batch, size = nil, 0
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// giveBack makes the file smaller by what it holds nothing in, in small steps,
// and then empties the log.
func (s *SQLite) giveBack(ctx context.Context) error {
	for {
		var left int64
		err := s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
			if err := st.free.QueryRowContext(ctx).Scan(&left); err != nil || left == 0 {
				return err
			}
			_, err := st.vacuum.ExecContext(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if left <= vacuumPages {
			break
		}
	}
	return s.writer.alone(ctx, func(ctx context.Context, conn *sql.Conn) error {
		// What readers still look at stays in the log until the next time.
		_, err := conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	})
}

// known is what the database knows of an object beside its content.
type known struct {
	id   ID
	size int64
	used int64
}

// eachKnown calls each with all objects, some at a time, in the order of their
// ids. No statement is open meanwhile: a long read would keep the log from being
// folded in.
func (s *SQLite) eachKnown(ctx context.Context, each func([]known) bool) error {
	last := []byte{}
	for {
		list, err := s.knownAfter(ctx, last)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
		last = list[len(list)-1].id.rowID()
		if !each(list) {
			return nil
		}
	}
}

// knownAfter returns the next objects after an id.
func (s *SQLite) knownAfter(ctx context.Context, last []byte) ([]known, error) {
	rows, err := s.readDB.QueryContext(ctx, sqlKnown, last, sweepLook)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []known
	for rows.Next() {
		var (
			k   known
			raw []byte
		)
		if err := rows.Scan(&raw, &k.size, &k.used); err != nil {
			return nil, err
		}
		k.id = ID(hex.EncodeToString(raw))
		list = append(list, k)
	}
	return list, rows.Err()
}
