package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
)

func TestPlainName(t *testing.T) {
	for name, want := range map[string]string{
		"a.txt": "a.txt", ".env": ".env", "a b": "a b", "ä漢😀.png": "ä漢😀.png", "...": "...", "a.": "a.",
		"dir/a.txt": "a.txt", "/etc/passwd": "passwd", "../../a": "a", `C:\Users\a.txt`: "a.txt", `dir\..\a`: "a", "dir/": "dir",
		"": "file", ".": "file", "..": "file", "/": "file", "a/..": "file", `..\`: "file", `\`: "file",
		"a\x00b": "a_b", "\x00": "_", "..\x00": ".._",
	} {
		if got := plainName(name); got != want || strings.ContainsAny(got, "/\x00") {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

func TestFreeName(t *testing.T) {
	root := t.TempDir()
	p := local.New(local.Config{StateDir: t.TempDir()})
	t.Cleanup(func() { _ = p.Close() })
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "a (2).txt", "none", "b.tar.gz", ".env", "dir/c", "dir/c (2)", "dir/c (4)"} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, name, want string }{
		{"", "new.txt", "new.txt"},
		{"", "a.txt", "a (3).txt"},
		{".", "none", "none (2)"},
		{"", "b.tar.gz", "b.tar (2).gz"},
		{"", "dir", "dir (2)"},
		{"", ".env", ".env (2)"},
		{"dir", "c", "dir/c (3)"},
		{"dir", "a.txt", "dir/a.txt"},
		{"new/folder", "a.txt", "new/folder/a.txt"},
	} {
		if got, err := freeName(t.Context(), sb.Files(), c.dir, c.name); err != nil || got != c.want {
			t.Errorf("%q in %q: %q, want %q, %v", c.name, c.dir, got, c.want, err)
		}
	}
	if got, err := freeName(t.Context(), sb.Files(), "..", "a"); err == nil {
		t.Errorf("outside the workspace: %q", got)
	}
	// A link to nothing is there, and must not be written through.
	if got, err := freeName(t.Context(), sb.Files(), "", "link"); err == nil && got == "link" {
		t.Error("a link that leads nowhere is taken for free")
	}
}
