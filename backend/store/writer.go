package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// One commit takes at most this much, so that a flood of writes does not hold
// the write lock for long.
const (
	maxBatch      = 256
	maxBatchBytes = 8 << 20
)

// job is one write. It waits in the queue until the writer takes it.
type job struct {
	ctx   context.Context
	bytes int
	apply func(context.Context, *statements) error
	done  chan error
}

// statements are the prepared writes of the writer's connection.
type statements struct {
	put, set, del, out *sql.Stmt
}

// writer owns the only connection that writes. Writes that come while it is
// busy share the next commit, and with it the fsync.
type writer struct {
	conn  *sql.Conn
	stmts statements
	queue chan *job

	mu     sync.RWMutex
	closed bool
	ended  chan struct{}
}

// newWriter starts a writer that lives until close; ctx gives it its values
// only.
func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	ctx = context.WithoutCancel(ctx)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, queue: make(chan *job, maxBatch), ended: make(chan struct{})}
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{{&w.stmts.put, sqlPut}, {&w.stmts.set, sqlSet}, {&w.stmts.del, sqlDelete}, {&w.stmts.out, sqlOut}} {
		if *p.into, err = conn.PrepareContext(ctx, p.text); err != nil { //nolint:sqlclosecheck // close does
			return nil, errors.Join(err, conn.Close())
		}
	}
	go w.run(ctx)
	return w, nil
}

// do runs apply in a transaction and returns once it is durable. A write that
// the writer has taken is seen through even if ctx ends.
func (w *writer) do(ctx context.Context, bytes int, apply func(context.Context, *statements) error) error {
	j := &job{ctx: ctx, bytes: bytes, apply: apply, done: make(chan error, 1)}
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return errClosed
	}
	select {
	case w.queue <- j:
		w.mu.RUnlock()
	case <-ctx.Done():
		w.mu.RUnlock()
		return ctx.Err()
	}
	return <-j.done
}

func (w *writer) close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.ended
	var err error
	for _, st := range []*sql.Stmt{w.stmts.put, w.stmts.set, w.stmts.del, w.stmts.out} {
		err = errors.Join(err, st.Close())
	}
	return errors.Join(err, w.conn.Close())
}

func (w *writer) run(ctx context.Context) {
	defer close(w.ended)
	for first := range w.queue {
		batch := w.gather(first)
		err := w.commit(ctx, batch)
		if err == nil || len(batch) == 1 {
			for _, j := range batch {
				j.done <- err
			}
			continue
		}
		// One of them is at fault: each for itself.
		for _, j := range batch {
			j.done <- w.commit(ctx, []*job{j})
		}
	}
}

// gather adds the writes that wait already.
func (w *writer) gather(first *job) []*job {
	batch, bytes := []*job{first}, first.bytes
	for len(batch) < maxBatch && bytes < maxBatchBytes {
		select {
		case j, ok := <-w.queue:
			if !ok {
				return batch
			}
			batch = append(batch, j)
			bytes += j.bytes
		default:
			return batch
		}
	}
	return batch
}

func (w *writer) commit(ctx context.Context, batch []*job) error {
	live := batch[:0:0]
	for _, j := range batch {
		if j.ctx.Err() == nil {
			live = append(live, j)
		}
	}
	if len(live) < len(batch) && len(batch) > 1 {
		// Somebody gave up while waiting: run answers each for itself.
		return errors.New("cancelled while waiting")
	}
	if len(live) == 0 {
		return batch[0].ctx.Err()
	}
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for _, j := range live {
		if err := j.apply(ctx, &w.stmts); err != nil {
			w.rollback(ctx)
			return err
		}
	}
	if _, err := w.conn.ExecContext(ctx, "COMMIT"); err != nil {
		w.rollback(ctx)
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends a failed transaction. SQLite has done so by itself after some
// errors; then there is nothing to roll back, and that is no news.
func (w *writer) rollback(ctx context.Context) {
	_, _ = w.conn.ExecContext(ctx, "ROLLBACK")
}
