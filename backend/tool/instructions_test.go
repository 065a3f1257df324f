package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestInstructions(t *testing.T) {
	p := newPlace(t)
	now := time.Date(2026, 3, 9, 23, 59, 0, 0, time.UTC)
	get := func(env Env) string {
		t.Helper()
		text, err := Instructions(t.Context(), p.sandbox, env, now)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text) {
			t.Error("not UTF-8")
		}
		return text
	}
	text := get(p.env())
	for _, want := range []string{"You are a coding agent", "`apply_patch`", p.dir, "(local)", "not confined", "Monday, 9 March 2026"} {
		if !strings.Contains(text, want) {
			t.Errorf("instructions lack %q", want)
		}
	}
	if strings.Contains(text, "What the project says") {
		t.Error("a project without AGENTS.md has something to say")
	}
	if text := get(Env{Backend: "docker", Root: "/workspace", Confined: true}); !strings.Contains(text, "in a sandbox (docker)") || strings.Contains(text, "not confined") {
		t.Error("confined instructions are wrong")
	}
	p.write("AGENTS.md", "\uFEFFUse tabs. caf\xe9\n")
	if text := get(p.env()); !strings.Contains(text, "<project_instructions>\nUse tabs. caf\uFFFD\n</project_instructions>") {
		t.Errorf("instructions end with %q", text[len(text)-200:])
	}
	p.write("AGENTS.md", strings.Repeat("é", maxProject))
	if text := get(p.env()); !strings.Contains(text, "AGENTS.md is longer than 32 KiB") || strings.Contains(text, "\uFFFD") || strings.Count(text, "é") != maxProject/2 {
		t.Error("a long AGENTS.md is not cut right")
	}
	file := filepath.Join(p.dir, "AGENTS.md")
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { return os.Symlink("/etc/passwd", file) }, "a link out of the workspace. It was not read"},
		{func() error { p.write("docs/agents.md", "From docs."); return os.Symlink("docs/agents.md", file) }, "From docs."},
		{func() error { return os.Mkdir(file, 0o755) }, "can't be read"},
	} {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		text := get(p.env())
		if !strings.Contains(text, c.want) || strings.Contains(text, "root:") {
			t.Errorf("want %q in %q", c.want, text[len(text)-200:])
		}
	}
}
