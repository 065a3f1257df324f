package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/gofrs/flock"
)

// What is put in large batches lies in packs: files beside the database to which
// is only appended. A row for each file of a workspace would cost several times
// as much, mostly for writing all of it twice, to the log and to the database.
// The database alone tells what of a pack counts, so that what a crash left in
// one is as if it were not there.
const (
	// packFrom is the size from which a batch goes into a pack.
	packFrom = 64 << 10
	// packBytes is the size from which another pack is begun.
	packBytes = 64 << 20
)

// packs writes and reads packs. It is safe for concurrent use.
type packs struct {
	dir string
	// add notes a new pack in the database and returns its number; list returns
	// the numbers of all.
	add  func(ctx context.Context) (int64, error)
	list func(ctx context.Context) ([]int64, error)

	mu   sync.Mutex
	file *os.File // to which is written; nil if there is none yet
	lock *flock.Flock
	num  int64
	size int64
	// buffer gathers small parts.
	buffer []byte
}

// extent is where an object's content lies.
type extent struct {
	pack, at int64
	size     int64
}

func (p *packs) path(num int64) string {
	return filepath.Join(p.dir, strconv.FormatInt(num, 10)+".pack")
}

// write appends the parts, one after the other, and returns where they are. They
// are durable after sync.
func (p *packs) write(ctx context.Context, parts [][]byte) (extents []extent, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		if err := p.begin(ctx); err != nil {
			return nil, fmt.Errorf("begin a pack: %w", err)
		}
	}
	defer func() {
		if err != nil || p.size >= packBytes {
			err = errors.Join(err, p.end())
		}
	}()
	extents = make([]extent, len(parts))
	for i, part := range parts {
		extents[i] = extent{pack: p.num, at: p.size + int64(len(p.buffer)), size: int64(len(part))}
		if len(p.buffer)+len(part) > packBuffer {
			if err := p.flush(); err != nil {
				return nil, err
			}
		}
		if len(part) < packBuffer {
			p.buffer = append(p.buffer, part...)
			continue
		}
		if _, err := p.file.WriteAt(part, p.size); err != nil {
			return nil, err
		}
		p.size += int64(len(part))
	}
	return extents, p.flush()
}

// sync makes durable what was written.
func (p *packs) sync() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil // end has done so
	}
	return p.file.Sync()
}

// packBuffer is how much of small parts is written at once.
const packBuffer = 256 << 10

// flush writes what is in the buffer.
func (p *packs) flush() error {
	_, err := p.file.WriteAt(p.buffer, p.size)
	p.size += int64(len(p.buffer))
	p.buffer = p.buffer[:0]
	return err
}

// begin goes on with a pack that nobody writes to and that has room, or makes a
// new one.
func (p *packs) begin(ctx context.Context) error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	all, err := p.list(ctx)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		if ok, err := p.take(all[len(all)-1], false); err != nil || ok {
			return err
		}
	}
	num, err := p.add(ctx)
	if err != nil {
		return err
	}
	ok, err := p.take(num, true)
	if err == nil && !ok {
		err = fmt.Errorf("pack %d is in use already", num)
	}
	if err != nil {
		return err
	}
	return syncDir(p.dir)
}

// take opens a pack to write to; false if another one does, if it is full, or
// not there.
func (p *packs) take(num int64, fresh bool) (bool, error) {
	lock := p.locker(num)
	got, err := lock.TryLock()
	if err != nil || !got {
		return false, err
	}
	flags := os.O_RDWR
	if fresh {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(p.path(num), flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return false, lock.Unlock()
	}
	if err != nil {
		return false, errors.Join(err, lock.Unlock())
	}
	info, err := file.Stat()
	if err != nil || info.Size() >= packBytes {
		return false, errors.Join(err, file.Close(), lock.Unlock())
	}
	p.file, p.lock, p.num, p.size = file, lock, num, info.Size()
	return true, nil
}

// locker is the lock of whoever writes to a pack, or removes it. It is a file
// of its own: on some systems what is locked can't be read.
func (p *packs) locker(num int64) *flock.Flock {
	return flock.New(filepath.Join(p.dir, strconv.FormatInt(num, 10)+".lock"), flock.SetPermissions(0o600))
}

// end lets go of the pack that is written to.
func (p *packs) end() error {
	if p.file == nil {
		return nil
	}
	err := errors.Join(p.file.Sync(), p.file.Close(), p.lock.Unlock())
	p.file, p.lock, p.buffer = nil, nil, nil
	return err
}

func (p *packs) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end()
}

// read returns what lies at an extent. It fails with fs.ErrNotExist when the pack
// is gone, and with io.EOF when it is shorter than that.
func (p *packs) read(e extent) ([]byte, error) {
	file, err := os.Open(p.path(e.pack))
	if err != nil {
		return nil, err
	}
	data := make([]byte, e.size)
	_, err = file.ReadAt(data, e.at)
	return data, errors.Join(err, file.Close())
}

// remove removes a pack, whose lock the caller holds.
func (p *packs) remove(num int64) error {
	err := os.Remove(p.path(num))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// forget removes the lock of a pack that is gone. It only takes a name: numbers
// are not used again.
func (p *packs) forget(lock *flock.Flock) { _ = os.Remove(lock.Path()) }

// bytes is the size of a pack; 0 if it is not there.
func (p *packs) bytes(num int64) int64 {
	info, err := os.Stat(p.path(num))
	if err != nil {
		return 0
	}
	return info.Size()
}

// syncDir makes the names in a folder durable, where the system can.
func syncDir(dir string) error {
	handle, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = handle.Sync() // not every system can
	return handle.Close()
}
