package sandboxtest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
)

func (s *suite) testLinks(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	s.write(t, dir+"/real/file", "content")
	link := func(target, name string) {
		t.Helper()
		if err := files.Symlink(t.Context(), target, dir+"/"+name); err != nil {
			t.Fatalf("Symlink %q: %v", name, err)
		}
	}
	link("real/file", "to-file")
	link("real", "to-dir")
	link(s.sb.Root()+"/"+dir+"/real", "absolute")
	link("nowhere", "dangling")
	link("loop", "loop")
	info, err := files.Stat(t.Context(), dir+"/to-file")
	if err != nil || info.Mode.Type() != fs.ModeSymlink || info.Target != "real/file" {
		t.Errorf("Stat of a link: %+v, %v", info, err)
	}
	for _, name := range []string{"to-file", "to-dir/file", "absolute/file"} {
		if got := s.read(t, dir+"/"+name); got != "content" {
			t.Errorf("%s reads %q", name, got)
		}
	}
	if list, err := files.ReadDir(t.Context(), dir+"/absolute"); err != nil || len(list) != 1 {
		t.Errorf("ReadDir through an absolute link to the inside: %v, %v", list, err)
	}
	_, err = files.Open(t.Context(), dir+"/dangling", 0, -1)
	wantKind(t, "Open of a dangling link", err, sandbox.KindNotFound)
	if _, err = files.Open(t.Context(), dir+"/loop", 0, -1); sandbox.KindOf(err) == "" {
		t.Errorf("Open of a link to itself: %v", err)
	}
	wantKind(t, "Symlink over a file", files.Symlink(t.Context(), "x", dir+"/real/file"), sandbox.KindExists)
	// Writing follows links, removing and renaming do not.
	s.write(t, dir+"/to-file", "changed")
	s.write(t, dir+"/absolute/new", "through")
	if got := s.read(t, dir+"/real/file") + " " + s.read(t, dir+"/real/new"); got != "changed through" {
		t.Errorf("written through links, the files hold %q", got)
	}
	if info, err := files.Stat(t.Context(), dir+"/to-file"); err != nil || info.Mode.Type() != fs.ModeSymlink {
		t.Errorf("writing through a link replaced it: %+v, %v", info, err)
	}
	if err := files.Rename(t.Context(), dir+"/to-dir", dir+"/renamed"); err != nil || s.read(t, dir+"/renamed/file") != "changed" {
		t.Errorf("Rename of a link: %v", err)
	}
	if err := files.Remove(t.Context(), dir+"/to-file"); err != nil {
		t.Errorf("Remove of a link: %v", err)
	}
	if err := files.RemoveAll(t.Context(), dir+"/renamed"); err != nil {
		t.Errorf("RemoveAll of a link to a folder: %v", err)
	}
	if got := s.read(t, dir+"/real/file"); got != "changed" {
		t.Errorf("after removing links to it, the file holds %q", got)
	}
}

func (s *suite) testEscapes(t *testing.T) {
	dir, files := s.dir(t), s.sb.Files()
	// Outside is a folder beside the workspace, with something in it.
	outside := strings.TrimSpace(s.sh(t, "", "mktemp -d"))
	defer s.sh(t, "", "rm -rf '"+outside+"'")
	s.sh(t, "", "printf secret >'"+outside+"/secret'; mkdir '"+outside+"/sub'")
	for target, name := range map[string]string{
		outside: "abs-dir", outside + "/secret": "abs-file", "../../../../../../../.." + outside: "rel-dir", "/": "slash", "..": "up", "../..": "upper",
	} {
		if err := files.Symlink(t.Context(), target, dir+"/"+name); err != nil {
			t.Fatalf("Symlink: %v", err)
		}
	}
	// up leads to the root itself, which is inside.
	if _, err := files.ReadDir(t.Context(), dir+"/up"); err != nil {
		t.Errorf("a link to the root: %v", err)
	}
	names := []string{
		"../x", "../../etc/passwd", "/etc/passwd", outside + "/secret", dir + "/../../x", s.sb.Root() + "/../x", s.sb.Root() + "x/y",
		dir + "/abs-dir/secret", dir + "/abs-file/..", dir + "/rel-dir/secret", dir + "/slash/etc/passwd", dir + "/upper/x", dir + "/up/../x",
	}
	for _, name := range names {
		_, err := files.Stat(t.Context(), name)
		wantKind(t, "Stat "+name, err, sandbox.KindEscape)
		_, err = files.Open(t.Context(), name, 0, -1)
		wantKind(t, "Open "+name, err, sandbox.KindEscape)
		_, err = files.ReadDir(t.Context(), name)
		wantKind(t, "ReadDir "+name, err, sandbox.KindEscape)
		wantKind(t, "Write "+name, files.Write(t.Context(), name, strings.NewReader("x"), 0), sandbox.KindEscape)
		wantKind(t, "Mkdir "+name, files.Mkdir(t.Context(), name+"-new", 0), sandbox.KindEscape)
		wantKind(t, "Chmod "+name, files.Chmod(t.Context(), name, 0o777), sandbox.KindEscape)
		wantKind(t, "Remove "+name, files.Remove(t.Context(), name), sandbox.KindEscape)
		wantKind(t, "RemoveAll "+name, files.RemoveAll(t.Context(), name), sandbox.KindEscape)
		wantKind(t, "Symlink "+name, files.Symlink(t.Context(), "x", name+"-new"), sandbox.KindEscape)
		wantKind(t, "Rename to "+name, files.Rename(t.Context(), dir+"/up", name+"-new"), sandbox.KindEscape)
	}
	// A link at the end that leads out: it can be looked at and removed, not used.
	_, err := files.Open(t.Context(), dir+"/abs-file", 0, -1)
	wantKind(t, "Open of a link that leads out", err, sandbox.KindEscape)
	wantKind(t, "Write through it", files.Write(t.Context(), dir+"/abs-file", strings.NewReader("x"), 0), sandbox.KindEscape)
	wantKind(t, "Chmod through it", files.Chmod(t.Context(), dir+"/abs-file", 0o777), sandbox.KindEscape)
	_, err = files.ReadDir(t.Context(), dir+"/abs-dir")
	wantKind(t, "ReadDir of a link that leads out", err, sandbox.KindEscape)
	if info, err := files.Stat(t.Context(), dir+"/abs-file"); err != nil || info.Target != outside+"/secret" {
		t.Errorf("Stat of a link that leads out: %+v, %v", info, err)
	}
	for _, name := range []string{"abs-file", "abs-dir", "rel-dir"} {
		if err := errors.Join(files.RemoveAll(t.Context(), dir+"/"+name)); err != nil {
			t.Errorf("RemoveAll of a link that leads out: %v", err)
		}
	}
	if got := s.sh(t, "", "cat '"+outside+"/secret'; ls -A '"+outside+"'"); got != "secretsecret\nsub\n" {
		t.Errorf("outside there is now %q", got)
	}
}
