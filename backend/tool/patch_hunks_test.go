package tool

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

// patchText applies the body of an Update File to a text.
func patchText(t *testing.T, content, body string) (string, error) {
	t.Helper()
	ops, err := parsePatch("*** Begin Patch\n*** Update File: f.txt\n" + body + "\n*** End Patch")
	if err != nil {
		t.Fatalf("parse %q: %v", body, err)
	}
	out, err := applyHunks("f.txt", splitLines(content), ops[0].hunks)
	return out.join(), err
}

func TestApplyHunks(t *testing.T) {
	for _, c := range []struct{ name, content, body, want string }{
		{"replace", "a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"},
		{"remove", "a\nb\nc\n", "@@\n-b", "a\nc\n"},
		{"insert between", "a\nb\n", "@@\n a\n+x\n b", "a\nx\nb\n"},
		{"insert at the end without context", "a\nb\n", "@@\n+x\n+y", "a\nb\nx\ny\n"},
		{"insert into an empty file", "", "@@\n+x", "x\n"},
		{"insert after a header", "a\nfunc f() {\nb\n}\n", "@@ func f() {\n+x", "a\nfunc f() {\nx\nb\n}\n"},
		{"two hunks", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"},
		{"the second of two alike, by order", "x\na\nx\n", "@@\n-x\n+1\n@@\n-x\n+2", "1\na\n2\n"},
		{"the second of two alike, by header", "def f:\n  x\ndef g:\n  x\n", "@@ def g:\n-  x\n+  y", "def f:\n  x\ndef g:\n  y\n"},
		{"nested headers", "class A:\n def f:\n  x\nclass B:\n def f:\n  x\n", "@@ class B:\n@@  def f:\n-  x\n+  y", "class A:\n def f:\n  x\nclass B:\n def f:\n  y\n"},
		{"header is a part of its line", "def f(a, b):\n  x\ndef g(a):\n  x\n", "@@ def g\n-  x\n+  y", "def f(a, b):\n  x\ndef g(a):\n  y\n"},
		{"header again as context", "def f:\n  x\ndef g:\n  x\ndef g:\n  x\n", "@@ def g:\n def g:\n-  x\n+  y", "def f:\n  x\ndef g:\n  y\ndef g:\n  x\n"},
		{"header is not there, lines only once", "a\nb\n", "@@ gone\n-b\n+B", "a\nB\n"},
		{"hunks out of order", "a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A", "A\nb\nC\n"},
		{"end of file comes first", "x\na\nx\n", "@@\n-x\n+y\n*** End of File", "x\na\ny\n"},
		{"end of file is not", "x\na\n", "@@\n-x\n+y\n*** End of File", "y\na\n"},
		{"numbers of a unified diff are wrong", "a\nb\n", "@@ -10,7 +10,8 @@ whatever\n-b\n+B", "a\nB\n"},
		{"space at ends", "a  \nb\t\nc\n", "@@\n a\n-b\n+B\n c", "a  \nB\nc\n"},
		{"space at ends in the patch", "a\nb\nc\n", "@@\n a  \n-b\t\n+B\n c", "a\nB\nc\n"},
		{"punctuation", "say “hi” – it’s\u00a0me\nb\n", "@@\n say \"hi\" - it's me\n-b\n+B", "say “hi” – it’s\u00a0me\nB\n"},
		{"invalid bytes", "caf\xe9\nb\n", "@@\n caf\uFFFD\n-b\n+B", "caf\xe9\nB\n"},
		{"indentation is more", "    if x:\n        a\n", "@@\n if x:\n-    a\n+    b\n+    c", "    if x:\n        b\n        c\n"},
		{"indentation is less", "if x:\n    a\n", "@@\n     if x:\n-        a\n+        b", "if x:\n    b\n"},
		{"tabs in the file", "\tif x {\n\t\ta()\n\t}\n", "@@\n     if x {\n-        a()\n+        b()\n     }", "\tif x {\n\t\tb()\n\t}\n"},
		{"blank line is context", "a\n\nb\n", "@@\n a\n\n-b\n+B", "a\n\nB\n"},
		{"blank line is only space", "a\nb\n", "@@\n-b\n+B\n", "a\nB\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+x\n c", "a\r\nB\r\nx\r\nc\r\n"},
		{"CRLF at the end", "a\r\nb\r\n", "@@\n+x", "a\r\nb\r\nx\r\n"},
		{"mixed ends", "a\r\nb\nc\r\n", "@@\n-b\n+B", "a\r\nB\nc\r\n"},
		{"no newline at the end, not touched", "a\nb", "@@\n-a\n+A", "A\nb"},
		{"no newline at the end, added after", "a\nb", "@@\n b\n+c", "a\nb\nc\n"},
		{"no newline at the end, at the end", "a\nb", "@@\n+c", "a\nb\nc\n"},
		{"no newline at the end, replaced", "a\nb", "@@\n-b\n+B", "a\nB\n"},
		{"no newline, CRLF", "a\r\nb", "@@\n b\n+c", "a\r\nb\r\nc\r\n"},
		{"byte order mark", "\uFEFFa\nb\n", "@@\n-a\n+A", "\uFEFFA\nb\n"},
		{"everything goes", "a\nb\n", "@@\n-a\n-b", ""},
		{"first line of all", "a\n", "@@\n+x\n a", "x\na\n"},
		{"context only", "a\nb\n", "@@\n a\n b", "a\nb\n"},
	} {
		got, err := patchText(t, c.content, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestApplyHunksErrors(t *testing.T) {
	for _, c := range []struct {
		name, content, body string
		want                []string
	}{
		{"not there", "one\ntwo\nthree\n", "@@\n two\n-there\n+four", []string{
			"f.txt: the hunk does not fit", "These lines were not found:\n  two\n  there", "nearest lines in the file are:\n     2  two\n     3  three",
		}},
		{"second hunk", "a\nb\n", "@@\n-a\n+A\n@@\n-zzz\n+y", []string{"hunk 2 of 2", "after line 1", "zzz"}},
		{"like words", "x := compute(alpha, beta)\nreturn x\n", "@@\n-x := compute(alpha, gamma)\n+y", []string{"     1  x := compute(alpha, beta)"}},
		{"nothing alike", "a\nb\n", "@@\n-quite different\n+y", []string{"Nothing like it is in the file (2 lines)"}},
		{"empty file", "", "@@\n-a\n+b", []string{"The file is empty"}},
		{"header", "func f() {\n}\n", "@@ func g() {\n+x", []string{`Its header "@@ func g() {" was not found`, "     1  func f() {"}},
		{"two places, no order", "x\nb\nx\nb\n", "@@ gone\n-x\n+y", []string{"was not found"}},
		{"the same place twice", "a\nb\n", "@@\n-a\n+1\n@@\n-a\n+2", []string{"hunk 2 of 2"}},
		{"only a brace alike", "  }\n", "@@\n-}\n+]", []string{"not found"}},
	} {
		_, err := patchText(t, c.content, c.body)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
	}
}

// TestPatchOfDiff makes a random file, a random change of it, and a patch of
// their difference: applied to the file, it gives the changed one.
func TestPatchOfDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		// Few kinds of lines need the whole file as context to be told apart.
		alike := i%3 == 0
		context := 2
		if alike {
			context = 200
		}
		before := randomLines(r, alike)
		after := mutate(r, before, alike)
		end := []string{"\n", "\r\n"}[i%2]
		if len(before) == 0 {
			end = "\n" // an empty file does not tell
		}
		from, to := withEnds(before, end), withEnds(after, end)
		if from == to {
			continue
		}
		body := codexBody(t, from, to, context)
		got, err := patchText(t, from, body)
		if err != nil {
			t.Fatalf("round %d: %v\nfile %q\npatch %q", i, err, from, body)
		}
		if got != to {
			t.Fatalf("round %d:\nfile  %q\npatch %q\ngot   %q\nwant  %q", i, from, body, got, to)
		}
	}
}

func randomLines(r *rand.Rand, alike bool) []string {
	lines := make([]string, r.IntN(40))
	for i := range lines {
		lines[i] = randomLine(r, alike)
	}
	return lines
}

func randomLine(r *rand.Rand, alike bool) string {
	if alike {
		return []string{"", "}", "a", "\tb", " "}[r.IntN(5)]
	}
	return fmt.Sprintf("%sline %d é", strings.Repeat(" ", r.IntN(4)), r.Uint32())
}

func mutate(r *rand.Rand, lines []string, alike bool) []string {
	var out []string
	for _, line := range lines {
		switch r.IntN(8) {
		case 0:
		case 1:
			out = append(out, randomLine(r, alike))
		case 2:
			out = append(out, line, randomLine(r, alike))
		default:
			out = append(out, line)
		}
	}
	if r.IntN(4) == 0 {
		out = append(out, randomLine(r, alike))
	}
	return out
}

func withEnds(lines []string, end string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, end) + end
}

// codexBody writes the difference of two texts as the body of an Update File.
func codexBody(t *testing.T, from, to string, context int) string {
	t.Helper()
	from, to = strings.ReplaceAll(from, "\r", ""), strings.ReplaceAll(to, "\r", "")
	diff, err := udiff.ToUnifiedDiff("a", "b", from, udiff.Lines(from, to), context)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, hunk := range diff.Hunks {
		b.WriteString("@@\n")
		for _, line := range hunk.Lines {
			sign := map[udiff.OpKind]string{udiff.Delete: "-", udiff.Insert: "+", udiff.Equal: " "}[line.Kind]
			b.WriteString(sign + strings.TrimSuffix(line.Content, "\n") + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestReindentKeepsWhatItCannotMap(t *testing.T) {
	got := reindent([]string{"a", "  b"}, []string{" a", "    b"})("  c")
	if got != "  c" {
		t.Errorf("got %q", got)
	}
}
