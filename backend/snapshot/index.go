package snapshot

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"temporal-sandbox-agent/backend/store"
)

// The index remembers what the files of a workspace looked like when a snapshot
// of it was taken, and what their contents were: what looks the same is not read
// again. It is a cache: one that is damaged, or that another version wrote,
// counts as none.
//
//	"tsi1", the snapshot, the store's epoch, excluded paths, skipped entries,
//	number of entries, entries, SHA-256 of all before
const indexMagic = "tsi1"

// seen is what the index knows of an entry.
type seen struct {
	path              string
	mode              fs.FileMode
	size              int64
	modified, changed int64
	inode             uint64
	// again: the content must be read again, as a change may not have left a
	// trace.
	again  bool
	sum    [32]byte
	chunks store.ID
	target string
}

const (
	seenAgain byte = 1 << iota
	seenChunked
)

// same tells whether a file that looks like e is the one that was seen.
func (s *seen) same(e *Entry) bool {
	return !s.again && s.mode.Type() == e.Mode.Type() && s.size == e.Size && s.modified == e.Modified && s.changed == e.Changed && s.inode == e.Inode
}

// indexHead is what the index knows as a whole.
type indexHead struct {
	root     store.ID
	epoch    string
	excluded []string
	skipped  []skipped
	entries  int
}

// index is a read index; next gives its entries in the order of their paths.
type index struct {
	indexHead
	d    decoder
	left int
	last string
}

// readIndex returns nil if there is none that can be used.
func readIndex(path string) *index {
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < sha256.Size {
		return nil
	}
	body := data[:len(data)-sha256.Size]
	if sha256.Sum256(body) != [32]byte(data[len(body):]) {
		return nil
	}
	x := &index{d: decoder{data: body}}
	d := &x.d
	d.magic(indexMagic)
	x.root = idOf(d.sum())
	x.epoch = d.string(1 << 10)
	for range d.count(len(body)) {
		x.excluded = append(x.excluded, d.string(maxPath))
	}
	for range d.count(len(body)) {
		x.skipped = append(x.skipped, skipped{path: d.string(maxPath), why: why(d.byte())})
	}
	x.entries = d.count(len(body))
	x.left = x.entries
	if d.err != nil {
		return nil
	}
	return x
}

// next returns the next entry, nil at the end.
func (x *index) next() *seen {
	if x == nil || x.left == 0 {
		return nil
	}
	x.left--
	d := &x.d
	flags := d.byte()
	shared := int(d.uvarint(uint64(len(x.last))))
	s := &seen{path: x.last[:shared] + d.string(maxPath), mode: fs.FileMode(d.uvarint(1<<32 - 1))}
	switch {
	case s.mode.IsRegular():
		s.size, s.modified, s.changed, s.inode = d.varint(), d.varint(), d.varint(), d.uvarint(1<<64-1)
		s.sum = d.sum()
		s.again = flags&seenAgain != 0
		if flags&seenChunked != 0 {
			s.chunks = idOf(d.sum())
		}
	case s.mode&fs.ModeSymlink != 0:
		s.target = d.string(maxPath)
	}
	if d.err != nil { // it has the right hash: another version of this form
		x.left = 0
		return nil
	}
	x.last = s.path
	return s
}

// indexWriter writes an index beside the old one, which finish replaces.
type indexWriter struct {
	path string
	file *os.File
	hash hash.Hash
	out  *bufio.Writer
	buf  []byte
	last string
}

// newIndexWriter returns nil if there is to be no index.
func newIndexWriter(path string, head *indexHead) (*indexWriter, error) {
	if path == "" {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("write the index of the workspace: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return nil, fmt.Errorf("write the index of the workspace: %w", err)
	}
	w := &indexWriter{path: path, file: file, hash: sha256.New()}
	w.out = bufio.NewWriterSize(io.MultiWriter(file, w.hash), 64<<10)
	b := appendID([]byte(indexMagic), head.root)
	b = appendString(b, head.epoch)
	b = binary.AppendUvarint(b, uint64(len(head.excluded)))
	for _, p := range head.excluded {
		b = appendString(b, p)
	}
	b = binary.AppendUvarint(b, uint64(len(head.skipped)))
	for _, s := range head.skipped {
		b = append(appendString(b, s.path), byte(s.why))
	}
	b = binary.AppendUvarint(b, uint64(head.entries))
	_, _ = w.out.Write(b) // finish tells
	return w, nil
}

func (w *indexWriter) add(s *seen) {
	if w == nil {
		return
	}
	var flags byte
	if s.again {
		flags |= seenAgain
	}
	if s.chunks != "" {
		flags |= seenChunked
	}
	shared := sharedPrefix(w.last, s.path)
	b := append(w.buf[:0], flags)
	b = binary.AppendUvarint(b, uint64(shared))
	b = appendString(b, s.path[shared:])
	b = binary.AppendUvarint(b, uint64(s.mode))
	switch {
	case s.mode.IsRegular():
		b = binary.AppendVarint(b, s.size)
		b = binary.AppendVarint(b, s.modified)
		b = binary.AppendVarint(b, s.changed)
		b = binary.AppendUvarint(b, s.inode)
		b = append(b, s.sum[:]...)
		if s.chunks != "" {
			b = appendID(b, s.chunks)
		}
	case s.mode&fs.ModeSymlink != 0:
		b = appendString(b, s.target)
	}
	_, _ = w.out.Write(b) // finish tells
	w.buf, w.last = b, s.path
}

func (w *indexWriter) finish() error {
	if w == nil {
		return nil
	}
	err := w.out.Flush()
	if err == nil {
		_, err = w.file.Write(w.hash.Sum(nil))
	}
	err = errors.Join(err, w.file.Close())
	if err == nil {
		err = os.Rename(w.file.Name(), w.path)
	}
	if err != nil {
		_ = os.Remove(w.file.Name())
		return fmt.Errorf("write the index of the workspace: %w", err)
	}
	return nil
}

// drop gives up an index that is not finished.
func (w *indexWriter) drop() {
	if w != nil {
		_ = w.file.Close()
		_ = os.Remove(w.file.Name())
	}
}
