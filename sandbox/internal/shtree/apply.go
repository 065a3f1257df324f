package shtree

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// Apply implements sandbox.Bulk. What it makes belongs to the user that commands
// run as. Where tar knows only whole seconds, as busybox's does, so are the times
// of files.
func (t *Tree) Apply(ctx context.Context, remove []string, entries iter.Seq2[sandbox.Make, error]) error {
	const op = "change files"
	a := &applying{t: t, op: op, remove: remove, modes: map[string]fs.FileMode{}}
	for _, name := range remove {
		if err := t.check(op, name); err != nil {
			return err
		}
	}
	for m, err := range entries {
		if err != nil {
			return err
		}
		if err := t.check(op, m.Name); err != nil {
			return err
		}
		switch m.Mode.Type() {
		case 0:
			if m.Size < 0 || m.Open == nil {
				return t.fail(sandbox.KindInvalid, op, fmt.Errorf("the file %q has no content", m.Name))
			}
		case fs.ModeDir:
		case fs.ModeSymlink:
			if m.Target == "" || strings.Contains(m.Target, "\x00") {
				return t.fail(sandbox.KindInvalid, op, fmt.Errorf("the link %q leads nowhere", m.Name))
			}
		default:
			return t.fail(sandbox.KindInvalid, op, fmt.Errorf("%q is neither a file nor a folder nor a link", m.Name))
		}
		a.makes = append(a.makes, m)
	}
	if len(a.remove) == 0 && len(a.makes) == 0 {
		return nil
	}
	err := a.clear(ctx)
	if err == nil {
		err = a.extract(ctx)
	}
	if ctx.Err() == nil {
		return errors.Join(err, a.setModes(ctx))
	}
	// What was made writable only for this is not left so.
	tidying, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	return errors.Join(err, a.setModes(tidying))
}

// applying is one Apply. What is made is known as a whole before the first
// change; contents are opened one by one.
type applying struct {
	t      *Tree
	op     string
	remove []string
	makes  []sandbox.Make
	gnu    bool
	// modes are the folders that get their mode in the end, folders all that may
	// be among them.
	modes   map[string]fs.FileMode
	folders map[string]string
}

// clear removes what is to be removed and what is in the way.
func (a *applying) clear(ctx context.Context) error {
	for {
		links := map[string]bool{}
		err := a.t.run(ctx, call{
			op: a.op, script: namesScript + clearScript, stdin: strings.NewReader(a.list()),
			read: func(r *bufio.Reader) error { return a.cleared(r, links) },
		})
		if err != nil || len(links) == 0 {
			return err
		}
		// What is beyond a link is not in the workspace: there is nothing to remove.
		if a.remove, err = a.t.notThrough(a.op, a.remove, links, func(string) error { return nil }); err != nil {
			return err
		}
	}
}

func (a *applying) cleared(r *bufio.Reader, links map[string]bool) error {
	word, err := readZero(r)
	if err != nil {
		return err
	}
	if word == "links" {
		return readLinks(r, links)
	}
	a.gnu = word == "gnu"
	for {
		record, err := readZero(r)
		if err != nil {
			return err
		}
		if record == "done" {
			return nil
		}
		mode, name, _ := strings.Cut(record, " ")
		raw, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return fmt.Errorf("the mode in %.80q is none", record)
		}
		name = cmpName(name)
		if _, asked := a.folders[name]; !asked {
			return fmt.Errorf("the folder in %.80q was not asked for", record)
		}
		a.modes[name] = modeOf(uint32(raw))
	}
}

// list is what clear.sh is given.
func (a *applying) list() string {
	var b strings.Builder
	removed, folders, others := map[string]bool{}, map[string]bool{}, map[string]bool{}
	seen := map[string]bool{}
	for _, name := range a.remove {
		removed[name] = true
		ancestors(name, func(folder string) {
			if !seen[folder] {
				seen[folder] = true
				b.WriteString("A./" + folder + "\x00")
			}
		})
	}
	for _, m := range a.makes {
		if m.Mode.IsDir() {
			folders[m.Name] = true
		} else {
			others[m.Name] = true
		}
	}
	// Folders in an order in which parents come first, each once.
	kinds := map[string]string{}
	for _, name := range a.remove {
		ancestors(name, func(folder string) { kinds[folder] = "W" })
	}
	for _, m := range a.makes {
		ancestors(m.Name, func(folder string) {
			if !goes(folder, removed) {
				kinds[folder] = "P"
			}
		})
	}
	for folder := range folders {
		kinds[folder] = "D"
	}
	a.folders = kinds
	for _, folder := range slices.Sorted(maps.Keys(kinds)) {
		b.WriteString(kinds[folder] + "./" + folder + "\x00")
	}
	for _, name := range a.remove {
		b.WriteString("R./" + name + "\x00")
	}
	for name := range others {
		b.WriteString("F./" + name + "\x00")
	}
	return b.String()
}

