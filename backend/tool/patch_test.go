package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

func patch(lines ...string) m {
	return m{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

func TestPatch(t *testing.T) {
	p := newPlace(t)
	p.write("edit.go", "package a\n\nfunc f() {\n\treturn 1\n}\n")
	p.write("old name.txt", "one\ntwo\n")
	p.write("gone.txt", "x\ny\n")
	p.write("run.sh", "#!/bin/sh\necho a\n")
	if err := os.Chmod(filepath.Join(p.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := p.run(applyPatch{}, p.call(patch(
		"*** Add File: new/deep/file.txt", "+hello", "+world",
		"*** Update File: edit.go", "@@ func f() {", "-\treturn 1", "+\treturn 2",
		"*** Update File: old name.txt", "*** Move to: new name.txt", "@@", " one", "-two", "+zwei",
		"*** Delete File: gone.txt",
		"*** Update File: "+filepath.Join(p.dir, "run.sh"), "@@", "-echo a", "+echo b",
	)))
	if out.Status != protocol.ToolDone {
		t.Fatalf("%s: %s", out.Status, out.Result.Output)
	}
	want := "edit.go=\"package a\\n\\nfunc f() {\\n\\treturn 2\\n}\\n\"\nnew/\nnew/deep/\nnew/deep/file.txt=\"hello\\nworld\\n\"\n" +
		"new name.txt=\"one\\nzwei\\n\"\nrun.sh=\"#!/bin/sh\\necho b\\n\"\n"
	if got := p.tree(); sorted(got) != sorted(want) {
		t.Errorf("tree:\n%s\nwant:\n%s", got, want)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	wantText := "Patch applied:\nM edit.go (+1 -1)\nD gone.txt (+0 -2)\nA new/deep/file.txt (+2 -0)\nR old name.txt -> new name.txt (+1 -1)\nM run.sh (+1 -1)"
	if out.Result.Output != wantText {
		t.Errorf("output %q, want %q", out.Result.Output, wantText)
	}
	var ops []string
	for _, c := range out.Result.Changes {
		ops = append(ops, fmt.Sprintf("%s %s %s +%d -%d", c.Op, c.Path, c.To, c.Added, c.Removed))
	}
	if want := []string{"update edit.go  +1 -1", "delete gone.txt  +0 -2", "add new/deep/file.txt  +2 -0", "move old name.txt new name.txt +1 -1", "update run.sh  +1 -1"}; !slices.Equal(ops, want) {
		t.Errorf("changes %q, want %q", ops, want)
	}
	if d, want := out.Result.Changes[0].Diff, "--- a/edit.go\n+++ b/edit.go\n@@ -1,5 +1,5 @@\n package a\n \n func f() {\n-\treturn 1\n+\treturn 2\n }\n"; d != want {
		t.Errorf("diff %q, want %q", d, want)
	}
}

func sorted(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestPatchForms(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		name   string
		before map[string]string
		args   m
		after  map[string]string
		want   string
	}{
		{"input instead of patch", nil, m{"input": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}, map[string]string{"a": "x\n"}, "A a (+1 -0)"},
		{"add replaces", map[string]string{"a": "old\n"}, patch("*** Add File: a", "+new"), map[string]string{"a": "new\n"}, "M a (+1 -1)"},
		{"add an empty file", nil, patch("*** Add File: a"), map[string]string{"a": ""}, "A a"},
		{"two parts for one file", map[string]string{"a": "1\n2\n"}, patch("*** Update File: a", "@@", "-1", "+one", "*** Update File: a", "@@", "-2", "+two"), map[string]string{"a": "one\ntwo\n"}, "M a (+2 -2)"},
		{"add, then update", nil, patch("*** Add File: a", "+1", "*** Update File: a", "@@", "-1", "+2"), map[string]string{"a": "2\n"}, "A a (+1 -0)"},
		{"delete, then add", map[string]string{"a": "1\n"}, patch("*** Delete File: a", "*** Add File: a", "+2"), map[string]string{"a": "2\n"}, "M a (+1 -1)"},
		{"make room, then move", map[string]string{"a": "1\n", "b": "2\n"}, patch("*** Delete File: b", "*** Update File: a", "*** Move to: b"), map[string]string{"b": "1\n"}, "M b (+1 -1)"},
		{"move, then a new one in its place", map[string]string{"a": "1\n"}, patch("*** Update File: a", "*** Move to: b", "*** Add File: a", "+2"), map[string]string{"a": "2\n", "b": "1\n"}, "A b (+1 -0)"},
		{"move to itself", map[string]string{"a": "1\n"}, patch("*** Update File: a", "*** Move to: ./a", "@@", "-1", "+2"), map[string]string{"a": "2\n"}, "M a (+1 -1)"},
		{"nothing changes", map[string]string{"a": "1\n"}, patch("*** Update File: a", "@@", " 1"), map[string]string{"a": "1\n"}, "nothing was changed"},
		{"CRLF stays", map[string]string{"a": "1\r\n2\r\n"}, patch("*** Update File: a", "@@", "-2", "+two"), map[string]string{"a": "1\r\ntwo\r\n"}, "M a (+1 -1)"},
		{"delete a binary file", map[string]string{"a": "\x00\x01"}, patch("*** Delete File: a"), map[string]string{}, "D a"},
		{"move a binary file", map[string]string{"a": "\x00\x01"}, patch("*** Update File: a", "*** Move to: b"), map[string]string{"b": "\x00\x01"}, "R a -> b"},
		{"name with a dash", map[string]string{"-rf": "1\n"}, patch("*** Update File: -rf", "@@", "-1", "+2"), map[string]string{"-rf": "2\n"}, "M -rf (+1 -1)"},
	} {
		p.clear()
		for name, content := range c.before {
			p.write(name, content)
		}
		out := p.run(applyPatch{}, p.call(c.args))
		if out.Status != protocol.ToolDone || !strings.Contains(out.Result.Output, c.want) {
			t.Errorf("%s: %s %q, want %q", c.name, out.Status, out.Result.Output, c.want)
		}
		var want strings.Builder
		for name, content := range c.after {
			fmt.Fprintf(&want, "%s=%q\n", name, content)
		}
		if sorted(p.tree()) != sorted(want.String()) {
			t.Errorf("%s: tree\n%s\nwant\n%s", c.name, p.tree(), want.String())
		}
	}
}

// TestPatchRefused checks that nothing at all is changed, and what is said.
func TestPatchRefused(t *testing.T) {
	p := newPlace(t)
	p.write("good.txt", "1\n")
	p.write("config.json", "{}\n")
	p.write("binary", "a\x00b\n")
	p.write("dir/x", "")
	p.write("big", strings.Repeat("x", maxPatchedFile+1))
	for _, link := range [][2]string{{"/etc/passwd", "out"}, {"../..", "outdir"}, {"loop", "loop"}} {
		if err := os.Symlink(link[0], filepath.Join(p.dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	before := p.tree()
	for _, c := range []struct {
		name string
		args m
		want string
	}{
		{"second file does not fit", patch("*** Update File: good.txt", "@@", "-1", "+2", "*** Update File: config.json", "@@", "-gone", "+x"), "config.json: the hunk does not fit"},
		{"second hunk does not fit", patch("*** Update File: good.txt", "@@", "-1", "+2", "@@", "-gone", "+x"), "good.txt: hunk 2 of 2"},
		{"no such file", patch("*** Update File: confg.json", "@@", "-1", "+2"), "confg.json can't be updated: there is no such file. Did you mean config.json?"},
		{"no such file to delete", patch("*** Delete File: nowhere/x"), "nowhere/x can't be deleted: there is no such file."},
		{"binary", patch("*** Update File: binary", "@@", "-a", "+b"), "binary is a binary file"},
		{"too large", patch("*** Update File: big", "@@", "-a", "+b"), "larger than 10 MB"},
		{"folder", patch("*** Update File: dir", "@@", "-a", "+b"), "dir is a folder"},
		{"folder to delete", patch("*** Delete File: dir"), "dir is a folder"},
		{"below a file", patch("*** Add File: good.txt/x", "+x"), "Nothing was changed"},
		{"move onto a file", patch("*** Update File: good.txt", "*** Move to: config.json"), "a file of that name exists"},
		{"outside", patch("*** Add File: ../x", "+x"), "it leads out of the workspace"},
		{"absolute", patch("*** Add File: /tmp/x", "+x"), "it leads out of the workspace"},
		{"link outside", patch("*** Update File: out", "@@", "-root", "+x"), "it leads out of the workspace"},
		{"add through a link outside", patch("*** Add File: out", "+x"), "it leads out of the workspace"},
		{"below a link outside", patch("*** Add File: outdir/x", "+x"), "it leads out of the workspace"},
		{"loop of links", patch("*** Update File: loop", "@@", "-a", "+b"), "Nothing was changed"},
		{"not a patch", m{"patch": "hello"}, "a patch looks like this"},
	} {
		out := p.run(applyPatch{}, p.call(c.args))
		if out.Status != protocol.ToolFailed || !strings.Contains(out.Result.Output, c.want) {
			t.Errorf("%s: %s %q, want %q", c.name, out.Status, out.Result.Output, c.want)
		}
		if after := p.tree(); after != before {
			t.Fatalf("%s changed files:\n%s", c.name, after)
		}
	}
}

func TestPatchLinks(t *testing.T) {
	p := newPlace(t)
	p.write("real/a.txt", "1\n")
	if err := os.Symlink("real/a.txt", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(p.dir, "linkdir")); err != nil {
		t.Fatal(err)
	}
	out := p.run(applyPatch{}, p.call(patch("*** Update File: link", "@@", "-1", "+2")))
	if out.Status != protocol.ToolDone || p.read("real/a.txt") != "2\n" || !strings.Contains(p.tree(), "link -> real/a.txt\n") {
		t.Errorf("%s\n%s", out.Result.Output, p.tree())
	}
	// One file under two paths: nothing of it is lost without a word.
	before := p.tree()
	out = p.run(applyPatch{}, p.call(patch("*** Update File: real/a.txt", "@@", "-2", "+3", "*** Update File: linkdir/a.txt", "@@", "-2", "+4")))
	if out.Status != protocol.ToolFailed || !strings.Contains(out.Result.Output, "under two paths") || p.tree() != before {
		t.Errorf("%s\n%s", out.Result.Output, p.tree())
	}
	out = p.run(applyPatch{}, p.call(patch("*** Delete File: link")))
	if out.Status != protocol.ToolDone || p.read("real/a.txt") != "2\n" || strings.Contains(p.tree(), "link ->") {
		t.Errorf("%s\n%s", out.Result.Output, p.tree())
	}
}

// failing lets some writes through and then fails.
type failing struct {
	sandbox.FS
	left int
	err  error
	// stays makes everything fail from then on, as when the process has died.
	stays bool
	dead  bool
}

func (f *failing) step() error {
	if f.dead {
		return f.err
	}
	if f.left--; f.left == -1 {
		f.dead = f.stays
		return f.err
	}
	return nil
}

func (f *failing) Write(ctx context.Context, name string, content io.Reader, perm fs.FileMode) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.FS.Write(ctx, name, content, perm)
}

func (f *failing) Remove(ctx context.Context, name string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.FS.Remove(ctx, name)
}

var errDenied = &sandbox.Error{Kind: sandbox.KindDenied, Backend: "local", Op: "write", Err: errors.New("permission denied")}

func severalFiles(t *testing.T) (*place, m) {
	p := newPlace(t)
	p.write("a", "1\n")
	p.write("b", "2\n")
	p.write("c", "3\n")
	if err := os.Symlink("b", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	return p, patch(
		"*** Update File: a", "@@", "-1", "+one",
		"*** Add File: x/y/new", "+n",
		"*** Update File: b", "*** Move to: x/b", "@@", "-2", "+two",
		"*** Delete File: link",
		"*** Delete File: c",
	)
}

// TestPatchRollback fails every single write of a patch: all files are as
// before, with the folders that were made for new ones gone.
func TestPatchRollback(t *testing.T) {
	for n := range 6 {
		p, args := severalFiles(t)
		before := p.tree()
		p.files = &failing{FS: p.sandbox.Files(), left: n, err: errDenied}
		out := p.run(applyPatch{}, p.call(args))
		if out.Status != protocol.ToolFailed || !strings.HasPrefix(out.Result.Output, "Nothing was changed: ") || !strings.Contains(out.Result.Output, "permission denied") {
			t.Errorf("write %d: %s %q", n, out.Status, out.Result.Output)
		}
		if after := p.tree(); after != before {
			t.Errorf("write %d: tree\n%s\nwant\n%s", n, after, before)
		}
	}
}

// TestPatchAfterCrash cuts a patch off at every single write and runs the call
// again: it is brought to its end, once, with the whole result.
func TestPatchAfterCrash(t *testing.T) {
	p, args := severalFiles(t)
	whole := p.run(applyPatch{}, p.call(args))
	want := p.tree()
	if whole.Status != protocol.ToolDone {
		t.Fatal(whole.Result.Output)
	}
	lost := &sandbox.Error{Kind: sandbox.KindTransport, Backend: "local", Op: "write", Err: errors.New("gone")}
	for n := range 7 { // the last is a crash after the last write
		p, args := severalFiles(t)
		call := p.call(args)
		p.files = &failing{FS: p.sandbox.Files(), left: n, err: lost, stays: true}
		call.Sandbox = filed{p.sandbox, p.files}
		_, err := applyPatch{}.Run(t.Context(), call)
		if n < 6 && sandbox.KindOf(err) != sandbox.KindTransport {
			t.Fatalf("write %d: error %v", n, err)
		}
		p.reopen()
		call.Sandbox, call.Journal = p.sandbox, p.journal
		out := p.run(applyPatch{}, call)
		if out.Status != protocol.ToolDone || out.Result.Output != whole.Result.Output || len(out.Result.Changes) != len(whole.Result.Changes) {
			t.Errorf("write %d: %s %q, want %q", n, out.Status, out.Result.Output, whole.Result.Output)
		}
		for i, c := range out.Result.Changes {
			if c != whole.Result.Changes[i] {
				t.Errorf("write %d: change %+v, want %+v", n, c, whole.Result.Changes[i])
			}
		}
		if p.tree() != want {
			t.Errorf("write %d: tree\n%s\nwant\n%s", n, p.tree(), want)
		}
	}
}

// TestPatchAppliedTwice checks patches that would fit again.
func TestPatchAppliedTwice(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1\n")
	call := p.call(patch("*** Update File: a", "@@", "+2", "*** Add File: b", "+x"))
	for range 2 {
		out := p.run(applyPatch{}, call)
		if out.Status != protocol.ToolDone || out.Result.Output != "Patch applied:\nM a (+1 -0)\nA b (+1 -0)" {
			t.Errorf("%s %q", out.Status, out.Result.Output)
		}
	}
	if p.read("a") != "1\n2\n" {
		t.Errorf("a is %q", p.read("a"))
	}
}

func TestPatchChangedSinceCrash(t *testing.T) {
	p, args := severalFiles(t)
	lost := &sandbox.Error{Kind: sandbox.KindTransport, Backend: "local", Op: "write"}
	call := p.call(args)
	call.Sandbox = filed{p.sandbox, &failing{FS: p.sandbox.Files(), left: 1, err: lost, stays: true}}
	if _, err := (applyPatch{}).Run(t.Context(), call); err == nil {
		t.Fatal("no error")
	}
	p.write("c", "somebody's work\n")
	call.Sandbox = p.sandbox
	out := p.run(applyPatch{}, call)
	if out.Status != protocol.ToolInterrupted || !strings.Contains(out.Result.Output, "c was changed since") ||
		!strings.Contains(out.Result.Output, "Already changed: a\n") || !strings.Contains(out.Result.Output, "Not changed by the patch: c") {
		t.Errorf("%s %q", out.Status, out.Result.Output)
	}
	if p.read("c") != "somebody's work\n" {
		t.Errorf("c is %q", p.read("c"))
	}
}

func TestPatchLargeDiff(t *testing.T) {
	p := newPlace(t)
	var old, added strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&old, "old line %d é\n", i)
		fmt.Fprintf(&added, "+new line %d\n", i)
	}
	p.write("a", old.String())
	call := p.call(m{"patch": "*** Begin Patch\n*** Add File: a\n" + added.String() + "*** End Patch"})
	for range 2 { // the second finds it done, without diffs in what was written down
		out := p.run(applyPatch{}, call)
		if out.Status != protocol.ToolDone {
			t.Fatal(out.Result.Output)
		}
		c := out.Result.Changes[0]
		if c.Added != 40_000 || c.Removed != 40_000 || len(c.Diff) > maxDiff || !utf8.ValidString(c.Diff) {
			t.Errorf("+%d -%d, diff of %d bytes", c.Added, c.Removed, len(c.Diff))
		}
	}
}

func TestPatchStoppedBeforeWriting(t *testing.T) {
	p, args := severalFiles(t)
	before := p.tree()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (applyPatch{}).Run(ctx, p.call(args)); err == nil {
		t.Error("no error")
	}
	if p.tree() != before {
		t.Errorf("tree\n%s", p.tree())
	}
}

func TestPatchAsk(t *testing.T) {
	for _, c := range []struct {
		args   m
		title  string
		reason string
	}{
		{patch("*** Add File: a.go", "+x"), "Add a.go", ""},
		{patch("*** Update File: a", "*** Move to: b"), "Move a to b", ""},
		{patch("*** Delete File: a", "*** Delete File: b", "*** Delete File: c", "*** Delete File: d", "*** Delete File: e"), "Delete a, delete b, delete c, 2 more", ""},
		{patch("*** Add File: /work/space/src/a", "+x"), "Add src/a", ""},
		{patch("*** Add File: .git/hooks/pre-commit", "+x"), "Add .git/hooks/pre-commit", "changes the git repository itself"},
		{patch("*** Add File: x/../.GIT/config", "+x"), "Add .GIT/config", "changes the git repository itself"},
		{patch("*** Add File: sub/.git/config", "+x"), "Add sub/.git/config", "changes the git repository itself"},
		{patch("*** Update File: a", "*** Move to: .husky/pre-commit"), "Move a to .husky/pre-commit", "changes git hooks"},
		{patch("*** Add File: .github/workflows/ci.yml", "+x"), "Add .github/workflows/ci.yml", "changes what CI runs"},
		{patch("*** Add File: .github/CODEOWNERS", "+x"), "Add .github/CODEOWNERS", ""},
		{patch("*** Add File: .gitlab-ci.yml", "+x"), "Add .gitlab-ci.yml", "changes what CI runs"},
		{patch("*** Add File: .bashrc", "+x"), "Add .bashrc", "changes what a shell runs at its start"},
		{patch("*** Add File: .envrc", "+x"), "Add .envrc", "changes what a shell runs at its start"},
		{patch("*** Add File: .ssh/authorized_keys", "+x"), "Add .ssh/authorized_keys", "changes keys or accounts"},
		{patch("*** Add File: .vscode/tasks.json", "+x"), "Add .vscode/tasks.json", "changes what an editor runs"},
		{patch("*** Add File: ../x", "+x"), "Add ../x", "writes outside the workspace"},
		{patch("*** Add File: /etc/x", "+x"), "Add /etc/x", "writes outside the workspace"},
		{patch("*** Add File: .gitignore", "+x"), "Add .gitignore", ""},
	} {
		raw := (&place{t: t, sandbox: nil}).raw(c.args)
		ask, err := applyPatch{}.Assess(raw, testEnv)
		if err != nil {
			t.Errorf("%s: %v", c.title, err)
			continue
		}
		if !ask.Acts || ask.Title != c.title || ask.Reason != c.reason || ask.Risky != (c.reason != "") || len(ask.Prefixes) > 0 || !strings.HasPrefix(ask.Detail, "*** Begin Patch") {
			t.Errorf("%+v, want title %q, reason %q", ask, c.title, c.reason)
		}
		confined, err := applyPatch{}.Assess(raw, Env{Root: "/work/space", Confined: true})
		if err != nil || confined.Risky {
			t.Errorf("confined: %+v, %v", confined, err)
		}
	}
}
