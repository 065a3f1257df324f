package tool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// writeTime is how long the writing of a patch may take. It does not end with
// the call: a patch that has begun to be written is written or taken back.
const writeTime = 2 * time.Minute

// writePlan writes all files of a plan, or none: what was written is taken back
// when something goes wrong. The error says so if even that failed.
func writePlan(ctx context.Context, files sandbox.FS, p plan) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	w := planWriter{files: files}
	for i, f := range p.files {
		if err := w.write(ctx, f, p.sameName(i)); err != nil {
			return w.takeBack(ctx, err)
		}
	}
	return nil
}

type planWriter struct {
	files sandbox.FS
	undo  []func(context.Context) error
}

func (w *planWriter) write(ctx context.Context, f planned, check bool) error {
	if check {
		if err := w.check(ctx, f); err != nil {
			return err
		}
	}
	if !f.after.exists {
		if err := w.files.Remove(ctx, f.path); err != nil {
			return fmt.Errorf("remove %s: %w", shown(f.path), err)
		}
		w.undo = append(w.undo, func(ctx context.Context) error { return w.restore(ctx, f) })
		return nil
	}
	made, err := w.missingFolders(ctx, f)
	if err != nil {
		return err
	}
	w.undo = append(w.undo, func(ctx context.Context) error {
		err := w.restore(ctx, f)
		for _, dir := range made { // the deepest first
			if e := w.files.Remove(ctx, dir); e != nil && sandbox.KindOf(e) != sandbox.KindNotFound {
				err = errors.Join(err, e)
			}
		}
		return err
	})
	if err := w.files.Write(ctx, f.path, strings.NewReader(f.after.content), f.after.mode); err != nil {
		return fmt.Errorf("write %s: %w", shown(f.path), err)
	}
	return nil
}

// restore puts a file back as it was before the patch.
func (w *planWriter) restore(ctx context.Context, f planned) error {
	switch {
	case f.before.link != "":
		return w.files.Symlink(ctx, f.before.link, f.path)
	case f.before.exists:
		return w.files.Write(ctx, f.path, strings.NewReader(f.before.content), f.before.mode)
	}
	err := w.files.Remove(ctx, f.path)
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return nil
	}
	return err
}

// check makes sure that a file is still as it was read.
func (w *planWriter) check(ctx context.Context, f planned) error {
	now, err := currentState(ctx, w.files, f.path)
	if err != nil {
		return err
	}
	if now.sum() != f.before.sum() {
		return refuse("%s is changed twice by the patch, under two paths", shown(f.path))
	}
	return nil
}

// missingFolders returns the folders that writing the file will make, the
// deepest first.
func (w *planWriter) missingFolders(ctx context.Context, f planned) ([]string, error) {
	if f.before.exists {
		return nil, nil
	}
	var missing []string
	for dir := path.Dir(f.path); dir != "." && dir != "/"; dir = path.Dir(dir) {
		_, err := w.files.Stat(ctx, dir)
		if err == nil {
			break
		}
		if sandbox.KindOf(err) != sandbox.KindNotFound {
			return nil, fmt.Errorf("look at %s: %w", shown(dir), err)
		}
		missing = append(missing, dir)
	}
	return missing, nil
}

// takeBack undoes everything, the last thing first.
func (w *planWriter) takeBack(ctx context.Context, cause error) error {
	var failures []error
	for i := len(w.undo) - 1; i >= 0; i-- {
		if err := w.undo[i](ctx); err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures) > 0 {
		return halfWritten{cause: cause, failure: errors.Join(failures...)}
	}
	return cause
}

// halfWritten is the error of a patch that could neither be written nor be
// taken back.
type halfWritten struct{ cause, failure error }

func (h halfWritten) Error() string {
	return fmt.Sprintf("It could not be written (%v), and what was written could not be taken back (%v).", h.cause, h.failure)
}

func (h halfWritten) Unwrap() []error { return []error{h.cause, h.failure} }

// currentState reads a file as it is now.
func currentState(ctx context.Context, files sandbox.FS, name string) (fileState, error) {
	p := planner{files: files}
	info, err := files.Stat(ctx, name)
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, fmt.Errorf("look at %s: %w", shown(name), err)
	}
	return p.read(ctx, name, info)
}
