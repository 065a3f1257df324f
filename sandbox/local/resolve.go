//go:build unix

package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"temporal-sandbox-agent/sandbox"
)

// maxLinks is how many links a name may lead through.
const maxLinks = 64

// resolve returns a name without links for rel, as far as it exists, and fails
// if that leads out of the workspace. It makes nothing safe by itself: what it
// returns is used through os.Root again.
func (f *files) resolve(root *os.Root, rel string, follow bool) (string, error) {
	escape := fail(sandbox.KindEscape, "resolve "+rel, "it leads out of the workspace")
	todo := strings.Split(rel, "/")
	var done []string
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", escape
			}
			done = done[:len(done)-1]
			continue
		}
		name := path.Join(append(slices.Clone(done), part)...)
		info, err := root.Lstat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 || (len(todo) == 0 && !follow) {
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: rel, Err: syscall.ELOOP}
		}
		target, err := root.Readlink(name)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			inside, err := f.rel("resolve "+rel, target)
			if err != nil {
				return "", escape
			}
			done, target = nil, inside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	if len(done) == 0 {
		return ".", nil
	}
	return strings.Join(done, "/"), nil
}

// dirNames returns the names in a folder, sorted. It fails with KindTooLarge
// over most.
func dirNames(dir *os.Root, most int) ([]string, error) {
	handle, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	var names []string
	for {
		more, err := handle.Readdirnames(4096)
		names = append(names, more...)
		if len(names) > most {
			return nil, fail(sandbox.KindTooLarge, "list", "the folder has more than %d entries", most)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}
