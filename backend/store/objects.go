package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// useFor is how long the last use of an object is let stand before another one
// is noted. Sweep asks for what was not used since a time that should lie well
// before it.
const useFor = time.Minute

// Put implements Objects.
func (s *SQLite) Put(ctx context.Context, content []byte) (ID, error) {
	if err := checkSize(content); err != nil {
		return "", err
	}
	id := Sum(content)
	return id, s.putBatch(ctx, []ID{id}, [][]byte{content}, false)
}

// PutMany implements Objects. It compresses on all cores, and writes a few MB at
// a time.
func (s *SQLite) PutMany(ctx context.Context, contents [][]byte) ([]ID, error) {
	for _, content := range contents {
		if err := checkSize(content); err != nil {
			return nil, err
		}
	}
	ids := sums(contents)
	for begin := 0; begin < len(contents); {
		end, size := begin, 0
		for end < len(contents) && (end == begin || size+len(contents[end]) <= maxBatchBytes) {
			size += len(contents[end])
			end++
		}
		if err := s.putBatch(ctx, ids[begin:end], contents[begin:end], true); err != nil {
			return nil, err
		}
		begin = end
	}
	return ids, nil
}

func sums(contents [][]byte) []ID {
	ids := make([]ID, len(contents))
	parallel(len(contents), func(i int) { ids[i] = Sum(contents[i]) })
	return ids
}

func checkSize(content []byte) error {
	if len(content) > MaxObjectBytes {
		return fmt.Errorf("put an object of %d bytes: the limit is %d", len(content), MaxObjectBytes)
	}
	return nil
}

// putBatch puts what fits into one transaction; packed allows to put the
// contents into a pack.
func (s *SQLite) putBatch(ctx context.Context, ids []ID, contents [][]byte, packed bool) error {
	doing := fmt.Sprintf("put %d objects", len(ids))
	if len(ids) == 1 {
		doing = "put object " + string(ids[0])
	}
	todo, err := s.absent(ctx, ids)
	if err != nil || len(todo) == 0 {
		return s.classify(doing, err)
	}
	batch, size, done := s.compress(ids, contents, todo)
	defer done()
	if packed && size >= packFrom {
		if err = s.intoPack(ctx, batch); err == nil {
			err = s.packs.sync()
		}
		size = 0
	}
	if err == nil {
		err = s.writer.do(ctx, size, func(ctx context.Context, st *statements) error {
			return st.insert(ctx, batch, s.now().Unix())
		})
	}
	return s.classify(doing, err)
}

// compress makes the stored forms of those of the contents whose places are
// todo, and tells their size. They lie in memory that is used again after done.
func (s *SQLite) compress(ids []ID, contents [][]byte, todo []int) (batch []object, size int, done func()) {
	batch = make([]object, len(todo))
	begin := make([]int, len(todo)+1)
	for i, at := range todo {
		begin[i+1] = begin[i] + packedMost(len(contents[at]))
	}
	space := s.codec.space(begin[len(todo)])
	parallel(len(todo), func(i int) {
		at := todo[i]
		kind, data := s.codec.pack(contents[at], (*space)[begin[i]:begin[i]:begin[i+1]])
		batch[i] = object{id: ids[at].rowID(), kind: kind, data: blob(data)}
	})
	for _, o := range batch {
		size += len(o.data)
	}
	return batch, size, func() { s.codec.spaces.Put(space) }
}

// object is an object on its way into the database.
type object struct {
	id   []byte
	kind int
	data []byte
	// where is where the data lies already, if not nil.
	where *extent
}

func (s *SQLite) intoPack(ctx context.Context, batch []object) error {
	parts := make([][]byte, len(batch))
	for i, o := range batch {
		parts[i] = o.data
	}
	extents, err := s.packs.write(ctx, parts)
	if err != nil {
		return err
	}
	for i := range batch {
		batch[i].where = &extents[i]
	}
	return nil
}

// absent returns the places in ids of the objects that are not there. Of the
// others it notes that they are used.
func (s *SQLite) absent(ctx context.Context, ids []ID) ([]int, error) {
	// What a reader sees is durable: SQLite shows a commit after its fsync.
	used, err := s.uses(ctx, ids)
	if err != nil {
		return nil, err
	}
	var absent, stale []int
	for i := range ids {
		switch {
		case used[i] < 0:
			absent = append(absent, i)
		case used[i] < s.now().Add(-useFor).Unix():
			stale = append(stale, i)
		}
	}
	if len(stale) > 0 {
		gone, err := s.use(ctx, ids, stale)
		if err != nil {
			return nil, err
		}
		absent = append(absent, gone...)
	}
	return absent, nil
}

