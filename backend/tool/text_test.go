package tool

import (
	"context"
	"hash/crc32"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

func crc(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, raw, plain, colours string }{
		{"plain", "a\tb\n", "a\tb\n", "a\tb\n"},
		{"colour", "\x1b[1;31mred\x1b[m\n", "red\n", "\x1b[1;31mred\x1b[m\n"},
		{"cursor", "\x1b[2K\x1b[1Gx\x1b[?25l", "x", "x"},
		{"title", "\x1b]0;title\ax\x1b]0;t\x1b\\y", "xy", "xy"},
		{"title without end", "\x1b]0;title\nx", "\nx", "\nx"},
		{"charset", "\x1b(Bx\x1b=y", "xy", "xy"},
		{"cut off", "x\x1b", "x", "x"},
		{"cut off in the middle", "x\x1b[31", "x", "x"},
		{"not a sequence", "\x1b[3\nx", "\nx", "\nx"},
		{"carriage return", "10%\r20%\n", "20%\n", "20%\n"},
		{"CRLF", "a\r\nb\r\r\n", "a\nb\n", "a\nb\n"},
		{"carriage return at the end", "100%\r", "100%", "100%"},
		{"backspace", "ab\bc", "ac", "ac"},
		{"backspace at the start", "a\n\b\bb", "a\nb", "a\nb"},
		{"backspace of a rune", "é\be", "e", "e"},
		{"bell and others", "a\a\x0e\x7fb", "ab", "ab"},
		{"NUL", "a\x00b", "a\u2400b", "a\u2400b"},
		{"invalid", "a\xff\xc3b", "a\uFFFD\uFFFDb", "a\uFFFD\uFFFDb"},
		{"C1", "a\u009b31mb", "a31mb", "a31mb"},
		{"odd parameters", "\x1b[<1mx", "x", "x"},
	} {
		if got := clean([]byte(c.raw), false); got != c.plain {
			t.Errorf("%s: %q, want %q", c.name, got, c.plain)
		}
		if got := clean([]byte(c.raw), true); got != c.colours {
			t.Errorf("%s with colours: %q, want %q", c.name, got, c.colours)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b[0m\r\n\b\xff\x00\x1b]0;x"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := clean(raw, false)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\b\x00") {
			t.Errorf("%q became %q", raw, got)
		}
		if again := clean([]byte(got), false); again != got {
			t.Errorf("%q became %q, then %q", raw, got, again)
		}
		if !utf8.ValidString(clean(raw, true)) {
			t.Errorf("%q: invalid with colours", raw)
		}
	})
}

func TestLooksBinary(t *testing.T) {
	for _, c := range []struct {
		content string
		want    bool
	}{
		{"", false},
		{"hello\n", false},
		{"\x1b[31mred\x1b[0m\r\n\t", false},
		{"caf\xe9 cr\xe8me br\xfbl\xe9e", false},
		{"one.txt\x00two.txt\x00", false},
		{"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", true},
		{"h\x00i\x00 \x00y\x00o\x00u\x00", true},
		{"\x00", true},
	} {
		if got := looksBinary([]byte(c.content)); got != c.want {
			t.Errorf("%q: %v", c.content, got)
		}
	}
}

// script is a command whose output and end are given.
type script struct {
	journal.Command
	output string
	exit   journal.Exit
	ended  bool
	reads  int64
}

func (s *script) CallID() string { return "test.1-000001" }
func (s *script) Fresh() bool    { return true }
func (s *script) Wait(context.Context) (journal.Exit, error) {
	return s.exit, nil
}

func (s *script) Exit(context.Context) (journal.Exit, bool, error) {
	return s.exit, s.ended, nil
}

// ReadOutput gives less than it is asked for, as it may.
func (s *script) ReadOutput(_ context.Context, offset int64, most int) ([]byte, int64, error) {
	size := int64(len(s.output))
	data := s.output[min(offset, size):min(offset+int64(min(most, 1000)), size)]
	s.reads += int64(len(data))
	return []byte(data), size, nil
}

type scripted struct{ *script }

func (s scripted) Start(context.Context, journal.Spec) (journal.Command, error) { return s.script, nil }

func (s scripted) Find(context.Context, string) (journal.Command, error) { return s.script, nil }