// goes tells whether a name, or a folder that it is in, is removed.
func goes(name string, removed map[string]bool) bool {
	gone := removed[name]
	ancestors(name, func(folder string) { gone = gone || removed[folder] })
	return gone
}

// extract makes all entries with one run of tar.
func (a *applying) extract(ctx context.Context) error {
	if len(a.makes) == 0 {
		return nil
	}
	out, in := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := a.archive(ctx, in)
		_ = in.CloseWithError(err) // a pipe's never fails; nil is the end
		written <- err
	}()
	err := a.t.run(ctx, call{op: a.op, script: extractScript, stdin: out})
	_ = out.CloseWithError(errUnwanted)
	// A source that broke off is told rather than what tar made of that.
	if writeErr := <-written; writeErr != nil && !errors.Is(writeErr, errUnwanted) && ctx.Err() == nil {
		return writeErr
	}
	return err
}

// archive writes all entries. Folders can be written until the end.
func (a *applying) archive(ctx context.Context, to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 64<<10)
	w := tar.NewWriter(buffered)
	for _, m := range a.makes {
		if err := a.entry(ctx, w, m); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

func (a *applying) entry(ctx context.Context, w *tar.Writer, m sandbox.Make) error {
	header := &tar.Header{Name: m.Name, Mode: rawMode(m.Mode), ModTime: time.Now(), Format: tar.FormatGNU}
	switch {
	case m.Mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, m.Name+"/"
		header.Mode = int64(m.Mode.Perm() | 0o700)
		if header.Mode != rawMode(m.Mode) {
			a.modes[m.Name] = m.Mode
		} else {
			delete(a.modes, m.Name)
		}
	case m.Mode&fs.ModeSymlink != 0:
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, m.Target, 0o777
	default:
		header.Typeflag, header.Size = tar.TypeReg, m.Size
		if m.Modified != 0 {
			header.ModTime = time.Unix(0, m.Modified)
		}
		if a.gnu {
			header.Format = tar.FormatPAX // which has parts of seconds
		}
	}
	if header.Format == tar.FormatGNU {
		header.ModTime = header.ModTime.Truncate(time.Second)
	}
	if err := w.WriteHeader(header); err != nil {
		return a.t.fail(sandbox.KindInvalid, "make "+m.Name, err)
	}
	if header.Typeflag != tar.TypeReg {
		return nil
	}
	content, err := m.Open(ctx)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, content)
	closeErr := content.Close()
	switch {
	case errors.Is(err, tar.ErrWriteTooLong), err == nil && n != m.Size:
		return a.t.fail(sandbox.KindInvalid, "make "+m.Name, fmt.Errorf("its content is not of the %d bytes that it should have", m.Size))
	case err != nil:
		return err
	}
	return closeErr
}

// setModes sets the mode of folders for which tar could not do it.
func (a *applying) setModes(ctx context.Context) error {
	if len(a.modes) == 0 {
		return nil
	}
	groups := map[fs.FileMode][]string{}
	for name, mode := range a.modes {
		groups[mode] = append(groups[mode], name)
	}
	order := make([]fs.FileMode, 0, len(groups))
	for mode := range groups {
		order = append(order, mode)
	}
	// Those that can't be entered any more come last, the inner ones first.
	slices.SortFunc(order, func(x, y fs.FileMode) int { return int(y&0o100) - int(x&0o100) })
	for _, mode := range order {
		names := groups[mode]
		slices.SortFunc(names, func(x, y string) int { return strings.Compare(y, x) })
		var list strings.Builder
		for _, name := range names {
			list.WriteString("./" + path.Clean(name) + "\x00")
		}
		err := a.t.run(ctx, call{
			op: a.op, script: modesScript, args: []string{strconv.FormatInt(rawMode(mode), 8)}, stdin: strings.NewReader(list.String()),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
