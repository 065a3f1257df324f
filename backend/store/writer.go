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
	// bare is run instead of apply, outside of any transaction.
	bare func(context.Context, *sql.Conn) error
	done chan error
}

// statements are the prepared writes of the writer's connection.
type statements struct {
	lastRow, put, content, use, take, takeContent, newEpoch, addPack, removePack, move, free, vacuum, set, del *sql.Stmt
}

// each calls f with every statement's place and text.
func (st *statements) each(f func(into **sql.Stmt, text string) error) error {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&st.lastRow, sqlLastRow},
		{&st.put, sqlPut},
		{&st.content, sqlContent},
		{&st.use, sqlUse},
		{&st.take, sqlTake},
		{&st.takeContent, sqlTakeContent},
		{&st.newEpoch, sqlNewEpoch},
		{&st.addPack, sqlAddPack},
		{&st.removePack, sqlRemovePack},
		{&st.move, sqlMove},
		{&st.free, sqlFree},
		{&st.vacuum, sqlVacuum},
		{&st.set, sqlSet},
		{&st.del, sqlDelete},
	} {
		if err := f(p.into, p.text); err != nil {
			return err
		}
	}
	return nil
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
	err = w.stmts.each(func(into **sql.Stmt, text string) error {
		var err error
		*into, err = conn.PrepareContext(ctx, text) //nolint:sqlclosecheck // close does
		return err
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go w.run(ctx)
	return w, nil
}

// do runs apply in a transaction and returns once it is durable. A write that
// the writer has taken is seen through even if ctx ends.
func (w *writer) do(ctx context.Context, bytes int, apply func(context.Context, *statements) error) error {
	return w.enqueue(&job{ctx: ctx, bytes: bytes, apply: apply, done: make(chan error, 1)})
}

// alone runs bare with the writer's connection, outside of any transaction.
func (w *writer) alone(ctx context.Context, bare func(context.Context, *sql.Conn) error) error {
	return w.enqueue(&job{ctx: ctx, bytes: maxBatchBytes, bare: bare, done: make(chan error, 1)})
}

func (w *writer) enqueue(j *job) error {
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return errClosed
	}
	select {
	case w.queue <- j:
		w.mu.RUnlock()
	case <-j.ctx.Done():
		w.mu.RUnlock()
		return j.ctx.Err()
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
	_ = w.stmts.each(func(st **sql.Stmt, _ string) error {
		err = errors.Join(err, (*st).Close())
		return nil
	})
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
	for _, j := range live {
		if j.bare == nil {
			continue
		}
		if len(live) > 1 {
			return errors.New("to be run alone")
		}
		return j.bare(ctx, w.conn)
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