func TestReadView(t *testing.T) {
	line := strings.Repeat("x", 49) + "\n"
	for _, c := range []struct {
		name    string
		output  string
		from    int64
		running bool
		budget  int
		check   func(v view) bool
	}{
		{"all", "hello\n", 0, false, 100, func(v view) bool { return v.text == "hello\n" && v.note == "" && v.size == 6 }},
		{"from an offset", "hello\n", 2, false, 100, func(v view) bool { return v.text == "llo\n" && v.size == 6 }},
		{"from the end", "hello\n", 6, false, 100, func(v view) bool { return v.text == "" && v.note == "" && v.size == 6 }},
		{"lines", strings.Repeat(line, 100), 0, false, 400, func(v view) bool {
			return v.text == strings.Repeat(line, 4)+"[… left out …]\n"+strings.Repeat(line, 4) && strings.Contains(v.note, "the first 200 and the last 200 of 5,000 bytes are shown")
		}},
		{"one long line", strings.Repeat("é", 100_000), 0, false, 400, func(v view) bool {
			return utf8.ValidString(v.text) && !strings.Contains(v.text, "\uFFFD") && len(v.text) <= 430 && v.note != ""
		}},
		{"long line at an odd offset", strings.Repeat("é", 100_000), 1, false, 400, func(v view) bool { return utf8.ValidString(v.text) && len(v.text) <= 430 }},
		{"colours do not count", strings.Repeat("\x1b[31mx\x1b[0m", 100), 0, false, 400, func(v view) bool { return v.text == strings.Repeat("x", 100) && v.note == "" }},
		{"half a rune, running", "caf\xc3", 0, true, 100, func(v view) bool { return v.text == "caf" && v.size == 3 }},
		{"half a rune, over", "caf\xc3", 0, false, 100, func(v view) bool { return v.text == "caf\uFFFD" && v.size == 4 }},
		{"half a rune, long, running", strings.Repeat("x", 100_000) + "\xe2\x82", 0, true, 400, func(v view) bool {
			return v.size == 100_000 && strings.HasSuffix(v.text, "xx")
		}},
		{"binary tail", strings.Repeat(line, 10_000) + strings.Repeat("\x00", 20_000), 0, false, 400, func(v view) bool { return v.text == "(binary output, 520,000 bytes)" }},
	} {
		s := &script{output: c.output}
		v, err := readView(t.Context(), s, c.from, c.running, c.budget)
		if err != nil || !c.check(v) {
			t.Errorf("%s: %d bytes %.500q, note %q, %v", c.name, v.size, v.text, v.note, err)
		}
		if most := int64(4 * max(c.budget, displayBytes)); s.reads > most {
			t.Errorf("%s: read %d bytes", c.name, s.reads)
		}
	}
}

// TestBroken is a command that was lost with the machine.
func TestBroken(t *testing.T) {
	s := &script{output: "begun\n", ended: true, exit: journal.Exit{State: journal.StateBroken}}
	call := Call{ID: "test.1-000001", Args: []byte(`{"cmd": "x"}`), Journal: scripted{s}}
	out, err := execCommand{}.Run(t.Context(), call)
	if err != nil || out.Status != protocol.ToolInterrupted || out.Result.ExitCode != nil ||
		!strings.Contains(out.Result.Output, "may have been partly done. It was not run again") || !strings.Contains(out.Result.Output, "begun") {
		t.Errorf("%+v, %v", out, err)
	}
	call.Args = []byte(`{"session_id": "1-000001"}`)
	out, err = writeStdin{}.Run(t.Context(), call)
	if err != nil || out.Status != protocol.ToolInterrupted || !strings.Contains(out.Result.Output, "partly done") {
		t.Errorf("%+v, %v", out, err)
	}
}

type noJournal struct{ err error }

func (n noJournal) Start(context.Context, journal.Spec) (journal.Command, error) { return nil, n.err }

func (n noJournal) Find(context.Context, string) (journal.Command, error) { return nil, n.err }

// TestSandboxFails tells what is the model's to know from what is not.
func TestSandboxFails(t *testing.T) {
	for _, c := range []struct {
		kind  sandbox.Kind
		fails bool
	}{
		{sandbox.KindGone, true},
		{sandbox.KindUnavailable, true},
		{sandbox.KindTransport, true},
		{sandbox.KindTimeout, true},
		{sandbox.KindNoSpace, true},
		{sandbox.KindNotFound, false},
		{sandbox.KindDenied, false},
		{sandbox.KindInvalid, false},
	} {
		err := &sandbox.Error{Kind: c.kind, Backend: "local", Op: "start command"}
		out, got := execCommand{}.Run(t.Context(), Call{ID: "a.1", Args: []byte(`{"cmd": "x"}`), Journal: noJournal{err}})
		if (got != nil) != c.fails || !c.fails && out.Status != protocol.ToolFailed {
			t.Errorf("%s: %v, %+v", c.kind, got, out)
		}
		if c.fails && sandbox.KindOf(got) != c.kind {
			t.Errorf("%s became %v", c.kind, got)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{grouped(0), "0"},
		{grouped(999), "999"},
		{grouped(1000), "1,000"},
		{grouped(104857600), "104,857,600"},
		{bytesText(1), "1 byte"},
		{seconds(1234 * time.Millisecond), "1.23 s"},
		{seconds(90 * time.Second), "90.0 s"},
		{oneLine("  a\nb"), "a …"},
		{shown("a b"), "a b"},
		{shown("a\nb"), `"a\nb"`},
		{shown("a\u202eb"), `"a\u202eb"`},
		{cutEnd("aé", 2), "a"},
		{cutStart("éa", 2), "a"},
		{sessionID("0b5c.12-000003"), "12-000003"},
		{sessionID("plain"), "plain"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
