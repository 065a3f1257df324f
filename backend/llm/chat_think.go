package llm

import "strings"

// thinkSplitter parts reasoning from text for servers that leave a model's
// <think>…</think> at the beginning of its text.
type thinkSplitter struct {
	state thinkState
	held  string
	// said is true once some reasoning was given out.
	said bool
}

type thinkState int

const (
	thinkUnknown thinkState = iota // nothing but white space has come
	thinkInside
	thinkOutside
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// split takes a piece of content and gives what of it is reasoning and what is
// text. It holds back what may be half a tag.
func (t *thinkSplitter) split(piece string) (thought, text string) {
	if t.state == thinkOutside {
		return "", piece
	}
	t.held += piece
	if t.state == thinkUnknown {
		trimmed := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(trimmed, thinkOpen):
			t.state, t.held = thinkInside, trimmed[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, trimmed):
			return "", "" // may become the tag
		default:
			text, t.held, t.state = t.held, "", thinkOutside
			return "", text
		}
	}
	if !t.said {
		t.held = strings.TrimLeft(t.held, "\n")
	}
	if before, after, ok := strings.Cut(t.held, thinkClose); ok {
		t.state, t.held = thinkOutside, ""
		return strings.TrimRight(before, "\n"), strings.TrimLeft(after, "\n")
	}
	keep := halfTag(t.held)
	thought, t.held = t.held[:len(t.held)-keep], t.held[len(t.held)-keep:]
	t.said = t.said || thought != ""
	return thought, ""
}

// rest gives what was held back when the answer ends.
func (t *thinkSplitter) rest() (thought, text string) {
	held := t.held
	t.held = ""
	if t.state == thinkInside {
		return held, ""
	}
	return "", held
}

// halfTag tells how many bytes at the end may begin the closing tag, or are the
// line ends before it.
func halfTag(s string) int {
	keep := 0
	for n := min(len(thinkClose)-1, len(s)); n > 0; n-- {
		if strings.HasPrefix(thinkClose, s[len(s)-n:]) {
			keep = n
			break
		}
	}
	for keep < len(s) && s[len(s)-keep-1] == '\n' {
		keep++
	}
	return keep
}
