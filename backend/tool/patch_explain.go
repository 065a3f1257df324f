package tool

import (
	"fmt"
	"strings"
)

// maxExplained is how many lines of a hunk an error repeats.
const maxExplained = 12

func (h *hunker) name() string {
	if h.of == 1 {
		return h.path + ": the hunk does not fit"
	}
	return fmt.Sprintf("%s: hunk %d of %d does not fit", h.path, h.number, h.of)
}

func (h *hunker) noHeader(header string) error {
	text := fmt.Sprintf("%s. Its header %q was not found", h.name(), "@@ "+header)
	if h.cursor > 0 {
		text += fmt.Sprintf(" after line %d", h.cursor)
	}
	return fmt.Errorf("%s.%s", text, h.near([]string{header}))
}

func (h *hunker) noMatch(old []string, from int) error {
	where := ""
	if from > 0 && from < len(h.file.lines) {
		where = fmt.Sprintf(" after line %d, nor at one place only elsewhere", from)
	}
	shown := old
	more := ""
	if len(old) > maxExplained {
		shown = old[:maxExplained]
		more = fmt.Sprintf("\n  … and %d more", len(old)-maxExplained)
	}
	return fmt.Errorf("%s. These lines were not found%s:\n  %s%s%s",
		h.name(), where, strings.Join(shown, "\n  "), more, h.near(old))
}

// near shows the lines of the file that are most like the wanted ones.
func (h *hunker) near(want []string) string {
	if len(h.file.lines) == 0 {
		return "\nThe file is empty."
	}
	at, ok := h.nearest(want)
	if !ok {
		return fmt.Sprintf("\nNothing like it is in the file (%d lines).", len(h.file.lines))
	}
	var b strings.Builder
	b.WriteString("\nThe nearest lines in the file are:")
	end := min(at+min(max(len(want), 3), maxExplained), len(h.file.lines))
	for i := at; i < end; i++ {
		fmt.Fprintf(&b, "\n%6d  %s", i+1, shorten(h.file.lines[i].text, 200))
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// nearest returns the line where most of the wanted lines are in place; if none
// is in the file as a whole, the line that shares most words with one of them.
func (h *hunker) nearest(want []string) (int, bool) {
	lines := h.seek.at(indentation)
	offsets := map[string][]int{} // where a line is among the wanted
	for i, w := range want {
		if n := indentation.normal(w); strings.ContainsFunc(n, isWordRune) {
			offsets[n] = append(offsets[n], i)
		}
	}
	votes := map[int]int{}
	best := -1
	for i, line := range lines {
		for _, o := range offsets[line] {
			start := i - o
			votes[start]++
			if best == -1 || votes[start] > votes[best] {
				best = start
			}
		}
	}
	if best != -1 {
		return max(best, 0), true
	}
	return mostWords(lines, want)
}

// maxCompared bounds the lines that are compared word by word.
const maxCompared = 50_000

func mostWords(lines, want []string) (int, bool) {
	type wanted struct {
		at    int
		words map[string]bool
	}
	var wants []wanted
	for i, w := range want {
		set := map[string]bool{}
		for _, word := range words(w) {
			set[word] = true
		}
		if len(set) > 0 && len(wants) < maxExplained {
			wants = append(wants, wanted{i, set})
		}
	}
	best, at := 0.49, -1 // fewer than half of the words is no likeness
	for i, line := range lines[:min(len(lines), maxCompared)] {
		have := words(line)
		for _, w := range wants {
			shared := 0
			for _, word := range have {
				if w.words[word] {
					shared++
				}
			}
			if score := float64(2*shared) / float64(len(have)+len(w.words)); score > best {
				best, at = score, max(i-w.at, 0)
			}
		}
	}
	return at, at >= 0
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}
