//go:build unix

package local

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

const (
	writeBuffer = 256 << 10
	// hole is the size and the place of what is left out of a file when it is all
	// zeros; a file up to holesFrom has none.
	hole      = 64 << 10
	holesFrom = 1 << 20
)

// fileWriter writes contents, with holes where there is nothing but zeros.
type fileWriter struct{ buf []byte }

// copy writes content, which should have size bytes, to an empty file, and
// returns how many it had.
func (w *fileWriter) copy(ctx context.Context, fd int, content io.Reader, size int64) (int64, error) {
	var at int64
	end := int64(0) // of the last that was written
	for {
		if err := ctx.Err(); err != nil {
			return at, context.Cause(ctx)
		}
		n, err := io.ReadFull(content, w.buf[:min(int64(len(w.buf)), size-at+1)])
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			if sandbox.KindOf(err) == "" && ctx.Err() == nil {
				err = fail(sandbox.KindTransport, "read the new content", "%w", err)
			}
			return at, err
		}
		if err := w.put(fd, w.buf[:n], at, size > holesFrom, &end); err != nil {
			return at, err
		}
		if at += int64(n); last || at > size {
			break
		}
	}
	if end < at {
		return at, unix.Ftruncate(fd, at)
	}
	return at, nil
}

// put writes a piece that belongs at a place.
func (w *fileWriter) put(fd int, data []byte, at int64, holes bool, end *int64) error {
	for len(data) > 0 {
		piece := data
		if holes && len(piece) > hole {
			piece = piece[:hole]
		}
		data = data[len(piece):]
		if !holes || len(piece) < hole || !zeros(piece) {
			for done := 0; done < len(piece); {
				n, err := retry(func() (int, error) { return unix.Pwrite(fd, piece[done:], at+int64(done)) })
				if err != nil {
					return err
				}
				done += n
			}
			*end = at + int64(len(piece))
		}
		at += int64(len(piece))
	}
	return nil
}

// zeros tells whether there is nothing but zeros.
func zeros(b []byte) bool {
	for len(b) >= 8 {
		if b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7] != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
