package tool

import (
	"slices"
	"sort"
)

// applyHunks returns the text with all hunks applied; the error tells the
// model which one did not fit.
func applyHunks(path string, f lined, hunks []hunk) (lined, error) {
	h := hunker{path: path, file: f, seek: newSeeker(f.lines)}
	for i, hunk := range hunks {
		h.number, h.of = i+1, len(hunks)
		if err := h.place(hunk); err != nil {
			return lined{}, err
		}
	}
	sort.SliceStable(h.edits, func(i, j int) bool { return h.edits[i].start < h.edits[j].start })
	out := lined{bom: f.bom}
	at := 0
	for _, e := range h.edits {
		out.lines = append(out.lines, f.lines[at:e.start]...)
		out.lines = append(out.lines, e.lines...)
		at = e.end
	}
	out.lines = append(out.lines, f.lines[at:]...)
	return out, nil
}

type hunker struct {
	path       string
	file       lined
	seek       *seeker
	number, of int
	// cursor is where the last hunk ended: the next one is looked for from
	// there on.
	cursor int
	edits  []edit
}

// edit puts lines in the place of file lines start to end.
type edit struct {
	start, end int
	lines      []fileLine
}

// place finds where a hunk belongs and notes what it changes.
func (h *hunker) place(k hunk) error {
	from := h.cursor
	missing := ""
	for _, header := range k.headers {
		at, ok := h.seek.findHeader(header, from)
		if !ok {
			missing = header
			break
		}
		from = at + 1
	}
	if !slices.ContainsFunc(k.lines, func(l hunkLine) bool { return l.sign != '+' && !l.bare }) {
		return h.insert(k, from, missing)
	}
	for _, lines := range withoutBare(k.lines) {
		old := oldLines(lines)
		if m, ok := h.locate(old, from, missing != "", k); ok {
			h.replace(lines, old, m)
			return nil
		}
	}
	if missing != "" {
		return h.noHeader(missing)
	}
	return h.noMatch(oldLines(k.lines), from)
}

// insert places a hunk that names no line of the file: after its header, or at
// the end of the file.
func (h *hunker) insert(k hunk, after int, missing string) error {
	if missing != "" {
		return h.noHeader(missing)
	}
	at := len(h.file.lines)
	if len(k.headers) > 0 && !k.atEnd {
		at = after
	}
	e := edit{start: at, end: at}
	ways := withoutBare(k.lines)
	for _, l := range ways[len(ways)-1] {
		e.lines = append(e.lines, fileLine{l.text, h.file.endNear(at)})
	}
	h.edits = append(h.edits, e)
	h.cursor = max(h.cursor, at)
	return nil
}

// locate finds old lines: with the header as their first line, from the header
// on, or where else they are if there is only one such place.
func (h *hunker) locate(old []string, from int, headerMissing bool, k hunk) (match, bool) {
	if !headerMissing {
		if len(k.headers) > 0 {
			if m, ok := h.seek.find(old, from-1, false); ok && m.start == from-1 && h.free(m.start, len(old)) {
				return m, true
			}
		}
		if m, ok := h.seek.find(old, from, k.atEnd); ok && h.free(m.start, len(old)) {
			return m, true
		}
	}
	m, ok := h.seek.only(old)
	return m, ok && h.free(m.start, len(old))
}

// free tells whether no hunk has changed these lines yet.
func (h *hunker) free(start, n int) bool {
	for _, e := range h.edits {
		if start < e.end && e.start < start+n {
			return false
		}
	}
	return true
}

// replace notes the change: lines that stay are the file's own, whatever the
// patch made of them.
func (h *hunker) replace(lines []hunkLine, old []string, m match) {
	own := make([]string, len(old))
	for i := range old {
		own[i] = h.file.lines[m.start+i].text
	}
	fit := func(s string) string { return s }
	if m.by == indentation {
		fit = reindent(old, own)
	}
	e := edit{start: m.start, end: m.start + len(old)}
	at := m.start
	for _, l := range lines {
		switch l.sign {
		case '+':
			e.lines = append(e.lines, fileLine{fit(l.text), h.file.endNear(at)})
		case ' ':
			e.lines = append(e.lines, h.file.lines[at])
			at++
		case '-':
			at++
		}
	}
	h.edits = append(h.edits, e)
	h.cursor = max(h.cursor, e.end)
}

func oldLines(lines []hunkLine) []string {
	var old []string
	for _, l := range lines {
		if l.sign != '+' {
			old = append(old, l.text)
		}
	}
	return old
}

// withoutBare returns the lines as they are and, if there are empty lines
// without a sign at the end or the beginning, without those.
func withoutBare(lines []hunkLine) [][]hunkLine {
	ways := [][]hunkLine{lines}
	end := len(lines)
	for end > 0 && lines[end-1].bare {
		end--
	}
	if end < len(lines) {
		ways = append(ways, lines[:end])
	}
	start := 0
	for start < end && lines[start].bare {
		start++
	}
	if start > 0 {
		ways = append(ways, lines[start:end])
	}
	return ways
}
