package tool

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"temporal-sandbox-agent/sandbox/journal"
)

const (
	// bytesPerToken is a rough measure that holds for code and English.
	bytesPerToken = 4
	// displayBytes is how much of an output a result keeps for the user; the
	// whole of it is in the journal.
	displayBytes = 16 << 10
)

// view is a part of a command's output as text.
type view struct {
	// text is for the model, display for the user (with colours).
	text, display string
	// size is the size of the whole output, in bytes, when it was read. It ends
	// before a rune that a running command has written half of.
	size int64
	// note says what text leaves out; empty if nothing.
	note string
}

// readView reads the output from offset from on and keeps at most budget bytes
// of it as text for the model: its head and its tail. However large the output
// is, no more than a few times the budget is read.
func readView(ctx context.Context, cmd journal.Command, from int64, running bool, budget int) (view, error) {
	// Escape sequences and overwritten lines make the text shorter than the
	// bytes are: read more than is kept.
	window := max(2*budget, displayBytes)
	head, size, err := readRange(ctx, cmd, from, window)
	if err != nil {
		return view{}, err
	}
	var tail []byte
	cut := false
	if rest := size - from - int64(len(head)); rest > 0 {
		start := max(size-int64(window), from+int64(len(head)))
		if tail, _, err = readRange(ctx, cmd, start, int(size-start)); err != nil {
			return view{}, err
		}
		if cut = rest > int64(len(tail)); cut {
			head = head[:len(head)-partialRune(head)]
			tail = wholeLines(tail)
		} else {
			head, tail = append(head, tail...), nil
		}
	}
	v := view{size: size}
	if running {
		last := head
		if cut {
			last = tail
		}
		if n := partialRune(last); n > 0 {
			v.size -= int64(n)
			if cut {
				tail = tail[:len(tail)-n]
			} else {
				head = head[:len(head)-n]
			}
		}
	}
	total := v.size - from
	if looksBinary(head) || looksBinary(tail) {
		v.text = fmt.Sprintf("(binary output, %s)", bytesText(total))
		v.display = v.text
		v.note = "Binary output is not shown; the full output is kept."
		return v, nil
	}
	var first, last int
	v.text, first, last = squeeze(clean(head, false), clean(tail, false), cut, budget)
	v.display, _, _ = squeeze(clean(head, true), clean(tail, true), cut, displayBytes)
	if first >= 0 {
		v.note = fmt.Sprintf("Output truncated: the first %s and the last %s of %s are shown; the full output is kept.",
			grouped(int64(first)), grouped(int64(last)), bytesText(total))
	}
	return v, nil
}

// readRange reads up to n bytes from offset on, less at the end of the output.
// The size is the one that the first read told, so that an output that grows
// meanwhile does not move the end.
func readRange(ctx context.Context, cmd journal.Command, offset int64, n int) (data []byte, size int64, err error) {
	data, size, err = cmd.ReadOutput(ctx, offset, n)
	if err != nil {
		return nil, 0, fmt.Errorf("read the output: %w", err)
	}
	for len(data) < n && offset+int64(len(data)) < size {
		want := min(int64(n-len(data)), size-offset-int64(len(data)))
		more, _, err := cmd.ReadOutput(ctx, offset+int64(len(data)), int(want))
		if err != nil {
			return nil, 0, fmt.Errorf("read the output: %w", err)
		}
		if len(more) == 0 {
			break
		}
		data = append(data, more...)
	}
	// A read may have got what was written after the size was taken.
	if over := offset + int64(len(data)) - size; over > 0 {
		data = data[:max(0, int64(len(data))-over)]
	}
	return data, size, nil
}

// wholeLines drops the rest of a line (or at least of a rune) that b begins in
// the middle of.
func wholeLines(b []byte) []byte {
	if i := bytes.IndexByte(b[:min(len(b), 4096)], '\n'); i >= 0 {
		return b[i+1:]
	}
	for i := 0; i < min(len(b), utf8.UTFMax); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// squeeze makes one text of a head and a tail within budget bytes (and a line
// that tells of the cut). Cut tells that something between them was left out
// already. It returns how many bytes of each are in it; first is -1 if nothing
// was left out.
func squeeze(head, tail string, cut bool, budget int) (text string, first, last int) {
	if !cut {
		if len(head) <= budget {
			return head, -1, 0
		}
		tail = head
	}
	half := budget / 2
	head = cutEnd(head, half)
	tail = cutStart(tail, half)
	return strings.TrimSuffix(head, "\n") + "\n[… left out …]\n" + tail, len(head), len(tail)
}

// cutEnd keeps at most n bytes of the beginning, up to the end of a line if
// one ends in the last quarter, else of a rune.
func cutEnd(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i >= n-n/4-1 && i >= 0 {
		return s[:i+1]
	}
	return s[:len(s)-partialRune([]byte(s[max(0, len(s)-utf8.UTFMax):]))]
}

// cutStart keeps at most n bytes of the end, from the beginning of a line if
// one begins in the first quarter, else of a rune.
func cutStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	atLine := s[len(s)-n-1] == '\n'
	if s = s[len(s)-n:]; atLine {
		return s
	}
	if i := strings.IndexByte(s, '\n'); i >= 0 && i <= n/4 {
		return s[i+1:]
	}
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

func bytesText(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return grouped(n) + " bytes"
}

// grouped writes a number with commas: 104,857,600.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
