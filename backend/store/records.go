package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set implements Records.
func (s *SQLite) Set(ctx context.Context, records ...Record) error {
	if len(records) == 0 {
		return nil
	}
	type row struct {
		key  []byte
		kind int
		data []byte
	}
	rows := make([]row, len(records))
	size := 0
	for i, r := range records {
		if r.Key == "" || len(r.Key) > MaxKeyBytes {
			return fmt.Errorf("set a record: a key has 1 to %d bytes, not %d", MaxKeyBytes, len(r.Key))
		}
		if len(r.Value) > MaxRecordBytes {
			return fmt.Errorf("set record %q of %d bytes: the limit is %d", r.Key, len(r.Value), MaxRecordBytes)
		}
		kind, data := s.codec.pack(r.Value, make([]byte, 0, len(r.Value)/2))
		rows[i] = row{key: []byte(r.Key), kind: kind, data: blob(data)}
		size += len(data)
	}
	err := s.writer.do(ctx, size, func(ctx context.Context, st *statements) error {
		for _, r := range rows {
			if _, err := st.set.ExecContext(ctx, r.key, r.kind, r.data); err != nil {
				return err
			}
		}
		return nil
	})
	return s.classify(fmt.Sprintf("set record %q", records[0].Key), err)
}

// Lookup implements Records.
func (s *SQLite) Lookup(ctx context.Context, key string) (Record, error) {
	if s.closed.Load() {
		return Record{}, errClosed
	}
	r := Record{Key: key}
	var (
		kind int
		data []byte
	)
	err := s.reads.lookup.QueryRowContext(ctx, []byte(key)).Scan(&r.Rev, &kind, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, fmt.Errorf("look up record %q: %w", key, ErrNotFound)
	}
	if err != nil {
		return Record{}, s.classify(fmt.Sprintf("look up record %q", key), err)
	}
	if r.Value, err = s.codec.unpack(kind, data); err != nil {
		return Record{}, fmt.Errorf("look up record %q: %w: %w", key, ErrCorrupt, err)
	}
	return r, nil
}

// List implements Records.
func (s *SQLite) List(ctx context.Context, prefix string, since int64, limit int) ([]Record, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	doing := fmt.Sprintf("list records %q", prefix)
	from, to := keyRange(prefix)
	if since > 0 {
		rows, err := s.reads.listSince.QueryContext(ctx, since, from, to)
		out, err := s.collect(doing, rows, err)
		slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.Key, b.Key) })
		if limit > 0 && len(out) > limit {
			out = out[:limit]
		}
		return out, err
	}
	if limit <= 0 {
		limit = -1 // SQLite's "no limit"
	}
	rows, err := s.reads.listAll.QueryContext(ctx, from, to, limit)
	return s.collect(doing, rows, err)
}

// collect reads the records of a query.
func (s *SQLite) collect(doing string, rows *sql.Rows, err error) ([]Record, error) {
	if err != nil {
		return nil, s.classify(doing, err)
	}
	defer func() { _ = rows.Close() }()
	var out []Record
	for rows.Next() {
		var (
			r         Record
			key, data []byte
			kind      int
		)
		if err := rows.Scan(&r.Rev, &key, &kind, &data); err != nil {
			return nil, s.classify(doing, err)
		}
		r.Key = string(key)
		if r.Value, err = s.codec.unpack(kind, data); err != nil {
			return nil, fmt.Errorf("%s: record %q: %w: %w", doing, r.Key, ErrCorrupt, err)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.classify(doing, err)
	}
	return out, nil
}

// Delete implements Records.
func (s *SQLite) Delete(ctx context.Context, prefix string) error {
	if prefix == "" {
		return errors.New("delete records: an empty prefix would delete all")
	}
	from, to := keyRange(prefix)
	err := s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
		_, err := st.del.ExecContext(ctx, from, to)
		return err
	})
	return s.classify(fmt.Sprintf("delete records %q", prefix), err)
}
