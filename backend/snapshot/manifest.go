package snapshot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"iter"
	"sort"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Manifest is what a snapshot holds. Its pages are read when they are needed. It
// is safe for concurrent use.
type Manifest struct {
	store Reader
	id    store.ID
	root  *root
}

// Load opens a snapshot.
func Load(ctx context.Context, s Reader, id store.ID) (*Manifest, error) {
	data, err := s.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	r, err := decodeRoot(data)
	if err != nil {
		return nil, fmt.Errorf("open snapshot %s: %w", id, err)
	}
	return &Manifest{store: s, id: id, root: r}, nil
}

// ID is the snapshot's root.
func (m *Manifest) ID() store.ID { return m.id }

// Files counts all entries.
func (m *Manifest) Files() int { return m.root.entries }

// Bytes is the size of all regular files.
func (m *Manifest) Bytes() int64 { return m.root.bytes }

// Excluded are the paths that were left out.
func (m *Manifest) Excluded() []string { return m.root.excluded }

// Skipped are the entries that are not in it, or not as they should be.
func (m *Manifest) Skipped() []protocol.Skipped { return told(m.root.skipped) }

// page reads a page.
func (m *Manifest) page(ctx context.Context, i int) ([]File, error) {
	p := m.root.pages[i]
	data, err := m.store.Get(ctx, p.id)
	if err != nil {
		return nil, fmt.Errorf("read a page of the snapshot: %w", err)
	}
	files, err := decodePage(data)
	if err == nil && (len(files) != p.count || files[0].Path != p.first) {
		err = fmt.Errorf("%w: a page is not the one that the root names", ErrInvalid)
	}
	if err == nil && i+1 < len(m.root.pages) && comparePaths(files[len(files)-1].Path, m.root.pages[i+1].first) >= 0 {
		err = fmt.Errorf("%w: pages overlap", ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("read page %s of the snapshot: %w", p.id, err)
	}
	return files, nil
}

// Walk gives all entries in the order of their paths, folders before what is in
// them. It checks that the snapshot is sound as a whole; the first error ends it.
func (m *Manifest) Walk(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		var (
			in    parents
			bytes int64
		)
		for i := range m.root.pages {
			files, err := m.page(ctx, i)
			if err != nil {
				yield(File{}, err)
				return
			}
			for _, f := range files {
				if !in.enter(&f) {
					yield(File{}, fmt.Errorf("walk the snapshot: %w: %q is not in a folder", ErrInvalid, f.Path))
					return
				}
				bytes += f.Size
				if !yield(f, nil) {
					return
				}
			}
		}
		if bytes != m.root.bytes {
			yield(File{}, fmt.Errorf("walk the snapshot: %w: the files hold %d bytes, not %d", ErrInvalid, bytes, m.root.bytes))
		}
	}
}

// Lookup finds an entry; false if there is none.
func (m *Manifest) Lookup(ctx context.Context, path string) (File, bool, error) {
	i := sort.Search(len(m.root.pages), func(i int) bool { return comparePaths(m.root.pages[i].first, path) > 0 }) - 1
	if i < 0 {
		return File{}, false, nil
	}
	files, err := m.page(ctx, i)
	if err != nil {
		return File{}, false, err
	}
	j := sort.Search(len(files), func(j int) bool { return comparePaths(files[j].Path, path) >= 0 })
	if j < len(files) && files[j].Path == path {
		return files[j], true, nil
	}
	return File{}, false, nil
}

// Open reads the content of a file. Each part is verified before it is given.
func (m *Manifest) Open(ctx context.Context, f File) (io.ReadCloser, error) {
	return openContent(ctx, m.store, &f)
}

