package shtree

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// reader takes the answer of read.sh.
type reader struct {
	t     *Tree
	each  func(sandbox.FileRead) error
	links map[string]bool          // on the way to names: nothing was read
	told  map[string]sandbox.Entry // what was seen before the reading
	given map[string]bool          // whether a name was handed on
}

// read reads the records and then the archives.
func (d *reader) read(r *bufio.Reader, nonce string) error {
	word, err := r.Peek(len("links") + 1)
	if err == nil && string(word) == "links\x00" {
		if _, err := readZero(r); err != nil {
			return err
		}
		return readLinks(r, d.links)
	}
	rs := &records{r: r, nonce: nonce, most: listMax}
	if err := rs.begin(); err != nil {
		return err
	}
	for {
		e, err := rs.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if name := path.Clean(e.Name); d.asked(name) {
			d.told[name] = e
		}
	}
	for {
		if more, err := skipZeros(r); err != nil || !more {
			return err
		}
		if err := d.archive(tar.NewReader(r)); err != nil {
			return err
		}
	}
}

func (d *reader) asked(name string) bool {
	_, asked := d.given[name]
	return asked
}

// block is the unit of archives.
const block = 512

// skipZeros skips what fills up an archive, and tells whether there is another
// one after it: each run of tar makes one.
func skipZeros(r *bufio.Reader) (more bool, err error) {
	zero := [block]byte{}
	for {
		next, err := r.Peek(block)
		if errors.Is(err, io.EOF) && len(next) == 0 {
			return false, nil
		}
		if err != nil {
			return false, unexpected(err)
		}
		if [block]byte(next) != zero {
			return true, nil
		}
		if _, err := r.Discard(block); err != nil {
			return false, err
		}
	}
}

func (d *reader) archive(archive *tar.Reader) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Clean(header.Name)
		if header.Typeflag != tar.TypeReg || !d.asked(name) || d.given[name] {
			continue // what is only told by a link to another one is asked for again
		}
		// No script makes such: a few bytes would be read as any number of zeros.
		for key := range header.PAXRecords {
			if strings.HasPrefix(key, "GNU.sparse.") {
				return fmt.Errorf("%q is packed in another way than it should be", name)
			}
		}
		d.given[name] = true
		modified := header.ModTime.UnixNano()
		if e := d.told[name]; e.Modified/int64(time.Second) == header.ModTime.Unix() && e.Size == header.Size {
			modified = e.Modified
		}
		whole := &exact{r: archive}
		err = d.each(sandbox.FileRead{
			Name: name, Mode: modeOf(uint32(header.Mode)), Size: header.Size, Modified: modified, Content: whole,
		})
		if whole.err != nil {
			return whole.err // the stream broke off, whatever came of it
		}
		if err != nil {
			return stop{err}
		}
	}
}

// exact notes why its reader failed.
type exact struct {
	r   io.Reader
	err error
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		e.err = err
	}
	return n, err
}

// rest hands on the names that were in no archive, one by one.
func (d *reader) rest(ctx context.Context, names []string) error {
	for _, name := range names {
		if d.given[name] {
			continue
		}
		d.given[name] = true
		if err := d.single(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (d *reader) single(ctx context.Context, name string) error {
	op := "read " + name
	refuse := func(kind sandbox.Kind, why string) error {
		return d.each(sandbox.FileRead{Name: name, Err: d.t.fail(kind, op, errors.New(why))})
	}
	e, there := d.told[name]
	switch {
	case !there:
		return refuse(sandbox.KindNotFound, "there is no such file")
	case !e.Mode.IsRegular():
		return refuse(sandbox.KindInvalid, dirOrOther(e.Mode))
	}
	// It was there and regular: it vanished since, it can't be read, or it is
	// another name of a file that was read.
	now, err := d.t.Files().Stat(ctx, name)
	if err == nil && !now.Mode.IsRegular() {
		return refuse(sandbox.KindInvalid, dirOrOther(now.Mode))
	}
	var file io.ReadCloser
	if err == nil {
		file, err = d.t.Files().Open(ctx, name, 0, now.Size)
	}
	if err != nil {
		if kind := sandbox.KindOf(err); kind != sandbox.KindNotFound && kind != sandbox.KindDenied && kind != sandbox.KindInvalid && kind != sandbox.KindEscape {
			return err
		}
		return d.each(sandbox.FileRead{Name: name, Err: err})
	}
	defer file.Close()
	whole := &exact{r: file}
	err = d.each(sandbox.FileRead{
		Name: name, Mode: now.Mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky), Size: now.Size, Modified: now.Modified.UnixNano(), Content: whole,
	})
	if whole.err != nil {
		return whole.err
	}
	return err
}
