//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

// Apply implements sandbox.Bulk. Files are written on several cores; folders are
// made in the order in which they come.
func (s *Sandbox) Apply(ctx context.Context, remove []string, makes iter.Seq2[sandbox.Make, error]) error {
	const op = "change the workspace"
	root, err := s.bulkRoot(op)
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &apply{files: s.files, dirs: &dirs{root: int(root.Fd()), modes: map[string]uint32{}}, ctx: ctx, cancel: cancel}
	if err := a.remove(remove); err != nil {
		return errors.Join(err, wrap(op, a.dirs.restore()))
	}
	err = a.make(makes)
	if err := errors.Join(err, wrap(op, a.dirs.restore())); err != nil {
		return err
	}
	return wrap(op, syncAll(a.dirs.root))
}

// apply is one Apply.
type apply struct {
	files  *files
	dirs   *dirs
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// task is an entry to be made in an open folder.
type task struct {
	sandbox.Make
	dir  *dir
	base string
}

// remove removes trees, on several cores. What is in a tree that goes, goes with
// it: two that remove the same would be in each other's way.
func (a *apply) remove(names []string) error {
	given := make(map[string]bool, len(names))
	for _, name := range names {
		given[name] = true
	}
	var (
		workers sync.WaitGroup
		todo    = make(chan string)
	)
	for range bulkWorkers() {
		workers.Go(func() {
			for name := range todo {
				if err := a.removeAll(name); err != nil {
					a.cancel(wrap("remove "+name, err))
				}
			}
		})
	}
	func() {
		defer close(todo)
		for _, name := range names {
			if below(name, given) {
				continue
			}
			select {
			case todo <- name:
			case <-a.ctx.Done():
				return
			}
		}
	}()
	workers.Wait()
	return context.Cause(a.ctx)
}

// below tells whether a name is below one of those given.
func below(name string, given map[string]bool) bool {
	for i := range len(name) {
		if name[i] == '/' && given[name[:i]] {
			return true
		}
	}
	return false
}

func (a *apply) removeAll(name string) error {
	rel, err := a.files.bulkName("remove "+name, name)
	if err != nil {
		return err
	}
	parent, base := split(rel)
	dir, err := a.dirs.open(parent)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil // it is not there
	}
	if err != nil {
		return err
	}
	defer dir.release()
	return a.dirs.clear(a.ctx, dir, base)
}

// make makes entries.
func (a *apply) make(makes iter.Seq2[sandbox.Make, error]) error {
	var (
		workers sync.WaitGroup
		todo    = make(chan task, 64)
	)
	for range bulkWorkers() {
		workers.Go(func() {
			w := &fileWriter{buf: make([]byte, writeBuffer)}
			for t := range todo {
				if a.ctx.Err() == nil {
					if err := a.do(w, &t); err != nil {
						a.cancel(wrap("write "+t.Name, err))
					}
				}
				t.dir.release()
			}
		})
	}
	err := a.dispatch(makes, todo)
	close(todo)
	workers.Wait()
	if err == nil {
		err = context.Cause(a.ctx)
	}
	return err
}

// dispatch makes folders, and has workers make the rest.
func (a *apply) dispatch(makes iter.Seq2[sandbox.Make, error], todo chan<- task) error {
	var parent *dir
	defer func() { parent.release() }()
	for m, err := range makes {
		if err != nil {
			return err
		}
		if a.ctx.Err() != nil {
			return context.Cause(a.ctx)
		}
		op := "write " + m.Name
		rel, err := a.files.bulkName(op, m.Name)
		if err != nil {
			return err
		}
		in, base := split(rel)
		if parent == nil || parent.name != in {
			parent.release()
			if parent, err = a.dirs.open(in); err != nil {
				return wrap(op, err)
			}
		}
		if m.Mode.IsDir() {
			if err := a.dirs.make(a.ctx, parent, rel, base, modeBits(m.Mode)); err != nil {
				return wrap(op, err)
			}
			continue
		}
		if !m.Mode.IsRegular() && m.Mode.Type() != fs.ModeSymlink {
			return fail(sandbox.KindInvalid, op, "only files, folders and links can be made")
		}
		parent.use()
		select {
		case todo <- task{Make: m, dir: parent, base: base}:
		case <-a.ctx.Done():
			parent.release()
			return context.Cause(a.ctx)
		}
	}
	return nil
}

// do makes a file or a link.
func (a *apply) do(w *fileWriter, t *task) error {
	if t.Mode.IsRegular() {
		return a.write(w, t)
	}
	return a.dirs.try(a.ctx, t.dir, t.base, func() error { return unix.Symlinkat(t.Target, t.dir.fd, t.base) })
}

// write makes a file. What was there goes only when the new content can be read.
func (a *apply) write(w *fileWriter, t *task) error {
	content, err := t.Open(a.ctx)
	if err != nil {
		return err
	}
	fd := -1
	err = a.dirs.try(a.ctx, t.dir, t.base, func() error {
		var err error
		fd, err = retry(func() (int, error) {
			return unix.Openat(t.dir.fd, t.base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		})
		return err
	})
	if err != nil {
		return errors.Join(err, content.Close())
	}
	n, err := w.copy(a.ctx, fd, content, t.Size)
	if err == nil && n != t.Size {
		err = fail(sandbox.KindInvalid, "write "+t.Name, "the content has %d bytes, not %d", n, t.Size)
	}
	if err == nil {
		err = unix.Fchmod(fd, modeBits(t.Mode)) // whatever the umask
	}
	if err := errors.Join(err, unix.Close(fd), content.Close()); err != nil {
		return err
	}
	if t.Modified == 0 {
		return nil
	}
	at := unix.NsecToTimespec(t.Modified)
	if err := unix.UtimesNanoAt(t.dir.fd, t.base, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("set its time: %w", err)
	}
	return nil
}
