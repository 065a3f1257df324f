package snapshot

import (
	"context"
	"hash/fnv"
	"io"

	"temporal-sandbox-agent/backend/store"
)

// How pages are cut: before an entry whose path's hash says so, which is each
// 64th, but not into pieces of fewer than pageMin or more than pageMax entries.
// A change costs its page and the root, which lists the pages: with some 100
// entries in each, both are of a few KB where there are 10,000 files.
const (
	pageMask = 63
	pageMin  = 32
	pageMax  = 256
)

// pagesPut is how much of pages is put at once.
const pagesPut = 1 << 20

// pageWriter makes pages of entries that come in order.
type pageWriter struct {
	ctx   context.Context
	store Store
	// known are pages that are in the store.
	known map[store.ID]bool

	root    root
	files   []File
	pending [][]byte
	bytes   int
}

// cuts tells whether a page may begin at a path.
func cuts(path string) bool {
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	sum := h.Sum64()
	return (sum^sum>>32)&pageMask == 0
}

func (w *pageWriter) add(f File) error {
	if n := len(w.files); n == pageMax || n >= pageMin && cuts(f.Path) {
		if err := w.cut(); err != nil {
			return err
		}
	}
	w.files = append(w.files, f)
	w.root.entries++
	w.root.bytes += f.Size
	return nil
}

func (w *pageWriter) cut() error {
	data := encodePage(w.files)
	id := store.Sum(data)
	w.root.pages = append(w.root.pages, page{first: w.files[0].Path, count: len(w.files), id: id})
	w.files = w.files[:0]
	if w.known[id] {
		return nil
	}
	w.pending = append(w.pending, data)
	if w.bytes += len(data); w.bytes < pagesPut {
		return nil
	}
	return w.flush()
}

func (w *pageWriter) flush() error {
	_, err := w.store.PutMany(w.ctx, w.pending)
	w.pending, w.bytes = nil, 0
	return err
}

// finish puts what is left and the root, and returns its id.
func (w *pageWriter) finish() (store.ID, error) {
	if len(w.files) > 0 {
		if err := w.cut(); err != nil {
			return "", err
		}
	}
	data := encodeRoot(&w.root)
	id := store.Sum(data)
	if w.known[id] && len(w.pending) == 0 {
		return id, nil
	}
	w.pending = append(w.pending, data)
	return id, w.flush()
}
