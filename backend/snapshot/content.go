package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/restic/chunker"
	"golang.org/x/sync/errgroup"

	"temporal-sandbox-agent/backend/store"
)

// polynomial makes all stores cut files at the same places; it must never
// change, or nothing that was stored is found again.
const polynomial = chunker.Pol(0x3DA3358B4DC173)

const (
	minChunk = 256 << 10
	// chunkBits: a part has 1 MiB on average.
	chunkBits = 20
	// batchBytes and batchFiles are how much is put at once.
	batchBytes = 2 << 20
	batchFiles = 512
	// batchesPut is how many are put at the same time while one is filled.
	batchesPut = 2
)

// batch is a number of contents that are put together, in one piece of memory.
type batch struct {
	space    []byte
	contents [][]byte
	done     []func(store.ID)
}

// contentWriter hashes, compresses and stores contents in the background. Its
// memory is what a few batches take, whatever the number of contents.
type contentWriter struct {
	store store.Batch
	group *errgroup.Group
	ctx   context.Context
	free  chan *batch
	now   *batch
	cut   *chunker.Chunker
}

func newContentWriter(ctx context.Context, s Store) *contentWriter {
	w := &contentWriter{store: s.Batch(), free: make(chan *batch, batchesPut+1)}
	w.group, w.ctx = errgroup.WithContext(ctx)
	for range cap(w.free) {
		w.free <- nil // made when it is needed
	}
	return w
}

// room returns n bytes to read into; take keeps what was read.
func (w *contentWriter) room(n int) ([]byte, error) {
	if w.now != nil && (len(w.now.space)+n > cap(w.now.space) || len(w.now.contents) >= batchFiles) {
		w.send()
	}
	if w.now == nil {
		select {
		case w.now = <-w.free:
		case <-w.ctx.Done():
			return nil, w.failure()
		}
		if w.now == nil {
			w.now = &batch{}
		}
		if cap(w.now.space) < n {
			w.now.space = make([]byte, 0, max(n, batchBytes))
		}
	}
	at := len(w.now.space)
	return w.now.space[at : at+n], nil
}

// take keeps the first n bytes of the last room as a content; done is called with
// its id, one call at a time for each batch, before wait returns.
func (w *contentWriter) take(n int, done func(store.ID)) {
	at := len(w.now.space)
	w.now.space = w.now.space[:at+n]
	w.now.contents = append(w.now.contents, w.now.space[at:at+n:at+n])
	w.now.done = append(w.now.done, done)
}

// send puts the present batch in the background.
func (w *contentWriter) send() {
	b := w.now
	w.now = nil
	w.group.Go(func() error {
		ids, err := w.store.Put(w.ctx, b.contents)
		if err != nil {
			return err
		}
		for i, id := range ids {
			b.done[i](id)
		}
		b.space, b.contents, b.done = b.space[:0], b.contents[:0], b.done[:0]
		w.free <- b
		return nil
	})
}

// wait returns when everything is stored.
func (w *contentWriter) wait(ctx context.Context) error {
	if w.now != nil && len(w.now.contents) > 0 {
		w.send()
	}
	if err := w.group.Wait(); err != nil {
		return err
	}
	return w.store.Flush(ctx)
}

// failure is why the context of the group ended.
func (w *contentWriter) failure() error {
	if err := w.group.Wait(); err != nil {
		return err
	}
	return w.ctx.Err()
}

// errRead is an error of the content that is read, not of the store.
type errRead struct{ err error }

func (e *errRead) Error() string { return e.err.Error() }
func (e *errRead) Unwrap() error { return e.err }

// stored is what became of a file's content.
type stored struct {
	size  int64
	sum   [32]byte
	parts []*chunk // of a large one
}

// write stores what r gives. The result is complete once wait has returned. An
// *errRead tells that r failed.
func (w *contentWriter) write(r io.Reader, size int64, into *stored) error {
	n := int(min(max(size, 0), maxWhole)) + 1
	head, err := w.room(n)
	if err != nil {
		return err
	}
	read, err := io.ReadFull(r, head)
	switch {
	case err == nil && read <= maxWhole: // it grew: it is kept as it was
		read--
	case err == nil:
		return w.writeChunks(io.LimitReader(r, max(size-int64(read), 0)), head, into)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return &errRead{err}
	}
	into.size = int64(read)
	w.take(read, func(id store.ID) { into.sum = sumOf(id) })
	return nil
}

// writeChunks stores a large file, which begins with head.
func (w *contentWriter) writeChunks(r io.Reader, head []byte, into *stored) error {
	whole := sha256.New()
	// The head lies where the next content goes.
	from := io.TeeReader(io.MultiReader(bytes.NewReader(bytes.Clone(head)), r), whole)
	if w.cut == nil {
		w.cut = chunker.NewWithBoundaries(from, polynomial, minChunk, maxChunk)
	} else {
		w.cut.ResetWithBoundaries(from, polynomial, minChunk, maxChunk)
	}
	w.cut.SetAverageBits(chunkBits)
	for {
		space, err := w.room(maxChunk)
		if err != nil {
			return err
		}
		part, err := w.cut.Next(space[:0])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &errRead{err}
		}
		n := int(part.Length)
		if n > len(space) {
			return fmt.Errorf("cut a file: a part of %d bytes", n)
		}
		c := &chunk{size: int64(n)}
		into.parts = append(into.parts, c)
		into.size += int64(n)
		w.take(n, func(id store.ID) { c.id = id })
	}
	into.sum = [32]byte(whole.Sum(nil))
	return nil
}

func sumOf(id store.ID) (sum [32]byte) {
	_, _ = hex.Decode(sum[:], []byte(id)) // ids are hexadecimal
	return sum
}
