package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"temporal-sandbox-agent/sandbox"
)

// within returns a path as it is seen from the workspace root; ok is false if
// it leads, by its text alone, out of the workspace.
func within(root, p string) (rel string, ok bool) {
	if path.IsAbs(p) {
		root, p = path.Clean(root), path.Clean(p)
		if p == root {
			return ".", true
		}
		below := root
		if below != "/" {
			below += "/"
		}
		rel, ok := strings.CutPrefix(p, below)
		if !ok {
			return p, false
		}
		return rel, true
	}
	p = path.Clean(p)
	return p, p != ".." && !strings.HasPrefix(p, "../")
}

// maxLinks is how many links in a row are followed.
const maxLinks = 16

// follow returns the path that a file's links lead to and what is there. The
// sandbox keeps all of it in the workspace. What is not there is an error of
// KindNotFound, with the path where it would be.
func follow(ctx context.Context, files sandbox.FS, root, name string) (string, sandbox.Info, error) {
	for range maxLinks {
		info, err := files.Stat(ctx, name)
		if err != nil || info.Mode&fs.ModeSymlink == 0 {
			return name, info, err
		}
		target := info.Target
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		name, _ = within(root, target) // out of it: the sandbox refuses
	}
	return name, sandbox.Info{}, &sandbox.Error{Kind: sandbox.KindInvalid, Op: "follow " + name, Err: errors.New("too many links")}
}

// shown writes a path so that it stays on one line.
func shown(p string) string {
	if printable(p) == p && !strings.ContainsRune(p, '\uFFFD') {
		return p
	}
	return fmt.Sprintf("%q", p)
}

// suggest names up to three files that may have been meant by a path that is
// not there.
func suggest(ctx context.Context, files sandbox.FS, name string) string {
	dir := path.Dir(name)
	for {
		entries, err := files.ReadDir(ctx, dir)
		if err != nil {
			if dir == "." || dir == "/" {
				return ""
			}
			name, dir = dir, path.Dir(dir)
			continue
		}
		near := nearNames(path.Base(name), entries)
		for i := range near {
			near[i] = shown(path.Join(dir, near[i]))
		}
		if len(near) == 0 {
			return ""
		}
		return " Did you mean " + strings.Join(near, " or ") + "?"
	}
}

// maxNamesCompared bounds the names that are compared letter by letter.
const maxNamesCompared = 5_000

func nearNames(want string, entries []sandbox.Info) []string {
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	lower := strings.ToLower(want)
	stem := strings.TrimSuffix(lower, path.Ext(lower))
	for _, e := range entries[:min(len(entries), maxNamesCompared)] {
		l := strings.ToLower(e.Name)
		far := distance(lower, l, len(lower)/3+1)
		if l == lower {
			far = -1
		} else if stem != "" && strings.TrimSuffix(l, path.Ext(l)) == stem {
			far = min(far, 1)
		}
		if far <= len(lower)/3+1 {
			near = append(near, candidate{e.Name, far})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.far - b.far })
	var names []string
	for _, c := range near[:min(len(near), 3)] {
		names = append(names, c.name)
	}
	return names
}

// distance is how many letters have to be changed to make b of a; more than
// limit is told as limit + 1.
func distance(a, b string, limit int) int {
	if len(a) > 256 || len(b) > 256 || max(len(a), len(b))-min(len(a), len(b)) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return min(row[len(b)], limit+1)
}
