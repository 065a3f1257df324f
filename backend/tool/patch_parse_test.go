package tool

import (
	"reflect"
	"strings"
	"testing"
)

func TestParsePatch(t *testing.T) {
	update := func(hunks ...hunk) []patchOp { return []patchOp{{kind: opUpdate, path: "a.txt", hunks: hunks}} }
	change := hunk{lines: []hunkLine{{sign: '-', text: "old"}, {sign: '+', text: "new"}}}
	for _, c := range []struct {
		name, text string
		want       []patchOp
	}{
		{"add", "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+\n+two\n*** End Patch\n", []patchOp{{kind: opAdd, path: "a/b.txt", content: []string{"one", "", "two"}}}},
		{"add nothing", "*** Begin Patch\n*** Add File: a.txt\n*** End Patch", []patchOp{{kind: opAdd, path: "a.txt"}}},
		{"add with bare lines", "*** Begin Patch\n*** Add File: a.txt\n+one\n\n+two\n\n*** End Patch", []patchOp{{kind: opAdd, path: "a.txt", content: []string{"one", "", "two"}}}},
		{"add a patch", "*** Begin Patch\n*** Add File: a.txt\n+*** Begin Patch\n+*** End Patch\n*** End Patch", []patchOp{{kind: opAdd, path: "a.txt", content: []string{"*** Begin Patch", "*** End Patch"}}}},
		{"delete", "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch", []patchOp{{kind: opDelete, path: "a.txt"}}},
		{"update", "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch", update(change)},
		{"no @@", "*** Begin Patch\n*** Update File: a.txt\n-old\n+new\n*** End Patch", update(change)},
		{"no end", "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new", update(change)},
		{"no begin", "*** Update File: a.txt\n@@\n-old\n+new\n", update(change)},
		{"here-document", "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\nEOF\n", update(change)},
		{"here-document without end", "<<EOF\n*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\nEOF\n", update(change)},
		{"fence", "```diff\n*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n```", update(change)},
		{"space around marks", "  *** Begin Patch  \n*** Update File:   a.txt  \n@@\n-old\n+new\n  *** End Patch  ", update(change)},
		{"all CRLF", "*** Begin Patch\r\n*** Update File: a.txt\r\n@@\r\n-old\r\n+new\r\n*** End Patch\r\n", update(change)},
		{"CR of an added file", "*** Begin Patch\n*** Add File: a.bat\n+one\r\n*** End Patch", []patchOp{{kind: opAdd, path: "a.bat", content: []string{"one\r"}}}},
		{"quoted path", "*** Begin Patch\n*** Delete File: `a b.txt`\n*** End Patch", []patchOp{{kind: opDelete, path: "a b.txt"}}},
		{"move", "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n*** End Patch", []patchOp{{kind: opUpdate, path: "a.txt", to: "b.txt"}}},
		{"headers", "*** Begin Patch\n*** Update File: a.txt\n@@ class A\n@@ def f():\n-old\n+new\n*** End Patch", update(hunk{headers: []string{"class A", "def f():"}, lines: change.lines})},
		{"unified headers", "*** Begin Patch\n*** Update File: a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@ func f\n-old\n+new\n\\ No newline at end of file\n*** End Patch", update(change)},
		{"closed header", "*** Begin Patch\n*** Update File: a.txt\n@@ def f(): @@\n-old\n+new\n*** End Patch", update(hunk{headers: []string{"def f():"}, lines: change.lines})},
		{"end of file", "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End of File\n*** End Patch", update(hunk{lines: change.lines, atEnd: true})},
		{"two files, blank line between", "*** Begin Patch\n*** Delete File: b\n\n*** Add File: c\n+x\n\n*** Delete File: d\n*** End Patch", []patchOp{{kind: opDelete, path: "b"}, {kind: opAdd, path: "c", content: []string{"x"}}, {kind: opDelete, path: "d"}}},
		{"two patches", "*** Begin Patch\n*** Delete File: b\n*** End Patch\n*** Begin Patch\n*** Delete File: c\n*** End Patch", []patchOp{{kind: opDelete, path: "b"}, {kind: opDelete, path: "c"}}},
		{"a line of the file like a mark", "*** Begin Patch\n*** Update File: a.txt\n@@\n *** End Patch\n-old\n+new\n*** End Patch", update(hunk{lines: append([]hunkLine{{sign: ' ', text: "*** End Patch"}}, change.lines...)})},
	} {
		got, err := parsePatch(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestParsePatchErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no files in it"},
		{"prose", "please change a.txt", "a patch looks like this"},
		{"nothing in it", "*** Begin Patch\n*** End Patch", "no files in it"},
		{"unified diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "this is a unified diff"},
		{"unknown mark", "*** Begin Patch\n*** Rename File: a\n*** End Patch", "line 2 of the patch: expected a file header"},
		{"no path", "*** Begin Patch\n*** Add File:\n+x\n*** End Patch", "line 2 of the patch: \"*** Add File:\" has no path"},
		{"folder", "*** Begin Patch\n*** Add File: a/\n+x\n*** End Patch", "not the path of a file"},
		{"no plus", "*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch", "line 4 of the patch: every line of the new file a must begin with +, found \"y\""},
		{"no sign", "*** Begin Patch\n*** Update File: a\n@@\n-x\ny\n*** End Patch", "line 5 of the patch: a line of a must begin with a space, + or -, found \"y\""},
		{"empty hunk", "*** Begin Patch\n*** Update File: a\n@@\n*** End Patch", "a hunk of a has no lines"},
		{"no hunks", "*** Begin Patch\n*** Update File: a\n*** End Patch", "there are no changes for a"},
		{"lines of no file", "*** Begin Patch\n+x\n*** End Patch", "line 2 of the patch: expected a file header"},
	} {
		_, err := parsePatch(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzParsePatch(f *testing.F) {
	for _, seed := range []string{
		"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
		"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ x\n a\n-b\n+c\n*** End of File\n*** End Patch",
		"<<EOF\n*** Begin Patch\r\n*** Delete File: a\r\n*** End Patch\r\nEOF",
		"*** Update File: a\n@@ -1,2 +3 @@ f\n\n-a\n+b\n\n",
		"```\n*** Begin Patch\n*** Update File: a\n+x\n@@\n+y\n@@ z\n@@ z\n-\n```",
	} {
		f.Add(seed, "a\nb\r\n\tc\n")
	}
	f.Fuzz(func(t *testing.T, text, file string) {
		ops, err := parsePatch(text)
		if err != nil {
			if len(ops) > 0 {
				t.Errorf("%q: operations with an error", text)
			}
			return
		}
		for _, op := range ops {
			if op.path == "" {
				t.Errorf("%q: an operation without a path", text)
			}
			out, err := applyHunks(op.path, splitLines(file), op.hunks)
			if err != nil {
				continue
			}
			var removed, added int
			for _, h := range op.hunks {
				for _, l := range h.lines {
					switch l.sign {
					case '-':
						removed++
					case '+':
						added++
					}
				}
			}
			before, after := len(splitLines(file).lines), len(out.lines)
			// Empty lines without a sign may become lines of the file or not.
			if after < before-removed || after > before-removed+added+strings.Count(text, "\n") {
				t.Errorf("%q on %q: %d lines became %d with %d removed and %d added", text, file, before, after, removed, added)
			}
		}
	})
}
