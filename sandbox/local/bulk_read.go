//go:build unix

package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

// readAhead is the size up to which a file is read before it is asked for; larger
// ones are only opened.
const readAhead = 1 << 20

// ReadFiles implements sandbox.Bulk. Files are opened and read on several cores,
// a few ahead of the one that each has.
func (s *Sandbox) ReadFiles(ctx context.Context, names []string, each func(sandbox.FileRead) error) error {
	root, err := s.bulkRoot("read files")
	if err != nil {
		return err
	}
	defer root.Close()
	var (
		next    atomic.Int64
		workers sync.WaitGroup
	)
	ready, stop := make(chan *ahead), make(chan struct{})
	spare := sync.Pool{New: func() any { return new([]byte) }}
	for range bulkWorkers() {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				a := s.files.readAhead(int(root.Fd()), names[i], spare.Get().(*[]byte))
				select {
				case ready <- a:
				case <-stop:
					a.close()
					return
				}
			}
		})
	}
	defer workers.Wait()
	defer close(stop)
	for range names {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-ready:
			err := each(a.FileRead)
			a.close()
			spare.Put(a.space)
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// ahead is a file that is read, or opened, ahead.
type ahead struct {
	sandbox.FileRead
	file  *os.File // nil if all was read
	space *[]byte
}

func (a *ahead) close() {
	if a.file != nil {
		_ = a.file.Close() // it was only read from
	}
}

func (f *files) readAhead(root int, name string, space *[]byte) *ahead {
	a := &ahead{FileRead: sandbox.FileRead{Name: name}, space: space}
	op := "read " + name
	fd, st, err := f.openFile(root, op, name)
	if err != nil {
		a.Err = err
		return a
	}
	a.Mode, a.Size, a.Modified = modeOf(statMode(st)), st.Size, st.Mtim.Nano()
	if st.Size > readAhead {
		a.file = os.NewFile(uintptr(fd), name)
		a.Content = a.file
		return a
	}
	// One byte more than it should have, to notice when it grows.
	if cap(*space) < int(st.Size)+1 {
		*space = make([]byte, max(int(st.Size)+1, 32<<10))
	}
	buf := (*space)[:st.Size+1]
	n := 0
	for n < len(buf) {
		got, err := retry(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			_ = unix.Close(fd)
			a.Err = wrap(op, err)
			return a
		}
		if got == 0 {
			break
		}
		n += got
		if n == int(st.Size) {
			break // as long as it should be
		}
	}
	if n > int(st.Size) {
		a.file = os.NewFile(uintptr(fd), name)
		a.Content = io.MultiReader(bytes.NewReader(buf[:n]), a.file)
		return a
	}
	_ = unix.Close(fd)
	a.Content = bytes.NewReader(buf[:n])
	return a
}

// openFile opens a regular file; the error is an *sandbox.Error.
func (f *files) openFile(root int, op, name string) (int, *unix.Stat_t, error) {
	rel, err := f.bulkName(op, name)
	if err != nil {
		return -1, nil, err
	}
	// Not blocking, in case that it is a FIFO.
	fd, err := openBelow(root, rel, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return -1, nil, wrap(op, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return -1, nil, wrap(op, err)
	}
	if statMode(&st)&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return -1, nil, fail(sandbox.KindInvalid, op, "it is not a regular file")
	}
	return fd, &st, nil
}

// Digests implements sandbox.Bulk.
func (s *Sandbox) Digests(ctx context.Context, names []string) ([][32]byte, error) {
	root, err := s.bulkRoot("hash files")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sums := make([][32]byte, len(names))
	var (
		next    atomic.Int64
		workers sync.WaitGroup
	)
	for range bulkWorkers() {
		workers.Go(func() {
			buf := make([]byte, 256<<10)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				sums[i] = s.files.digest(ctx, int(root.Fd()), names[i], buf)
			}
		})
	}
	workers.Wait()
	return sums, ctx.Err()
}

// digest is the hash of a file, zero if it can't be read.
func (f *files) digest(ctx context.Context, root int, name string, buf []byte) (sum [32]byte) {
	fd, _, err := f.openFile(root, "hash "+name, name)
	if err != nil {
		return sum
	}
	defer func() { _ = unix.Close(fd) }()
	hash := sha256.New()
	for ctx.Err() == nil {
		n, err := retry(func() (int, error) { return unix.Read(fd, buf) })
		if err != nil {
			return sum
		}
		if n == 0 {
			return [32]byte(hash.Sum(nil))
		}
		hash.Write(buf[:n])
	}
	return sum
}
