package tool

import "strings"

// reindent returns how to indent new lines when the lines around them were
// found with another indentation than the patch has: as the file is.
func reindent(patch, file []string) func(string) string {
	same := func(s string) string { return s }
	var pairs [][2]string // indentation in the patch, in the file
	for i := range patch {
		if strings.TrimSpace(patch[i]) != "" {
			pairs = append(pairs, [2]string{indent(patch[i]), indent(file[i])})
		}
	}
	if len(pairs) == 0 {
		return same
	}
	if more, ok := common(pairs, 0, 1); ok {
		return func(s string) string {
			if strings.TrimSpace(s) == "" {
				return s
			}
			return more + s
		}
	}
	if less, ok := common(pairs, 1, 0); ok {
		return func(s string) string { return strings.TrimPrefix(s, less) }
	}
	for _, width := range []int{4, 2, 8} {
		if tabsFor(pairs, width) {
			spaces := strings.Repeat(" ", width)
			return func(s string) string {
				in := indent(s)
				return strings.ReplaceAll(in, spaces, "\t") + s[len(in):]
			}
		}
	}
	return same
}

func indent(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

// common returns what all indentations of one side have before those of the
// other.
func common(pairs [][2]string, short, long int) (string, bool) {
	var extra string
	for i, p := range pairs {
		e, ok := strings.CutSuffix(p[long], p[short])
		if !ok || (i > 0 && e != extra) {
			return "", false
		}
		extra = e
	}
	return extra, true
}

// tabsFor tells whether the file has a tab wherever the patch has width spaces.
func tabsFor(pairs [][2]string, width int) bool {
	for _, p := range pairs {
		if strings.Trim(p[1], "\t") != "" || p[0] != strings.Repeat(" ", width*len(p[1])) {
			return false
		}
	}
	return true
}
