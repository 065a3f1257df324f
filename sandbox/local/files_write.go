//go:build unix

package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"temporal-sandbox-agent/sandbox"
)

// The modes of what is made where none is given.
const (
	fileMode = 0o644
	dirMode  = 0o755
)

func (f *files) Write(ctx context.Context, name string, content io.Reader, perm fs.FileMode) error {
	op := "write " + name
	root, rel, err := f.enter(ctx, op, name)
	if err != nil {
		return err
	}
	// A link at the end is followed: the file is replaced, not the link.
	if rel, err = f.resolve(root, rel, true); err != nil {
		return wrap(op, err)
	}
	info, err := root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if perm == 0 {
			perm = fileMode
		}
		err = root.MkdirAll(path.Dir(rel), dirMode)
	case err != nil:
	case info.IsDir():
		err = fail(sandbox.KindInvalid, op, "it is a folder")
	case !info.Mode().IsRegular():
		err = fail(sandbox.KindInvalid, op, "it is not a regular file")
	case perm == 0:
		perm = info.Mode().Perm()
	}
	if err != nil {
		return wrap(op, err)
	}
	draft := path.Join(path.Dir(rel), ".tsa-"+rand.Text()+".tmp")
	err = writeDraft(ctx, root, draft, content, perm.Perm())
	if err == nil {
		err = root.Rename(draft, rel)
	}
	if err != nil {
		_ = root.Remove(draft) // it may not be there
	}
	return wrap(op, err)
}

func writeDraft(ctx context.Context, root *os.Root, draft string, content io.Reader, perm fs.FileMode) error {
	file, err := root.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	from := &source{r: content}
	_, err = io.Copy(file, &canceled{ctx: ctx, r: from})
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case from.err != nil:
		err = fail(sandbox.KindTransport, "read the new content", "%w", from.err)
	case err == nil:
		err = file.Chmod(perm) // whatever the umask
	}
	return errors.Join(err, file.Close())
}

// canceled reads until ctx ends.
type canceled struct {
	ctx context.Context
	r   io.Reader
}

func (c *canceled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func (f *files) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if perm == 0 {
		perm = dirMode
	}
	return f.do(ctx, "make folder", name, false, func(root *os.Root, rel string) error {
		if err := root.MkdirAll(path.Dir(rel), dirMode); err != nil {
			return err
		}
		if err := root.Mkdir(rel, perm.Perm()); err != nil {
			return err
		}
		return root.Chmod(rel, perm.Perm()) // whatever the umask
	})
}

func (f *files) Remove(ctx context.Context, name string) error {
	return f.do(ctx, "remove", name, false, func(root *os.Root, rel string) error {
		if err := notRoot(name, rel); err != nil {
			return err
		}
		return root.Remove(rel)
	})
}

func (f *files) RemoveAll(ctx context.Context, name string) error {
	return f.do(ctx, "remove", name, false, func(root *os.Root, rel string) error {
		if err := notRoot(name, rel); err != nil {
			return err
		}
		return root.RemoveAll(rel)
	})
}

// notRoot refuses to remove or move the workspace itself.
func notRoot(name, rel string) error {
	if path.Clean(rel) == "." {
		return fail(sandbox.KindInvalid, "change "+name, "it is the workspace itself")
	}
	return nil
}

func (f *files) Rename(ctx context.Context, from, to string) error {
	return f.do(ctx, "rename", from, false, func(root *os.Root, old string) error {
		if err := notRoot(from, old); err != nil {
			return err
		}
		return f.do(ctx, "rename to", to, false, func(_ *os.Root, target string) error {
			if err := notRoot(to, target); err != nil {
				return err
			}
			return root.Rename(old, target)
		})
	})
}

func (f *files) Chmod(ctx context.Context, name string, perm fs.FileMode) error {
	return f.do(ctx, "change the mode of", name, true, func(root *os.Root, rel string) error {
		return root.Chmod(rel, perm.Perm())
	})
}

func (f *files) Symlink(ctx context.Context, target, name string) error {
	return f.do(ctx, "make link", name, false, func(root *os.Root, rel string) error {
		return root.Symlink(target, rel)
	})
}
