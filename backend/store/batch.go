package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
)

// batchObjects is how many objects a batch notes in one transaction.
const batchObjects = 4096

// batch writes contents to packs, and notes them in the database when it is
// flushed.
type batch struct {
	s *SQLite

	mu      sync.Mutex
	objects []object // in packs, without their data
}

// Batch implements Objects.
func (s *SQLite) Batch() Batch { return &batch{s: s} }

// Put implements Batch.
func (b *batch) Put(ctx context.Context, contents [][]byte) ([]ID, error) {
	for _, content := range contents {
		if err := checkSize(content); err != nil {
			return nil, err
		}
	}
	ids := sums(contents)
	doing := fmt.Sprintf("put %d objects", len(ids))
	todo, err := b.s.absent(ctx, ids)
	if err != nil || len(todo) == 0 {
		return ids, b.s.classify(doing, err)
	}
	objects, _, done := b.s.compress(ids, contents, todo)
	err = b.s.intoPack(ctx, objects)
	done()
	if err != nil {
		return nil, b.s.classify(doing, err)
	}
	b.mu.Lock()
	for _, o := range objects {
		o.data = nil
		b.objects = append(b.objects, o)
	}
	full := len(b.objects) >= 4*batchObjects
	b.mu.Unlock()
	if full {
		return ids, b.Flush(ctx)
	}
	return ids, nil
}

// Flush implements Batch.
func (b *batch) Flush(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.objects) == 0 {
		return nil
	}
	const doing = "put objects"
	if err := b.s.packs.sync(); err != nil {
		return b.s.classify(doing, err)
	}
	// In their order, each page of the database is written once.
	slices.SortFunc(b.objects, func(x, y object) int { return bytes.Compare(x.id, y.id) })
	for part := range slices.Chunk(b.objects, batchObjects) {
		err := b.s.writer.do(ctx, 0, func(ctx context.Context, st *statements) error {
			return st.insert(ctx, part, b.s.now().Unix())
		})
		if err != nil {
			return b.s.classify(doing, err)
		}
	}
	b.objects = nil
	return nil
}
