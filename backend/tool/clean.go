package tool

import (
	"unicode/utf8"
)

// clean makes text of a terminal's bytes, as a person would see it: escape
// sequences are gone (colours stay if colours is true), a carriage return
// starts its line again, a backspace takes a character back, invalid UTF-8
// shows as U+FFFD and NUL as U+2400.
func clean(raw []byte, colours bool) string {
	c := cleaner{out: make([]byte, 0, len(raw))}
	for i := 0; i < len(raw); {
		b := raw[i]
		switch {
		case b == 0x1b:
			n, colour := escape(raw[i:])
			if colour && colours {
				c.out = append(c.out, raw[i:i+n]...)
			}
			i += n
		case b < 0x20 || b == 0x7f:
			c.control(b)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			// U+0080 to U+009F are control characters too.
			if r >= 0xa0 || r < 0x80 {
				c.write(r)
			}
			i += n
		}
	}
	return string(c.out)
}

type cleaner struct {
	out []byte
	// line is where the current line starts; restart is true after a carriage
	// return, until something is written over the line.
	line    int
	restart bool
}

func (c *cleaner) write(r rune) {
	if c.restart {
		c.out, c.restart = c.out[:c.line], false
	}
	c.out = utf8.AppendRune(c.out, r)
}

func (c *cleaner) control(b byte) {
	switch b {
	case '\n':
		c.out, c.restart = append(c.out, '\n'), false
		c.line = len(c.out)
	case '\t':
		c.write('\t')
	case '\r':
		c.restart = true
	case '\b':
		if len(c.out) > c.line {
			_, n := utf8.DecodeLastRune(c.out)
			c.out = c.out[:len(c.out)-n]
		}
	case 0:
		c.write('\u2400')
	}
}

// maxString ends an escape sequence that carries a string and has no end of
// its own, so that it does not swallow the output.
const maxString = 4096

// escape returns the length of the escape sequence that b begins with, and
// whether it sets colours.
func escape(b []byte) (n int, colour bool) {
	if len(b) == 1 {
		return 1, false
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] >= 0x40 && b[i] <= 0x7e:
				return i + 1, b[i] == 'm' && plainParams(b[2:i])
			case b[i] < 0x20 || b[i] > 0x3f:
				return i, false // not a sequence after all
			}
		}
		return len(b), false
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(b) && i < maxString; i++ {
			switch {
			case b[i] == '\a':
				return i + 1, false
			case b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\':
				return i + 2, false
			case b[i] == '\n' || b[i] == 0x1b:
				return i, false
			}
		}
		return min(len(b), maxString), false
	}
	i := 1
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f {
		i++
	}
	if i < len(b) && b[i] >= 0x30 && b[i] <= 0x7e {
		i++
	}
	return i, false
}

func plainParams(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && c != ';' && c != ':' {
			return false
		}
	}
	return true
}

// looksBinary tells whether too much of b is no text. The bound leaves room
// for text of another encoding and for names that are ended by NUL.
func looksBinary(b []byte) bool {
	bad := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case r < 0x20 && (r < '\a' || r > '\r') && r != 0x1b:
			bad++
		}
		i += n
	}
	return bad*10 > len(b)*3
}

// partialRune returns how many bytes at the end of b begin a rune and do not
// end it.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
