package shtree

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

const (
	// clockTick is the finest difference of times that a system's clock stamps
	// files with: those of Linux move on 100 to 1000 times a second.
	clockTick = 10 * time.Millisecond
	// coarse is that of listings in which no time has parts of seconds.
	coarse = 2 * time.Second
)

// List implements sandbox.Bulk.
func (t *Tree) List(ctx context.Context, skip []string, each func(sandbox.Entry) error) (sandbox.Listing, error) {
	const op = "list the workspace"
	var prune []string
	for _, name := range skip {
		if err := t.check(op, name); err != nil {
			return sandbox.Listing{}, err
		}
		if prune != nil {
			prune = append(prune, "-o")
		}
		prune = append(prune, "-path", "./"+escapePattern(name))
	}
	nonce := rand.Text()
	args := []string{nonce}
	if prune != nil {
		args = append(append(append(args, "("), prune...), ")", "-prune", "-o")
	}
	listing := sandbox.Listing{Granularity: coarse}
	err := t.run(ctx, call{op: op, script: listScript, args: args, read: func(r *bufio.Reader) error {
		rs := &records{r: r, nonce: nonce, most: listMax}
		if err := rs.begin(); err != nil {
			return err
		}
		clock, err := readZero(r)
		if err != nil {
			return err
		}
		if listing.Begun = begun(clock); listing.Begun.IsZero() {
			return fmt.Errorf("the time %.40q is none", clock)
		}
		for {
			e, err := rs.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if e.Changed%int64(time.Second) != 0 {
				listing.Granularity = clockTick
			}
			if err := each(e); err != nil {
				return stop{err}
			}
		}
		for {
			name, err := readZero(r)
			if err != nil {
				return err
			}
			if name == "done" {
				return nil
			}
			if rs.read += len(name); rs.read > rs.most {
				return errEndless
			}
			listing.Unread = append(listing.Unread, sandbox.Unread{
				Name: cmpName(name), Why: t.fail(sandbox.KindDenied, op, errors.New("the folder can't be looked into: Permission denied")),
			})
		}
	}})
	if err != nil {
		return sandbox.Listing{}, err
	}
	return listing, nil
}

// cmpName is a name without the ./ of the scripts.
func cmpName(name string) string { return strings.TrimLeft(strings.TrimPrefix(name, "."), "/") }

