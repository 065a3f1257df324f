package shtree

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// files is a Tree as sandbox.FS.
type files struct{ t *Tree }

var _ sandbox.FS = files{}

const (
	// maxEntries is how many entries a folder may have to be listed.
	maxEntries = 100_000
	// window is the unit in which files are read from an offset on.
	window = 64 << 10
	// tidyTime bounds the clearing up after a write that was cut off.
	tidyTime = 20 * time.Second
)

// rel makes a name relative to the root. Where it leads is for the scripts to
// see.
func (t *Tree) rel(op, name string) (string, error) {
	if strings.Contains(name, "\x00") {
		return "", t.fail(sandbox.KindInvalid, op, errors.New("a name can't hold NUL bytes"))
	}
	if path.IsAbs(name) {
		rest, ok := strings.CutPrefix(name, strings.TrimSuffix(t.sb.Root(), "/"))
		if !ok || (rest != "" && rest[0] != '/') {
			return "", t.fail(sandbox.KindEscape, op, fmt.Errorf("%q is outside the workspace", name))
		}
		name = strings.TrimLeft(rest, "/")
	}
	if name == "" {
		name = "."
	}
	return name, nil
}

// do runs an operation of files.sh on a name.
func (f files) do(ctx context.Context, verb, op, name string, read func(*bufio.Reader) error, args ...string) error {
	rel, err := f.t.rel(op, name)
	if err != nil {
		return err
	}
	return f.t.run(ctx, call{op: op, script: filesScript, args: append([]string{verb, rel}, args...), read: read})
}

func (f files) Stat(ctx context.Context, name string) (sandbox.Info, error) {
	var info sandbox.Info
	nonce := rand.Text()
	err := f.do(ctx, "stat", "look at "+name, name, func(r *bufio.Reader) error {
		rs := &records{r: r, nonce: nonce, most: dirMax}
		if err := rs.begin(); err != nil {
			return err
		}
		e, err := rs.next()
		if err != nil {
			return unexpected(err)
		}
		info = infoOf(e)
		switch _, err = rs.next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			return errors.New("it tells of more than one")
		}
		return err
	}, nonce)
	if err != nil {
		return sandbox.Info{}, err
	}
	return info, nil
}

func infoOf(e sandbox.Entry) sandbox.Info {
	return sandbox.Info{Name: path.Base(e.Name), Mode: e.Mode, Size: e.Size, Modified: time.Unix(0, e.Modified), Target: e.Target}
}

func (f files) ReadDir(ctx context.Context, name string) ([]sandbox.Info, error) {
	op := "list " + name
	var list []sandbox.Info
	nonce := rand.Text()
	err := f.do(ctx, "list", op, name, func(r *bufio.Reader) error {
		rs := &records{r: r, nonce: nonce, most: dirMax}
		if err := rs.begin(); err != nil {
			return err
		}
		for {
			e, err := rs.next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if len(list) == maxEntries {
				return stop{f.t.fail(sandbox.KindTooLarge, op, fmt.Errorf("it has more than %d entries", maxEntries))}
			}
			list = append(list, infoOf(e))
		}
	}, nonce)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b sandbox.Info) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (f files) Open(ctx context.Context, name string, offset, n int64) (io.ReadCloser, error) {
	op := "read " + name
	if offset < 0 {
		return nil, f.t.fail(sandbox.KindInvalid, op, fmt.Errorf("the offset %d is negative", offset))
	}
	block, skip, count := offset/window, offset%window, "-"
	if n >= 0 {
		blocks := int64(0)
		if n > 0 {
			blocks = (skip+n-1)/window + 1
		}
		count = strconv.FormatInt(blocks, 10)
	}
	running, cancel := context.WithCancel(ctx)
	out, in := io.Pipe()
	opened, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		err := f.do(running, "read", op, name, func(r *bufio.Reader) error {
			if line, err := r.Peek(3); err != nil || string(line) != "ok\n" {
				return io.ErrUnexpectedEOF
			}
			if _, err := r.Discard(3); err != nil {
				return err
			}
			close(opened)
			_, err := io.CopyN(io.Discard, r, skip)
			if err != nil {
				return atEnd(err)
			}
			if n < 0 {
				_, err = io.Copy(in, r)
			} else {
				_, err = io.CopyN(in, r, n)
			}
			return atEnd(err)
		}, strconv.FormatInt(block, 10), count)
		_ = in.CloseWithError(err) // a pipe's never fails; nil is the end of the file
		ended <- err
	}()
	select {
	case <-opened:
		return &content{PipeReader: out, cancel: cancel}, nil
	case err := <-ended:
		cancel()
		if err == nil {
			err = f.t.fail(sandbox.KindTransport, op, io.ErrUnexpectedEOF)
		}
		return nil, err
	}
}

// atEnd takes the end of a file as no error; one that nobody reads any more ends
// the call.
func atEnd(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrClosedPipe):
		return stop{err}
	}
	return err
}

// content is a file that is being read.
type content struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close ends the command that reads, if it has not ended by itself. It does not
// wait for that.
func (c *content) Close() error {
	err := c.PipeReader.Close()
	c.cancel()
	return err
}

func (f files) Write(ctx context.Context, name string, from io.Reader, perm fs.FileMode) error {
	op := "write " + name
	rel, err := f.t.rel(op, name)
	if err != nil {
		return err
	}
	// What ends without the nonce was cut off, and replaces nothing.
	nonce := rand.Text()
	stdin := io.MultiReader(from, strings.NewReader(nonce))
	err = f.t.run(ctx, call{op: op, script: filesScript, args: []string{"write", rel, octal(perm), nonce}, stdin: stdin})
	if ctx.Err() != nil {
		tidying, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
		defer cancel()
		// A draft that stays is only untidy.
		_ = f.t.run(tidying, call{op: op, script: filesScript, args: []string{"tidy", rel, nonce}})
	}
	return err
}

func octal(perm fs.FileMode) string { return strconv.FormatUint(uint64(perm.Perm()), 8) }

func (f files) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if perm == 0 {
		perm = 0o755
	}
	return f.do(ctx, "mkdir", "make folder "+name, name, nil, octal(perm))
}

func (f files) Remove(ctx context.Context, name string) error {
	return f.do(ctx, "remove", "remove "+name, name, nil)
}

func (f files) RemoveAll(ctx context.Context, name string) error {
	err := f.do(ctx, "clear", "remove "+name, name, nil)
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return nil // the folder it would be in is not there
	}
	return err
}

func (f files) Rename(ctx context.Context, from, to string) error {
	op := "rename " + from
	target, err := f.t.rel(op, to)
	if err != nil {
		return err
	}
	return f.do(ctx, "rename", op, from, nil, target)
}

func (f files) Chmod(ctx context.Context, name string, perm fs.FileMode) error {
	return f.do(ctx, "chmod", "change the mode of "+name, name, nil, octal(perm))
}

func (f files) Symlink(ctx context.Context, target, name string) error {
	op := "make link " + name
	if target == "" || strings.Contains(target, "\x00") {
		return f.t.fail(sandbox.KindInvalid, op, errors.New("the target of a link can't be empty or hold NUL bytes"))
	}
	return f.do(ctx, "link", op, name, nil, target)
}