// insert notes objects, and writes the contents of those that are not in a pack.
func (st *statements) insert(ctx context.Context, batch []object, now int64) error {
	var last int64
	if err := st.lastRow.QueryRowContext(ctx).Scan(&last); err != nil {
		return err
	}
	for _, o := range batch {
		where := extent{at: last + 1, size: int64(len(o.data))}
		if o.where != nil {
			where = *o.where
		}
		done, err := st.put.ExecContext(ctx, o.id, o.kind, where.size, now, where.pack, where.at)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil {
			return err
		} else if n == 0 { // somebody else has put it meanwhile
			if _, err := st.use.ExecContext(ctx, now, o.id); err != nil {
				return err
			}
			continue
		}
		if where.pack > 0 {
			continue
		}
		last++
		if _, err := st.content.ExecContext(ctx, last, o.data); err != nil {
			return err
		}
	}
	return nil
}

// use notes that objects, those of ids at the given places, are used now. It
// returns the places of those that are not there any more.
func (s *SQLite) use(ctx context.Context, ids []ID, at []int) (gone []int, err error) {
	err = s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
		gone = nil // it may be run again
		now := s.now().Unix()
		for _, i := range at {
			done, err := st.use.ExecContext(ctx, now, ids[i].rowID())
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				gone = append(gone, i)
			}
		}
		return nil
	})
	return gone, err
}

// Get implements Objects.
func (s *SQLite) Get(ctx context.Context, id ID) ([]byte, error) {
	row := id.rowID()
	if row == nil {
		return nil, fmt.Errorf("get object %q: not an id: %w", id, ErrNotFound)
	}
	if s.closed.Load() {
		return nil, errClosed
	}
	kind, data, err := s.stored(ctx, row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("get object %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, s.classify("get object "+string(id), err)
	}
	content, err := s.codec.unpack(kind, data)
	if err != nil {
		return nil, fmt.Errorf("get object %s: %w: %w", id, ErrCorrupt, err)
	}
	if Sum(content) != id {
		return nil, fmt.Errorf("get object %s: %w: the content has another hash", id, ErrCorrupt)
	}
	return content, nil
}

// stored returns the stored form of an object.
func (s *SQLite) stored(ctx context.Context, row []byte) (kind int, data []byte, err error) {
	for again := true; ; again = false {
		var e extent
		if err := s.reads.get.QueryRowContext(ctx, row).Scan(&kind, &e.size, &e.pack, &e.at, &data); err != nil {
			return 0, nil, err
		}
		switch {
		case e.pack > 0:
			data, err = s.packs.read(e)
		case data == nil && e.size > 0: // nothing is read as nil
			err = errors.New("its row is missing")
		}
		if err == nil {
			return kind, data, nil
		}
		// A sweep may have moved it between the two readings.
		if !again || !errors.Is(err, fs.ErrNotExist) {
			// Only what shows that it is not there: any other error may pass.
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return 0, nil, err
			}
			return 0, nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
}

// Has implements Objects.
func (s *SQLite) Has(ctx context.Context, id ID) (bool, error) {
	used, err := s.uses(ctx, []ID{id})
	return err == nil && used[0] >= 0, err
}

// HasMany implements Objects.
func (s *SQLite) HasMany(ctx context.Context, ids []ID) ([]bool, error) {
	used, err := s.uses(ctx, ids)
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(ids))
	for i, at := range used {
		there[i] = at >= 0
	}
	return there, nil
}

// uses returns when objects were last used, in Unix time; -1 for one that is not
// there.
func (s *SQLite) uses(ctx context.Context, ids []ID) ([]int64, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	used := make([]int64, len(ids))
	for i, id := range ids {
		used[i] = -1
		row := id.rowID()
		if row == nil {
			continue
		}
		err := s.reads.used.QueryRowContext(ctx, row).Scan(&used[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, s.classify("look for object "+string(id), err)
		}
	}
	return used, nil
}

// Remove implements Store.
func (s *SQLite) Remove(ctx context.Context, ids ...ID) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
		_, _, err := st.remove(ctx, ids, maxUnix)
		return err
	})
	return s.classify(fmt.Sprintf("remove %d objects", len(ids)), err)
}

// maxUnix is after every use.
const maxUnix = 1 << 62

// remove removes those of the objects that were not used since before, and
// draws a new epoch if there were any.
func (st *statements) remove(ctx context.Context, ids []ID, before int64) (removed int, bytes int64, err error) {
	for _, id := range ids {
		raw := id.rowID()
		if raw == nil {
			continue
		}
		var e extent
		err := st.take.QueryRowContext(ctx, raw, before).Scan(&e.size, &e.pack, &e.at)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return removed, bytes, err
		}
		if e.pack == 0 {
			if _, err := st.takeContent.ExecContext(ctx, e.at); err != nil {
				return removed, bytes, err
			}
		}
		removed++
		bytes += e.size
	}
	if removed > 0 {
		_, err = st.newEpoch.ExecContext(ctx)
	}
	return removed, bytes, err
}

// Epoch implements Objects.
func (s *SQLite) Epoch(ctx context.Context) (string, error) {
	if s.closed.Load() {
		return "", errClosed
	}
	var epoch string
	err := s.reads.epoch.QueryRowContext(ctx).Scan(&epoch)
	return epoch, s.classify("read the epoch", err)
}
