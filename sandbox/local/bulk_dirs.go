//go:build unix

package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// dirs opens folders below a root, makes and clears entries in them, and has them
// writable meanwhile.
type dirs struct {
	root int

	mu sync.Mutex
	// modes are those that folders have in the end.
	modes map[string]uint32
}

// dir is an open folder. It is closed when nobody uses it any more.
type dir struct {
	fd    int
	name  string // "." is the root
	users atomic.Int32
}

func (d *dir) use() { d.users.Add(1) }

func (d *dir) release() {
	if d != nil && d.users.Add(-1) == 0 {
		_ = unix.Close(d.fd)
	}
}

const openDir = unix.O_RDONLY | unix.O_DIRECTORY

// open opens a folder; the caller releases it. One that may not be looked into
// is made so.
func (d *dirs) open(name string) (*dir, error) {
	fd, err := openBelow(d.root, name, openDir)
	if errors.Is(err, unix.EACCES) {
		fd, err = d.openClosed(name)
	}
	if err != nil {
		return nil, err
	}
	out := &dir{fd: fd, name: name}
	out.use()
	return out, nil
}

// openClosed opens a folder step by step, and changes the modes of those on the
// way that can't be opened.
func (d *dirs) openClosed(name string) (int, error) {
	at, err := openBelow(d.root, ".", openDir)
	if err != nil {
		return -1, err
	}
	path := ""
	for part := range strings.SplitSeq(name, "/") {
		path = strings.TrimPrefix(path+"/"+part, "/")
		next, err := openBelow(at, part, openDir)
		if err == nil {
			// It may be read, but perhaps not be passed.
			err = d.widen(next, path)
		} else if errors.Is(err, unix.EACCES) {
			var st unix.Stat_t
			if err = unix.Fstatat(at, part, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
				d.remember(path, statMode(&st)&0o7777)
				if err = chmodEntry(at, part, statMode(&st)&0o7777|0o700); err == nil {
					next, err = openBelow(at, part, openDir)
				}
			}
		}
		_ = unix.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

// widen lets the user do everything in an open folder, until restore.
func (d *dirs) widen(fd int, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	mode := statMode(&st) & 0o7777
	if mode&0o700 == 0o700 {
		return nil
	}
	if _, known := d.modes[name]; !known {
		d.modes[name] = mode
	}
	return unix.Fchmod(fd, mode|0o700)
}

func (d *dirs) remember(name string, mode uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.modes[name]; !known {
		d.modes[name] = mode
	}
}

// try makes an entry in a folder. What has its name is removed, and a folder that
// may not be written is made writable.
func (d *dirs) try(ctx context.Context, in *dir, base string, create func() error) error {
	err := create()
	for range 3 {
		switch {
		case errors.Is(err, unix.EEXIST):
			err = d.clear(ctx, in, base)
		case errors.Is(err, unix.EACCES):
			err = d.widen(in.fd, in.name)
		default:
			return err
		}
		if err != nil {
			return err
		}
		err = create()
	}
	return err
}

// make makes a folder in another one, or keeps the one that is there.
func (d *dirs) make(ctx context.Context, in *dir, name, base string, mode uint32) error {
	err := d.try(ctx, in, base, func() error {
		err := unix.Mkdirat(in.fd, base, mode|0o700)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
		var st unix.Stat_t
		if unix.Fstatat(in.fd, base, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && statMode(&st)&unix.S_IFMT == unix.S_IFDIR {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if mode&0o700 == 0o700 {
		// Now, as nothing will be in its way. A folder that is there may have a
		// mode with which it can't be opened.
		d.mu.Lock()
		delete(d.modes, name)
		d.mu.Unlock()
		return chmodEntry(in.fd, base, mode)
	}
	d.mu.Lock()
	d.modes[name] = mode
	d.mu.Unlock()
	return chmodEntry(in.fd, base, mode|0o700)
}

// restore gives folders the modes that they have in the end, the inner ones
// first.
func (d *dirs) restore() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := make([]string, 0, len(d.modes))
	for name := range d.modes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	var failed error
	for _, name := range names {
		fd, err := openBelow(d.root, name, openDir)
		if err == nil {
			err = errors.Join(unix.Fchmod(fd, d.modes[name]), unix.Close(fd))
		}
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) { // it was removed
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// clear removes what has a name in a folder, with all below it.
func (d *dirs) clear(ctx context.Context, in *dir, base string) error {
	name := base
	if in.name != "." {
		name = in.name + "/" + base
	}
	return d.clearAt(ctx, in.fd, in.name, base, name)
}

func (d *dirs) clearAt(ctx context.Context, in int, inName, base, name string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	err := unix.Unlinkat(in, base, 0)
	if errors.Is(err, unix.EACCES) {
		if err := d.widen(in, inName); err != nil {
			return err
		}
		err = unix.Unlinkat(in, base, 0)
	}
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	var st unix.Stat_t
	if statErr := unix.Fstatat(in, base, &st, unix.AT_SYMLINK_NOFOLLOW); statErr != nil || statMode(&st)&unix.S_IFMT != unix.S_IFDIR {
		return err
	}
	if statMode(&st)&0o700 != 0o700 {
		if err := chmodEntry(in, base, statMode(&st)&0o7777|0o700); err != nil {
			return err
		}
	}
	fd, err := openBelow(in, base, openDir)
	if err != nil {
		return err
	}
	err = d.empty(ctx, fd, name)
	if err := errors.Join(err, unix.Close(fd)); err != nil {
		return err
	}
	err = unix.Unlinkat(in, base, unix.AT_REMOVEDIR)
	d.mu.Lock()
	delete(d.modes, name)
	d.mu.Unlock()
	return err
}

// empty removes everything in an open folder.
func (d *dirs) empty(ctx context.Context, fd int, name string) error {
	buf := make([]byte, 16<<10)
	for {
		// What is removed may shift what is not read yet: until there is nothing.
		if _, err := unix.Seek(fd, 0, 0); err != nil {
			return err
		}
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, buf) })
		if err != nil {
			return err
		}
		_, _, names := unix.ParseDirent(buf[:max(n, 0)], -1, nil)
		if len(names) == 0 {
			return nil
		}
		for _, base := range names {
			if err := d.clearAt(ctx, fd, name, base, name+"/"+base); err != nil {
				return err
			}
		}
	}
}
