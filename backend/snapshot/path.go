package snapshot

import (
	"path"
	"slices"
	"strings"
)

// maxPath is the longest path of an entry, in bytes.
const maxPath = 64 << 10

// comparePaths orders paths component by component: what is in a folder comes
// right after it.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		switch {
		case x == '/':
			return -1
		case y == '/':
			return 1
		case x < y:
			return -1
		default:
			return 1
		}
	}
	return len(a) - len(b)
}

// validPath tells whether a path can be that of an entry.
func validPath(p string) bool {
	if p == "" || len(p) > maxPath || strings.IndexByte(p, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// validTarget tells whether a link can lead there.
func validTarget(target string) bool {
	return target != "" && len(target) <= maxPath && strings.IndexByte(target, 0) < 0
}

// parentOf is the folder of a path, "" for the root.
func parentOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// below tells whether p is dir or in it.
func below(p, dir string) bool {
	return len(p) >= len(dir) && p[:len(dir)] == dir && (len(p) == len(dir) || p[len(dir)] == '/')
}

// outermost sorts paths and drops those that are in others.
func outermost(paths []string) []string {
	slices.SortFunc(paths, comparePaths)
	var out []string
	for _, p := range paths {
		if len(out) == 0 || !below(p, out[len(out)-1]) {
			out = append(out, p)
		}
	}
	return out
}

// leadsOutside tells whether the link at p, as it is written, leads out of the
// workspace. An absolute one does: elsewhere the workspace has another name.
func leadsOutside(p, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	joined := path.Join(parentOf(p), target)
	return joined == ".." || strings.HasPrefix(joined, "../")
}

// parents checks that each entry of a sequence is in a folder that came before.
type parents struct {
	open []string
}

// enter returns false if there is no folder for the entry.
func (s *parents) enter(f *File) bool {
	parent := parentOf(f.Path)
	for len(s.open) > 0 && s.open[len(s.open)-1] != parent {
		s.open = s.open[:len(s.open)-1]
	}
	if parent != "" && len(s.open) == 0 {
		return false
	}
	if f.Kind == KindDir {
		s.open = append(s.open, f.Path)
	}
	return true
}
