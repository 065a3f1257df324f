package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle and maxDetail bound what an approval shows.
const (
	maxTitle  = 200      // runes
	maxDetail = 16 << 10 // bytes
)

// oneLine makes a title: the first line, cut to maxTitle runes, with "…" where
// something is left out.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	first, _, more := strings.Cut(s, "\n")
	first = strings.TrimSpace(first)
	if more {
		first += " …"
	}
	return printable(shorten(first, maxTitle))
}

// shorten cuts s to n runes, the last of which is then "…".
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// printable shows control characters, and those that turn the direction of
// text around, as U+FFFD: what the user approves must be what is run.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return utf8.RuneError
		}
		return r
	}, s)
}

// detail is the text of an approval as a whole, at most maxDetail bytes.
func detail(s string) string {
	const cut = "\n[… cut here …]"
	clean := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (!unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r)) {
			return r
		}
		return utf8.RuneError
	}, s)
	if len(clean) <= maxDetail {
		return clean
	}
	return cutEnd(clean, maxDetail-len(cut)) + cut
}