func openContent(ctx context.Context, s Reader, f *File) (io.ReadCloser, error) {
	if f.Kind != KindFile {
		return nil, fmt.Errorf("open %q: it is no file", f.Path)
	}
	c := &content{ctx: ctx, store: s, file: *f, hash: sha256.New()}
	if f.Chunks == "" {
		c.left = []chunk{{size: f.Size, id: idOf(f.Sum)}}
		c.hash = nil // the object's id is its hash
		return c, nil
	}
	data, err := s.Get(ctx, f.Chunks)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", f.Path, err)
	}
	if c.left, err = decodeChunks(data, f.Size); err != nil {
		return nil, fmt.Errorf("open %q: %w", f.Path, err)
	}
	return c, nil
}

// content reads the parts of a file.
type content struct {
	ctx   context.Context
	store Reader
	file  File
	hash  hash.Hash // of what was read; nil if it needs none
	left  []chunk
	part  []byte
}

func (c *content) Read(p []byte) (int, error) {
	for len(c.part) == 0 {
		if len(c.left) == 0 {
			return 0, io.EOF
		}
		part, err := c.store.Get(c.ctx, c.left[0].id)
		if err != nil {
			return 0, fmt.Errorf("read %q: %w", c.file.Path, err)
		}
		if int64(len(part)) != c.left[0].size {
			return 0, fmt.Errorf("read %q: %w: a part has another size", c.file.Path, ErrInvalid)
		}
		c.part, c.left = part, c.left[1:]
		if c.hash == nil {
			continue
		}
		c.hash.Write(part)
		// Before the last part is given, so that nobody takes the whole for good.
		if len(c.left) == 0 && [32]byte(c.hash.Sum(nil)) != c.file.Sum {
			return 0, fmt.Errorf("read %q: %w: the whole has another hash", c.file.Path, ErrInvalid)
		}
	}
	n := copy(p, c.part)
	c.part = c.part[n:]
	return n, nil
}

func (c *content) Close() error { return nil }

// Reached is an object that a snapshot needs, and whose it is: the path of a
// file, or empty for the root and its pages.
type Reached struct {
	ID   store.ID
	Path string
}

// Objects gives all objects that a snapshot needs: its root, pages, lists of
// parts, and contents; some more than once. What is below an object for which
// seen says true is left out; a root or a page is then not read. An object that
// can't be read is given like any other, followed by the error; what is below it
// is not known then.
func Objects(ctx context.Context, s Reader, id store.ID, seen func(store.ID) bool) iter.Seq2[Reached, error] {
	return func(yield func(Reached, error) bool) {
		if seen(id) {
			return
		}
		if !yield(Reached{ID: id}, nil) {
			return
		}
		m, err := Load(ctx, s, id)
		if err != nil {
			yield(Reached{ID: id}, err)
			return
		}
		for i, p := range m.root.pages {
			if seen(p.id) {
				continue
			}
			if !yield(Reached{ID: p.id}, nil) {
				return
			}
			files, err := m.page(ctx, i)
			if err != nil {
				if !yield(Reached{ID: p.id}, err) {
					return
				}
				continue
			}
			for i := range files {
				if !m.contents(ctx, &files[i], seen, yield) {
					return
				}
			}
		}
	}
}

// contents gives the objects of a file.
func (m *Manifest) contents(ctx context.Context, f *File, seen func(store.ID) bool, yield func(Reached, error) bool) bool {
	switch {
	case f.Kind != KindFile:
		return true
	case f.Chunks == "":
		return yield(Reached{ID: idOf(f.Sum), Path: f.Path}, nil)
	case seen(f.Chunks):
		return true
	}
	list := Reached{ID: f.Chunks, Path: f.Path}
	if !yield(list, nil) {
		return false
	}
	data, err := m.store.Get(ctx, f.Chunks)
	if err != nil {
		return yield(list, fmt.Errorf("read the parts of %q: %w", f.Path, err))
	}
	chunks, err := decodeChunks(data, f.Size)
	if err != nil {
		return yield(list, fmt.Errorf("read the parts of %q: %w", f.Path, err))
	}
	for _, c := range chunks {
		if !yield(Reached{ID: c.id, Path: f.Path}, nil) {
			return false
		}
	}
	return true
}
