package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Source is a workspace on this machine, whose files a Restore may copy.
type Source interface {
	// Open reads a file from its beginning; it need not be there. It is called from
	// several goroutines.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
}

// opener opens the content of a file: from the source if it has the same, else
// from the store.
func (r *restore) opener(f *File) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) {
		if r.o.Source != nil && !r.spoiled[f.Path] {
			if content, err := r.fromSource(ctx, f); err == nil {
				return content, nil
			} else if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		return openContent(ctx, r.store, f)
	}
}

var errOther = errors.New("the source has another content")

func (r *restore) fromSource(ctx context.Context, f *File) (io.ReadCloser, error) {
	file, err := r.o.Source.Open(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	if f.Size > maxWhole {
		return &checked{from: file, left: f.Size, path: f.Path, want: f.Sum, hash: sha256.New()}, nil
	}
	// A small file is read as a whole, so that another content does no harm.
	data := make([]byte, f.Size)
	_, err = io.ReadFull(file, data)
	if err == nil && sha256.Sum256(data) != f.Sum {
		err = errOther
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// errSpoiled tells that a source was found to have another content when part of
// it was written.
type errSpoiled struct{ path string }

func (e *errSpoiled) Error() string { return fmt.Sprintf("%q changed while it was copied", e.path) }

func (r *restore) setSpoiled(path string) {
	if r.spoiled == nil {
		r.spoiled = map[string]bool{}
	}
	r.spoiled[path] = true
}

// checked reads a large file of a source. It keeps back the end until all has the
// right hash.
type checked struct {
	from io.ReadCloser
	left int64
	path string
	want [32]byte
	hash hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	c.hash.Write(p[:n])
	c.left -= int64(n)
	if c.left > 0 && err != nil || c.left == 0 && [32]byte(c.hash.Sum(nil)) != c.want {
		return 0, &errSpoiled{c.path}
	}
	return n, nil
}

func (c *checked) Close() error { return c.from.Close() }
