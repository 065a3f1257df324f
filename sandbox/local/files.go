//go:build unix

package local

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/oserr"
)

// files is the workspace's FS. All access goes through os.Root, which resolves
// names step by step from a handle of the folder: no link leads out of it, also
// not one that is made between a check and the use.
type files struct {
	path string // of the workspace, real

	mu     sync.Mutex
	root   *os.Root
	info   fs.FileInfo // of root
	closed bool
}

var _ sandbox.FS = (*files)(nil)

// maxEntries is how many entries a folder may have to be listed.
const maxEntries = 100_000

// open returns the handle of the workspace. When the folder at its path is
// another one than before, that is the workspace now, as it is for commands.
func (f *files) open(op string) (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fail(sandbox.KindInvalid, op, "the sandbox is closed")
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || (err == nil && !info.IsDir()) {
		return nil, gone(op, f.path)
	}
	if err != nil {
		return nil, wrap(op, err)
	}
	if f.root != nil && os.SameFile(info, f.info) {
		return f.root, nil
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, wrap(op, err)
	}
	if f.root != nil {
		_ = f.root.Close() // it was only read from
	}
	f.root, f.info = root, info
	return root, nil
}

func (f *files) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.root == nil {
		return nil
	}
	root := f.root
	f.root = nil
	return root.Close()
}

// rel makes a name relative to the root.
func (f *files) rel(op, name string) (string, error) {
	if strings.Contains(name, "\x00") {
		return "", fail(sandbox.KindInvalid, op, "a name can't hold NUL bytes")
	}
	if path.IsAbs(name) {
		rest, ok := strings.CutPrefix(name, strings.TrimSuffix(f.path, "/"))
		if !ok || (rest != "" && rest[0] != '/') {
			return "", fail(sandbox.KindEscape, op, "%q is outside the workspace", name)
		}
		name = strings.TrimLeft(rest, "/")
	}
	if name = strings.TrimRight(name, "/"); name == "" {
		name = "."
	}
	return name, nil
}

// enter returns the handle of the workspace, and a name relative to it.
func (f *files) enter(ctx context.Context, op, name string) (root *os.Root, rel string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if root, err = f.open(op); err != nil {
		return nil, "", err
	}
	rel, err = f.rel(op, name)
	return root, rel, err
}

// do runs use with a name below the root. A name that os.Root refuses may lead
// through absolute links to the inside, which os.Root does not know: it is
// tried once more with those resolved. follow says whether use follows a link
// at the end.
func (f *files) do(ctx context.Context, verb, name string, follow bool, use func(root *os.Root, rel string) error) error {
	op := verb + " " + name
	root, rel, err := f.enter(ctx, op, name)
	if err != nil {
		return err
	}
	err = use(root, rel)
	if oserr.Kind(err) == sandbox.KindEscape {
		if resolved, resolveErr := f.resolve(root, rel, follow); resolveErr == nil {
			err = use(root, resolved)
		}
	}
	return wrap(op, err)
}

func (f *files) Stat(ctx context.Context, name string) (sandbox.Info, error) {
	var info sandbox.Info
	err := f.do(ctx, "look at", name, false, func(root *os.Root, rel string) error {
		var err error
		info, err = stat(root, rel)
		return err
	})
	return info, err
}

func stat(root *os.Root, rel string) (sandbox.Info, error) {
	info, err := root.Lstat(rel)
	if err != nil {
		return sandbox.Info{}, err
	}
	out := sandbox.Info{Name: path.Base(rel), Mode: info.Mode(), Size: info.Size(), Modified: info.ModTime()}
	if info.Mode()&fs.ModeSymlink != 0 {
		if out.Target, err = root.Readlink(rel); err != nil {
			return sandbox.Info{}, err
		}
	}
	return out, nil
}

func (f *files) ReadDir(ctx context.Context, name string) ([]sandbox.Info, error) {
	var list []sandbox.Info
	err := f.do(ctx, "list", name, true, func(root *os.Root, rel string) error {
		// Entries are looked at from the folder's own handle, so that it can't
		// be swapped for another one meanwhile.
		dir, err := root.OpenRoot(rel)
		if info, statErr := root.Stat(rel); err != nil && statErr == nil && !info.IsDir() {
			return fail(sandbox.KindInvalid, "list "+name, "it is not a folder")
		}
		if err != nil {
			return err
		}
		defer dir.Close()
		names, err := dirNames(dir, maxEntries)
		if err != nil {
			return err
		}
		list = make([]sandbox.Info, 0, len(names))
		for _, n := range names {
			info, err := stat(dir, n)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				return err
			}
			list = append(list, info)
		}
		return nil
	})
	return list, err
}

func (f *files) Open(ctx context.Context, name string, offset, n int64) (io.ReadCloser, error) {
	if offset < 0 {
		return nil, fail(sandbox.KindInvalid, "read "+name, "the offset %d is negative", offset)
	}
	var file *os.File
	err := f.do(ctx, "read", name, true, func(root *os.Root, rel string) error {
		// Not blocking, in case that it is a FIFO; the check below refuses it.
		opened, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		info, err := opened.Stat()
		switch {
		case err != nil:
		case info.IsDir():
			err = fail(sandbox.KindInvalid, "read "+name, "it is a folder")
		case !info.Mode().IsRegular():
			err = fail(sandbox.KindInvalid, "read "+name, "it is not a regular file")
		case offset > 0:
			_, err = opened.Seek(offset, io.SeekStart)
		}
		if err != nil {
			return errors.Join(err, opened.Close())
		}
		file = opened
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return file, nil
	}
	return &window{Reader: io.LimitReader(file, n), Closer: file}, nil
}

// window is a part of a file.
type window struct {
	io.Reader
	io.Closer
}
