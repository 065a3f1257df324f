package tool

import (
	"strings"
)

// Lines of a patch are looked for in the file in four ways, each more lenient
// than the one before.
type leniency int

const (
	exact       leniency = iota
	trimmedEnd           // space at the end of lines does not count
	punctuation          // nor does how quotes, dashes and spaces are written
	indentation          // nor does space at the beginning
	numLeniencies
)

func (l leniency) normal(s string) string {
	if l >= punctuation {
		s = plainPunctuation(s)
	}
	switch {
	case l == exact:
		return s
	case l < indentation:
		return strings.TrimRight(s, " \t\r")
	}
	return strings.TrimSpace(s)
}

// plainPunctuation writes typographic characters, which models like to change,
// in ASCII; invalid UTF-8 is as the model was shown it.
func plainPunctuation(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\u2010' && r <= '\u2015', r == '\u2212':
			return '-'
		case r >= '\u2018' && r <= '\u201b':
			return '\''
		case r >= '\u201c' && r <= '\u201f':
			return '"'
		case r == '\u00a0', r >= '\u2002' && r <= '\u200a', r == '\u202f', r == '\u205f', r == '\u3000':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// seeker looks for lines in a file.
type seeker struct {
	lines  []fileLine
	normal [numLeniencies][]string
}

func newSeeker(lines []fileLine) *seeker { return &seeker{lines: lines} }

func (s *seeker) at(l leniency) []string {
	if s.normal[l] == nil {
		s.normal[l] = make([]string, len(s.lines))
		for i, line := range s.lines {
			s.normal[l][i] = l.normal(line.text)
		}
	}
	return s.normal[l]
}

// match is where lines were found.
type match struct {
	start int
	by    leniency
}

// find returns the first place at or after from where the lines are, by the
// strictest way that finds any. With atEnd, the end of the file comes first.
func (s *seeker) find(want []string, from int, atEnd bool) (match, bool) {
	for l := range numLeniencies {
		pattern, ok := prepare(want, l)
		if !ok {
			continue
		}
		lines := s.at(l)
		if start := len(lines) - len(pattern); atEnd && start >= from && equalAt(lines, pattern, start) {
			return match{start, l}, true
		}
		for i := max(from, 0); i+len(pattern) <= len(lines); i++ {
			if equalAt(lines, pattern, i) {
				return match{i, l}, true
			}
		}
	}
	return match{}, false
}

// only returns the place where the lines are if there is just one.
func (s *seeker) only(want []string) (match, bool) {
	m, ok := s.find(want, 0, false)
	if !ok {
		return match{}, false
	}
	pattern, _ := prepare(want, m.by)
	lines := s.at(m.by)
	for i := m.start + 1; i+len(pattern) <= len(lines); i++ {
		if equalAt(lines, pattern, i) {
			return match{}, false
		}
	}
	return m, true
}

// prepare normalises lines for a way of looking. Lines without a letter or a
// digit ("}") have no likeness once their indentation is gone: they are not
// looked for that way.
func prepare(want []string, l leniency) ([]string, bool) {
	out := make([]string, len(want))
	telling := false
	for i, w := range want {
		out[i] = l.normal(w)
		telling = telling || strings.ContainsFunc(out[i], isWordRune)
	}
	return out, telling || l < indentation
}

func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

func equalAt(lines, pattern []string, at int) bool {
	for i, p := range pattern {
		if lines[at+i] != p {
			return false
		}
	}
	return true
}

// findHeader returns the line of a hunk's header at or after from. A header is
// often only the beginning or a part of its line.
func (s *seeker) findHeader(header string, from int) (int, bool) {
	if m, ok := s.find([]string{header}, from, false); ok {
		return m.start, true
	}
	want := indentation.normal(header)
	lines := s.at(indentation)
	for _, alike := range []func(string, string) bool{strings.HasPrefix, strings.Contains} {
		for i := max(from, 0); i < len(lines); i++ {
			if want != "" && alike(lines[i], want) {
				return i, true
			}
		}
	}
	return 0, false
}
