package session

import (
	"strings"
	"testing"
)

func TestCountLines(t *testing.T) {
	many := strings.Repeat("line\n", 10_000)
	for _, c := range []struct {
		before, after  string
		added, removed int
	}{
		{"", "", 0, 0},
		{"", "a", 1, 0},
		{"", "a\nb\n", 2, 0},
		{"a\nb", "", 0, 2},
		{"\n", "", 0, 1},
		{"a\nb\n", "a\nb\n", 0, 0},
		{"a\nb\nc\n", "a\nc\n", 0, 1},
		{"a\nc\n", "a\nb\nc\n", 1, 0},
		{"a\nb\nc\n", "a\nB\nc\n", 1, 1},
		{"a\n", "b\nc\nd\n", 3, 1},
		// A line that gets its end is another line, as git counts it.
		{"a\nb", "a\nb\n", 1, 1},
		{"a\r\nb\r\n", "a\nb\n", 2, 2},
		{"a\n\nb\n", "a\nb\n", 0, 1},
		{"ä\nö\n", "ä\nü\n", 1, 1},
		{"a\nb\n", "b\na\n", 1, 1},
		{many, many + "end\n", 1, 0},
		{"begin\n" + many, many, 0, 1},
	} {
		if added, removed := countLines(c.before, c.after); added != c.added || removed != c.removed {
			t.Errorf("%.20q to %.20q: +%d -%d, want +%d -%d", c.before, c.after, added, removed, c.added, c.removed)
		}
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "\n": 1, "\n\n": 2, "a": 1, "a\n": 1, "a\nb": 2, "a\nb\n": 2, "a\r\nb\r\n": 2, "a\rb": 1,
	} {
		if got := lines(text); got != want {
			t.Errorf("%q has %d lines, want %d", text, got, want)
		}
	}
}
