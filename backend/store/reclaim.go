package store

import (
	"context"
	"errors"
	"io/fs"
)

// wastedPart: a pack of which less than this part counts is written anew.
const wastedPart = 0.7

// listPacks returns the numbers of all packs, in their order.
func (s *SQLite) listPacks(ctx context.Context) ([]int64, error) {
	rows, err := s.readDB.QueryContext(ctx, sqlPacks)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []int64
	for rows.Next() {
		var num int64
		if err := rows.Scan(&num); err != nil {
			return nil, err
		}
		all = append(all, num)
	}
	return all, rows.Err()
}

// livePacked returns how many bytes of each pack count.
func (s *SQLite) livePacked(ctx context.Context) (map[int64]int64, error) {
	rows, err := s.readDB.QueryContext(ctx, sqlPacked)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	live := map[int64]int64{}
	for rows.Next() {
		var num, size int64
		if err := rows.Scan(&num, &size); err != nil {
			return nil, err
		}
		live[num] = size
	}
	return live, rows.Err()
}

// reclaim removes the packs of which nothing counts, and writes what is left of
// those of which little does into another one. It is safe to be cut off: what
// was moved counts at its new place before the old one goes.
func (s *SQLite) reclaim(ctx context.Context) error {
	if err := s.packs.close(); err != nil { // the next write begins another one
		return err
	}
	all, err := s.listPacks(ctx)
	if err != nil {
		return err
	}
	live, err := s.livePacked(ctx)
	if err != nil {
		return err
	}
	for _, num := range all {
		if float64(live[num]) >= wastedPart*float64(s.packs.bytes(num)) && live[num] > 0 {
			continue
		}
		if err := s.dropPack(ctx, num, live[num] > 0); err != nil {
			return err
		}
	}
	return nil
}

// dropPack removes a pack, after what counts of it was moved, unless somebody
// writes to it.
func (s *SQLite) dropPack(ctx context.Context, num int64, move bool) error {
	lock := s.packs.locker(num)
	got, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		got, err = true, nil // the folder was never made
	}
	if err != nil || !got {
		return err
	}
	if move {
		err := s.movePacked(ctx, num)
		if errors.Is(err, fs.ErrNotExist) {
			return lock.Unlock() // the pack is lost; reading its objects tells
		}
		if err != nil {
			return errors.Join(err, lock.Unlock())
		}
	}
	// What can't be removed now, as it is being read, is next time.
	removed := s.packs.remove(num) == nil
	err = lock.Unlock()
	s.packs.forget(lock)
	if err != nil || !removed {
		return err
	}
	return s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
		_, err := st.removePack.ExecContext(ctx, num)
		return err
	})
}

// moveObjects and moveBytes are how much is moved at once.
const (
	moveObjects = 1024
	moveBytes   = 4 << 20
)

// movePacked moves what counts of a pack into the one that is written to.
func (s *SQLite) movePacked(ctx context.Context, num int64) error {
	last := []byte{}
	for {
		ids, from, err := s.ofPack(ctx, num, last)
		if err != nil || len(ids) == 0 {
			return err
		}
		parts := make([][]byte, len(ids))
		for i := range ids {
			// What is damaged is moved as far as it is there; reading it tells.
			if parts[i], err = s.packs.read(from[i]); err != nil && parts[i] == nil {
				return err
			}
		}
		to, err := s.packs.write(ctx, parts)
		if err != nil {
			return err
		}
		if err := s.packs.sync(); err != nil {
			return err
		}
		err = s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
			for i, id := range ids {
				if _, err := st.move.ExecContext(ctx, to[i].pack, to[i].at, id, num, from[i].at); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		last = ids[len(ids)-1]
	}
}

// ofPack returns the next objects of a pack after the id last, and where they
// lie; none at its end.
func (s *SQLite) ofPack(ctx context.Context, num int64, last []byte) (ids [][]byte, where []extent, err error) {
	rows, err := s.readDB.QueryContext(ctx, sqlOfPack, num, last, moveObjects)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }()
	var total int64
	for total < moveBytes && rows.Next() {
		var id []byte
		e := extent{pack: num}
		if err := rows.Scan(&id, &e.size, &e.at); err != nil {
			return nil, nil, err
		}
		ids, where, total = append(ids, id), append(where, e), total+e.size
	}
	return ids, where, rows.Err()
}
