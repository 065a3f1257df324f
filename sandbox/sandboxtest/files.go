package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"temporal-sandbox-agent/sandbox"
)

func (s *suite) testFiles(t *testing.T) {
	t.Run("write and read", s.testWriteRead)
	t.Run("modes", s.testModes)
	t.Run("windows of a large file", s.testWindows)
	t.Run("a write is whole or not at all", s.testAtomic)
	t.Run("listing", s.testReadDir)
	t.Run("odd names", s.testOddNames)
	t.Run("folders", s.testFolders)
	t.Run("remove and rename", s.testRemoveRename)
	t.Run("links", s.testLinks)
	t.Run("nothing leads out", s.testEscapes)
	t.Run("bad requests", s.testFilesBad)
}

// exists tells whether there is a file.
func (s *suite) exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := s.sb.Files().Stat(t.Context(), name)
	if err != nil && sandbox.KindOf(err) != sandbox.KindNotFound {
		t.Fatalf("Stat %q: %v", name, err)
	}
	return err == nil
}

func (s *suite) testWriteRead(t *testing.T) {
	dir := s.dir(t)
	for _, c := range []struct{ name, content string }{
		{"empty", ""}, {"text", "hello\n"}, {"bytes", noise(100_000)}, {"deep/er/than/before", "x"}, {"text", "shorter"},
	} {
		s.write(t, dir+"/"+c.name, c.content)
		if d := differ(s.read(t, dir+"/"+c.name), c.content); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	// Absolute names in the root are the same files, and commands see them.
	if got := s.read(t, s.sb.Root()+"/"+dir+"/text"); got != "shorter" {
		t.Errorf("by its absolute name: %q", got)
	}
	if got := s.sh(t, dir, "cat text; printf new >made"); got != "shorter" {
		t.Errorf("a command reads %q", got)
	}
	if got := s.read(t, dir+"/made"); got != "new" {
		t.Errorf("what a command wrote reads %q", got)
	}
	info, err := s.sb.Files().Stat(t.Context(), dir+"/bytes")
	if err != nil || info.Name != "bytes" || info.Size != 100_000 || !info.Mode.IsRegular() || info.Modified.IsZero() {
		t.Errorf("Stat: %+v, %v", info, err)
	}
}

func (s *suite) testModes(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	mode := func(name string) fs.FileMode {
		t.Helper()
		info, err := files.Stat(t.Context(), dir+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode
	}
	s.write(t, dir+"/plain", "")
	if got := mode("plain"); got != 0o644 {
		t.Errorf("a new file has mode %v, want 0644", got)
	}
	for _, perm := range []fs.FileMode{0o755, 0o600, 0o777, 0o640} {
		if err := files.Write(t.Context(), dir+"/file", strings.NewReader("#!/bin/sh\necho ran\n"), perm); err != nil {
			t.Fatal(err)
		}
		if got := mode("file"); got != perm {
			t.Errorf("written with %v it has mode %v", perm, got)
		}
	}
	if err := files.Chmod(t.Context(), dir+"/file", 0o750); err != nil {
		t.Fatal(err)
	}
	s.write(t, dir+"/file", "#!/bin/sh\necho kept\n")
	if got := mode("file"); got != 0o750 {
		t.Errorf("written without a mode it has %v, want the old 0750", got)
	}
	if got := s.sh(t, dir, "./file"); got != "kept\n" {
		t.Errorf("run, it prints %q", got)
	}
	if err := files.Mkdir(t.Context(), dir+"/private", 0o700); err != nil {
		t.Fatal(err)
	}
	if got := mode("private"); got != fs.ModeDir|0o700 {
		t.Errorf("the folder has mode %v, want 0700", got)
	}
}

func (s *suite) testWindows(t *testing.T) {
	dir := s.dir(t)
	const size = 6 << 20
	want := noise(size)
	s.write(t, dir+"/big", want)
	for _, w := range []struct{ offset, n int64 }{
		{0, 0}, {0, 1}, {0, -1}, {1, 10}, {65535, 3}, {1 << 20, 1 << 20}, {size - 1, 100}, {size, 10}, {size + 100, 10}, {size - 7, -1}, {size + 1, -1},
	} {
		from := min(w.offset, size)
		to := int64(size)
		if w.n >= 0 {
			to = min(from+w.n, size)
		}
		if d := differ(readFile(t, s.sb, dir+"/big", w.offset, w.n), want[from:to]); d != "" {
			t.Errorf("%d bytes from %d on: %s", w.n, w.offset, d)
		}
	}
	_, err := s.sb.Files().Open(t.Context(), dir+"/big", -1, 1)
	wantKind(t, "a negative offset", err, sandbox.KindInvalid)
}

func (s *suite) testAtomic(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	contents := []string{strings.Repeat("a", 200_000), strings.Repeat("b", 100_000)}
	s.write(t, dir+"/file", contents[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; ctx.Err() == nil; i++ {
			if err := files.Write(t.Context(), dir+"/file", strings.NewReader(contents[i%2]), 0); err != nil {
				t.Errorf("Write: %v", err)
				return
			}
		}
	})
	for range 50 {
		if got := s.read(t, dir+"/file"); got != contents[0] && got != contents[1] {
			t.Errorf("a reader saw %d bytes of neither version", len(got))
			break
		}
	}
	cancel()
	wg.Wait()
	// A source that breaks off leaves the old content, and nothing else.
	s.write(t, dir+"/file", "old")
	broken := errors.New("the source broke")
	if err := files.Write(t.Context(), dir+"/file", &failing{data: "half of the", err: broken}, 0); !errors.Is(err, broken) {
		t.Errorf("Write from a source that breaks: %v", err)
	}
	if got := s.read(t, dir+"/file"); got != "old" {
		t.Errorf("the file holds %q", got)
	}
	if got := s.sh(t, dir, "ls -A"); got != "file\n" {
		t.Errorf("the folder holds %q", got)
	}
}

func (s *suite) testReadDir(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	s.write(t, dir+"/b", "12345")
	s.write(t, dir+"/.hidden", "")
	if err := files.Mkdir(t.Context(), dir+"/c", 0); err != nil {
		t.Fatal(err)
	}
	if err := files.Symlink(t.Context(), "b", dir+"/a"); err != nil {
		t.Fatal(err)
	}
	list, err := files.ReadDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range list {
		got = append(got, fmt.Sprintf("%s %s %s", i.Name, i.Mode.Type(), i.Target))
	}
	want := []string{".hidden ---------- ", "a L--------- b", "b ---------- ", "c d--------- "}
	if strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("got %q, want %q", got, want)
	}
	if list[2].Size != 5 || list[2].Modified.IsZero() {
		t.Errorf("b is %+v", list[2])
	}
	s.sh(t, dir, "mkdir many; cd many; i=0; while [ $i -lt 3000 ]; do : >f$i; i=$((i+1)); done")
	many, err := files.ReadDir(t.Context(), dir+"/many")
	if err != nil || len(many) != 3000 {
		t.Errorf("%d entries, %v, want 3000", len(many), err)
	}
	root, err := files.ReadDir(t.Context(), "")
	if err != nil || len(root) == 0 {
		t.Errorf("the root: %d entries, %v", len(root), err)
	}
}

// oddNames are names that are easily mistreated.
var oddNames = []string{
	"-rf\n", "-n", " ", "a b", "tab\tnewline\n", "'quote'", `"double"`, `back\slash`, "$HOME", "`id`", "*", "?", "[a]",
	"#", "~", "&;|<>", "..a", "...", "ünïcode", "日本", "\xff\xfe", "\x01\x7f", "%s", "a:b", "!", strings.Repeat("n", 255), strings.Repeat("\xe4", 255),
}

func (s *suite) testOddNames(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	oddNames := oddNames
	if s.Slow {
		oddNames = []string{"-rf\n", `b "a'c\k$HOME`, "*", "\xff\xfe", strings.Repeat("\xe4", 255)}
	}
	for _, name := range oddNames {
		s.write(t, dir+"/"+name, "content of "+name)
	}
	list, err := files.ReadDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, i := range list {
		listed[i.Name] = true
	}
	for _, name := range oddNames {
		if !listed[name] {
			t.Errorf("%q is not listed", name)
		}
		if got := s.read(t, dir+"/"+name); got != "content of "+name {
			t.Errorf("%q holds %q", name, got)
		}
		if info, err := files.Stat(t.Context(), dir+"/"+name); err != nil || info.Name != name {
			t.Errorf("Stat %q: %q, %v", name, info.Name, err)
		}
		if err := files.Chmod(t.Context(), dir+"/"+name, 0o600); err != nil {
			t.Errorf("Chmod %q: %v", name, err)
		}
		if err := files.Rename(t.Context(), dir+"/"+name, dir+"/moved"); err != nil {
			t.Errorf("Rename %q: %v", name, err)
		}
		if err := files.Rename(t.Context(), dir+"/moved", dir+"/"+name); err != nil {
			t.Errorf("Rename to %q: %v", name, err)
		}
		if err := files.Remove(t.Context(), dir+"/"+name); err != nil {
			t.Errorf("Remove %q: %v", name, err)
		}
		if err := files.Mkdir(t.Context(), dir+"/"+name, 0); err != nil {
			t.Errorf("Mkdir %q: %v", name, err)
		}
		s.write(t, dir+"/"+name+"/in", "x")
		if err := files.RemoveAll(t.Context(), dir+"/"+name); err != nil {
			t.Errorf("RemoveAll %q: %v", name, err)
		}
	}
	if got := s.sh(t, dir, "ls -A"); got != "" {
		t.Errorf("left are %q", got)
	}
}

func (s *suite) testFolders(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	if err := files.Mkdir(t.Context(), dir+"/a/b/c", 0); err != nil {
		t.Errorf("Mkdir makes no parents: %v", err)
	}
	wantKind(t, "Mkdir of what is there", files.Mkdir(t.Context(), dir+"/a", 0), sandbox.KindExists)
	s.write(t, dir+"/file", "")
	wantKind(t, "Mkdir of a file", files.Mkdir(t.Context(), dir+"/file", 0), sandbox.KindExists)
	wantKind(t, "Write to a folder", files.Write(t.Context(), dir+"/a", strings.NewReader("x"), 0), sandbox.KindInvalid)
	_, err := files.Open(t.Context(), dir+"/a", 0, -1)
	wantKind(t, "Open of a folder", err, sandbox.KindInvalid)
	_, err = files.ReadDir(t.Context(), dir+"/file")
	wantKind(t, "ReadDir of a file", err, sandbox.KindInvalid)
}

func (s *suite) testRemoveRename(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	s.write(t, dir+"/tree/a/b", "x")
	s.write(t, dir+"/tree/c", "y")
	wantKind(t, "Remove of a folder that is not empty", files.Remove(t.Context(), dir+"/tree"), sandbox.KindInvalid)
	wantKind(t, "Remove of what is not there", files.Remove(t.Context(), dir+"/none"), sandbox.KindNotFound)
	if err := files.RemoveAll(t.Context(), dir+"/none"); err != nil {
		t.Errorf("RemoveAll of what is not there: %v", err)
	}
	s.write(t, dir+"/from", "new")
	s.write(t, dir+"/to", "old")
	if err := files.Rename(t.Context(), dir+"/from", dir+"/to"); err != nil || s.read(t, dir+"/to") != "new" || s.exists(t, dir+"/from") {
		t.Errorf("Rename over a file: %v", err)
	}
	if err := files.Rename(t.Context(), dir+"/tree", dir+"/moved"); err != nil || s.read(t, dir+"/moved/a/b") != "x" {
		t.Errorf("Rename of a folder: %v", err)
	}
	wantKind(t, "Rename of what is not there", files.Rename(t.Context(), dir+"/none", dir+"/x"), sandbox.KindNotFound)
	wantKind(t, "Rename into what is not there", files.Rename(t.Context(), dir+"/to", dir+"/none/x"), sandbox.KindNotFound)
	if err := files.RemoveAll(t.Context(), dir+"/moved"); err != nil || s.exists(t, dir+"/moved") {
		t.Errorf("RemoveAll: %v", err)
	}
	for _, root := range []string{"", ".", "/", s.sb.Root(), dir + "/.."} {
		if err := files.RemoveAll(t.Context(), root); err == nil {
			t.Errorf("RemoveAll %q removes the workspace", root)
		}
	}
	if !s.exists(t, dir) {
		t.Fatal("the workspace was emptied")
	}
}

func (s *suite) testFilesBad(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	_, err := files.Stat(t.Context(), dir+"/none")
	wantKind(t, "Stat of what is not there", err, sandbox.KindNotFound)
	_, err = files.Open(t.Context(), dir+"/none", 0, -1)
	wantKind(t, "Open of what is not there", err, sandbox.KindNotFound)
	_, err = files.ReadDir(t.Context(), dir+"/none")
	wantKind(t, "ReadDir of what is not there", err, sandbox.KindNotFound)
	wantKind(t, "Chmod of what is not there", files.Chmod(t.Context(), dir+"/none", 0o600), sandbox.KindNotFound)
	_, err = files.Stat(t.Context(), dir+"/nul\x00byte")
	wantKind(t, "a name with NUL", err, sandbox.KindInvalid)
	wantKind(t, "a name of 256 bytes", files.Write(t.Context(), dir+"/"+strings.Repeat("n", 256), strings.NewReader(""), 0), sandbox.KindInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := files.Stat(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
}