// begun reads the time of a listing: seconds, or a day and a time.
func begun(clock string) time.Time {
	if f := strings.Fields(clock); len(f) >= 2 {
		if at := parseTime(f[0], f[1]); at != 0 {
			return time.Unix(0, at)
		}
		return time.Time{}
	}
	if at := parseSeconds(clock); at > 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// escapePattern makes a pattern of find that only this name matches.
func escapePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// check refuses names that are not plainly below the root.
func (t *Tree) check(op, name string) error {
	switch {
	case name == "" || name == "." || strings.Contains(name, "\x00"):
		return t.fail(sandbox.KindInvalid, op, fmt.Errorf("%q is no name of a file in the workspace", name))
	case path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../"):
		return t.fail(sandbox.KindEscape, op, fmt.Errorf("%q is outside the workspace", name))
	case path.Clean(name) != name:
		return t.fail(sandbox.KindInvalid, op, fmt.Errorf("%q is not the plain name of a file", name))
	}
	return nil
}

// ancestors calls each for the folders that are on the way to a name, the outer
// ones first.
func ancestors(name string, each func(string)) {
	for i := range len(name) {
		if name[i] == '/' {
			each(name[:i])
		}
	}
}

// nameList writes a list for names.sh: each name with its letter, and the
// folders on the way to them.
func nameList(letter, prefix string, names []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, name := range names {
		ancestors(name, func(folder string) {
			if !seen[folder] {
				seen[folder] = true
				b.WriteString("A./" + folder + "\x00")
			}
		})
		b.WriteString(letter + prefix + name + "\x00")
	}
	return b.String()
}

// notThrough leaves out the names that lead through links, and calls refused for
// each of those. Links that no name leads through are none that a script tells
// of, which would then be asked again and again.
func (t *Tree) notThrough(op string, names []string, links map[string]bool, refused func(string) error) ([]string, error) {
	var out []string
	for _, name := range names {
		through := false
		ancestors(name, func(folder string) { through = through || links[folder] })
		if !through {
			out = append(out, name)
		} else if err := refused(name); err != nil {
			return nil, err
		}
	}
	if len(out) == len(names) {
		return nil, t.fail(sandbox.KindTransport, op, errors.New("the sandbox tells of links that nothing leads through"))
	}
	return out, nil
}

// readLinks reads the names of links to the end of an answer.
func readLinks(r *bufio.Reader, links map[string]bool) error {
	for read := 0; ; {
		if _, err := r.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
		name, err := readZero(r)
		if err != nil {
			return err
		}
		if read += len(name); read > listMax {
			return errEndless
		}
		links[cmpName(name)] = true
	}
}

// Digests implements sandbox.Bulk.
func (t *Tree) Digests(ctx context.Context, names []string) ([][32]byte, error) {
	const op = "digest files"
	for _, name := range names {
		if err := t.check(op, name); err != nil {
			return nil, err
		}
	}
	places := make(map[string][]int, len(names))
	for i, name := range names {
		places[name] = append(places[name], i)
	}
	out := make([][32]byte, len(names))
	ask := names
	for len(ask) > 0 {
		links := map[string]bool{}
		// No name holds //, which so tells where one begins.
		list := nameList("N", ".//", ask)
		err := t.run(ctx, call{op: op, script: namesScript + digestScript, stdin: strings.NewReader(list), read: func(r *bufio.Reader) error {
			word, err := readZero(r)
			switch {
			case err != nil:
				return err
			case word == "links":
				return readLinks(r, links)
			case word == "zero":
				return readDigests(r, 0, places, out)
			}
			return readDigests(r, '\n', places, out)
		}})
		if err != nil {
			return nil, err
		}
		if len(links) == 0 {
			break
		}
		if ask, err = t.notThrough(op, ask, links, func(string) error { return nil }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// digestHead is the length of what is before the name in a record: the digest,
// two characters, and ".//".
const digestHead = 64 + 2 + 3

// readDigests reads records that end with a character that may also be in their
// names, as long as the next one does not look like a beginning.
func readDigests(r *bufio.Reader, end byte, places map[string][]int, out [][32]byte) error {
	var record []byte
	flush := func() error {
		if record == nil {
			return nil
		}
		var sum [32]byte
		if _, err := hex.Decode(sum[:], record[:64]); err != nil {
			return fmt.Errorf("the digest in %.80q is none", record)
		}
		for _, i := range places[string(record[digestHead:len(record)-1])] {
			out[i] = sum
		}
		record = nil
		return nil
	}
	for {
		line, err := readTo(r, end)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil { // the end
			if len(line) > 0 {
				return io.ErrUnexpectedEOF
			}
			return flush()
		}
		if !beginsDigest(line) {
			if record == nil || len(record) > recordMax {
				return fmt.Errorf("the record %.80q is none", line)
			}
			record = append(record, line...)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		record = line
	}
}

func beginsDigest(line []byte) bool {
	return len(line) > digestHead && string(line[66:digestHead]) == ".//" && strings.Trim(string(line[:64]), "0123456789abcdef") == ""
}

// ReadFiles implements sandbox.Bulk. Modified is in whole seconds where the
// file was written between the look at it and the reading.
func (t *Tree) ReadFiles(ctx context.Context, names []string, each func(sandbox.FileRead) error) error {
	const op = "read files"
	for _, name := range names {
		if err := t.check(op, name); err != nil {
			return err
		}
	}
	refused := func(name string) error {
		return each(sandbox.FileRead{Name: name, Err: t.fail(sandbox.KindNotFound, "read "+name, errors.New("there is no such file: a link is in its way"))})
	}
	for len(names) > 0 {
		reader := &reader{t: t, each: each, links: map[string]bool{}, told: map[string]sandbox.Entry{}, given: make(map[string]bool, len(names))}
		for _, name := range names {
			reader.given[name] = false
		}
		nonce := rand.Text()
		err := t.run(ctx, call{
			op: op, script: namesScript + readScript, args: []string{nonce},
			stdin: strings.NewReader(nameList("N", "./", names)),
			read:  func(r *bufio.Reader) error { return reader.read(r, nonce) },
		})
		if err != nil {
			return err
		}
		if len(reader.links) == 0 {
			return reader.rest(ctx, names)
		}
		if names, err = t.notThrough(op, names, reader.links, refused); err != nil {
			return err
		}
	}
	return nil
}

// dirOrOther says what is in the place of a regular file.
func dirOrOther(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "it is a folder"
	case mode&fs.ModeSymlink != 0:
		return "it is a link"
	}
	return "it is not a regular file"
}
