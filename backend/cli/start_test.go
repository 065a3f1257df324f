package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// without is the environment without some variables.
func (a *app) without(names ...string) {
	kept := a.env[:0:0]
	for _, v := range a.env {
		name, _, _ := strings.Cut(v, "=")
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			kept = append(kept, v)
		}
	}
	a.env = kept
}

// What hinders a start is told in one sentence, with what to do about it, and
// never as a stack or a log.
func TestWhatHindersAStart(t *testing.T) {
	home := []string{"TSA_DATA_DIR", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, a *app)
		code    int
		says    []string
	}{
		"no home": {func(_ *testing.T, a *app) { a.without(home...) }, 2, []string{"no home folder", "--data-dir"}},
		"a home that takes nothing": {func(_ *testing.T, a *app) {
			a.without(home...)
			a.env = append(a.env, "HOME=/proc")
		}, 1, []string{"/proc/", "--data-dir"}},
		"a file for a data folder": {func(t *testing.T, a *app) { file(t, a.data) }, 1, []string{a0, "is not a folder", "--data-dir"}},
		"a data folder for everybody": {func(t *testing.T, a *app) {
			folder(t, a.data)
			if err := os.Chmod(a.data, 0o777); err != nil {
				t.Fatal(err)
			}
		}, 2, []string{a0, "shared with other users"}},
		"an engine that can't write": {func(t *testing.T, a *app) {
			folder(t, a.data)
			file(t, filepath.Join(a.data, "engine"))
		}, 3, []string{"data folder", "--data-dir"}},
		"a store that can't write": {func(t *testing.T, a *app) {
			folder(t, a.data)
			file(t, filepath.Join(a.data, "store"))
		}, 3, []string{"data folder", "--data-dir"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t)
			c.prepare(t, a)
			r := a.run("run", "--new", "--provider", "demo", "hello")
			if r.code != c.code || r.out != "" {
				t.Errorf("it ended with %d, want %d; it printed %q", r.code, c.code, r.out)
			}
			if !strings.HasPrefix(r.err, "error: ") || strings.Count(r.err, "\n") > 4 || strings.Contains(r.err, "goroutine") {
				t.Errorf("it said:\n%s", r.err)
			}
			for _, want := range c.says {
				if want = strings.ReplaceAll(want, a0, a.data); !strings.Contains(r.err, want) {
					t.Errorf("it did not say %q:\n%s", want, r.err)
				}
			}
		})
	}
}

// a0 stands for the data folder.
const a0 = "DATA"

func file(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// A command line that makes no sense, and what can't be used, have codes of their
// own.
func TestExitCodesOfUsage(t *testing.T) {
	a := newApp(t)
	for _, args := range [][]string{
		{"nonsense"},
		{"run"},
		{"run", "--no-such-flag", "x"},
		{"run", "--approve", "maybe", "x"},
		{"run", "--wait"},
		{"run", "--session", "a", "--new", "x"},
		{"run", "--session", "a", "--workspace", "/tmp", "x"},
		{"sessions", "show"},
		{"sessions", "rename", "x"},
		{"sessions", "nonsense"},
	} {
		if r := a.run(args...); r.code != 2 || !strings.HasPrefix(r.err, "error: ") || r.out != "" {
			t.Errorf("%q ended with %d: %s%s", args, r.code, r.err, r.out)
		}
	}
	if r := a.run("sessions", "show", "none"); r.code != 1 || !strings.Contains(r.err, "error: ") {
		t.Errorf("a session that is not there: %d %s", r.code, r.err)
	}
	if r := a.run("run", "--new", "--backend", "docker", "hello"); r.code != 3 {
		t.Errorf("a backend that is not there: %d %s", r.code, r.err)
	}
	if r := a.run("run", "--new", "--provider", "openai", "--workspace", a.workspace, "hello"); r.code != 3 || !strings.Contains(r.err, "key") {
		t.Errorf("a model without its key: %d %s%s", r.code, r.err, r.out)
	}
}
