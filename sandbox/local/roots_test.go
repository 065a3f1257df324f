//go:build linux

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
)

// place is a provider with a home, a data folder and a project.
type place struct {
	*local.Provider
	home, state, workspaces, project string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{
		home:       filepath.Join(dir, "homes", "ada"),
		state:      filepath.Join(dir, "homes", "ada", ".data", "state"),
		workspaces: filepath.Join(dir, "homes", "ada", ".data", "workspaces"),
		project:    filepath.Join(dir, "homes", "ada", "project"),
	}
	for _, d := range []string{p.project, p.state} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.Provider = local.New(local.Config{WorkspacesDir: p.workspaces, StateDir: p.state, Home: p.home})
	return p
}

func TestPickedRoot(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.project, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(p.home, "link")
	homeLink := filepath.Join(p.project, "home-link")
	for name, target := range map[string]string{link: p.project, homeLink: p.home} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for root, want := range map[string]sandbox.Kind{
		"project":             sandbox.KindInvalid,
		"":                    "",
		"/":                   sandbox.KindInvalid,
		"/../":                sandbox.KindInvalid,
		p.home:                sandbox.KindInvalid,
		p.home + "/":          sandbox.KindInvalid,
		p.project + "/..":     sandbox.KindInvalid,
		homeLink:              sandbox.KindInvalid,
		filepath.Dir(p.home):  sandbox.KindInvalid,
		p.state:               sandbox.KindInvalid,
		filepath.Dir(p.state): sandbox.KindInvalid,
		file:                  sandbox.KindInvalid,
		p.project + "/none":   sandbox.KindNotFound,
		p.project + "\x00":    sandbox.KindInvalid,
		p.project:             "",
		link:                  "",
	} {
		sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: root})
		if got := sandbox.KindOf(err); got != want {
			t.Errorf("root %q: %v of kind %q, want %q", root, err, got, want)
			continue
		}
		if err != nil {
			if e := err.(*sandbox.Error); e.Remedy == "" || !strings.Contains(err.Error(), strings.TrimRight(root, "/")) {
				t.Errorf("root %q: the error %q does not help (remedy %q)", root, err, e.Remedy)
			}
			continue
		}
		if root != "" && (sb.Root() != p.project || sb.Ref().OwnRoot) {
			t.Errorf("root %q: it is %s, own %v", root, sb.Root(), sb.Ref().OwnRoot)
		}
		if err := p.Destroy(t.Context(), sb.Ref()); err != nil {
			t.Errorf("Destroy: %v", err)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("Destroy removed a folder that was picked: %v", err)
	}
}

func TestFreshRoot(t *testing.T) {
	p := newPlace(t)
	seen := map[string]bool{}
	for session, want := range map[string]string{
		"agent-1": "agent-1", "../../x": "x", "": "workspace", "a b/ü": "a-b--", strings.Repeat("n", 300): strings.Repeat("n", 80),
	} {
		sb, err := p.Create(t.Context(), sandbox.Spec{Session: session})
		if err != nil {
			t.Fatalf("%q: %v", session, err)
		}
		if filepath.Dir(sb.Root()) != p.workspaces || !strings.HasPrefix(filepath.Base(sb.Root()), strings.TrimRight(want, "-")) || !sb.Ref().OwnRoot {
			t.Errorf("session %q has root %s", session, sb.Root())
		}
	}
	// While a session moves, it has two: neither may be the other's folder.
	for range 3 {
		sb, err := p.Create(t.Context(), sandbox.Spec{Session: "same"})
		if err != nil {
			t.Fatal(err)
		}
		if seen[sb.Root()] || seen[sb.Ref().ID] {
			t.Errorf("%s or %s is used twice", sb.Root(), sb.Ref().ID)
		}
		seen[sb.Root()], seen[sb.Ref().ID] = true, true
	}
}

func TestFreshRootOfAWantedName(t *testing.T) {
	p := newPlace(t)
	spec := sandbox.Spec{Session: "0b5ac1f0-1b53", Folder: "2026-11-29-1432-k3v7"}
	root := func() string {
		t.Helper()
		sb, err := p.Create(t.Context(), spec)
		if err != nil || !sb.Ref().OwnRoot {
			t.Fatalf("%v, %v", sb, err)
		}
		return sb.Root()
	}
	first := root()
	if first != filepath.Join(p.workspaces, spec.Folder) {
		t.Errorf("the workspace is %s", first)
	}
	// Asked again after a crash: what that left is taken, if it is empty.
	if again := root(); again != first {
		t.Errorf("asked again, it is %s", again)
	}
	if err := os.WriteFile(filepath.Join(first, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if other := root(); other != first+"-2" {
		t.Errorf("a folder with files in it was taken, or the name is odd: %s", other)
	}
	// A link is never followed to somebody's folder.
	spec.Folder = "link"
	if err := os.Symlink(t.TempDir(), filepath.Join(p.workspaces, spec.Folder)); err != nil {
		t.Fatal(err)
	}
	if got := root(); got != filepath.Join(p.workspaces, "link-2") {
		t.Errorf("a link was taken: %s", got)
	}
	spec.Folder = "../out"
	if got := root(); got != filepath.Join(p.workspaces, "out") {
		t.Errorf("it leads out: %s", got)
	}
}

func TestDestroyRemovesOnlyItsOwn(t *testing.T) {
	p := newPlace(t)
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{p.project, p.home, "/", "", p.workspaces, p.workspaces + "/../../project", sb.Root() + "/sub"} {
		ref := sb.Ref()
		ref.Root = root
		if err := p.Destroy(t.Context(), ref); sandbox.KindOf(err) != sandbox.KindInvalid {
			t.Errorf("Destroy with root %q: %v", root, err)
		}
	}
	if _, err := os.Stat(p.project); err != nil {
		t.Fatal(err)
	}
	// Package managers leave folders that can't be written.
	for _, dir := range []string{"cache/module", "cache/other"} {
		if err := os.MkdirAll(filepath.Join(sb.Root(), dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sb.Root(), dir, "file"), nil, 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(sb.Root(), dir), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Destroy(t.Context(), sb.Ref()); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	if _, err := os.Stat(sb.Root()); !os.IsNotExist(err) {
		t.Errorf("the workspace is still there: %v", err)
	}
}

func TestAttachChecksTheRoot(t *testing.T) {
	p := newPlace(t)
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: p.project})
	if err != nil {
		t.Fatal(err)
	}
	ref := sb.Ref()
	ref.Root = p.home
	if _, err := p.Attach(t.Context(), ref); sandbox.KindOf(err) != sandbox.KindInvalid {
		t.Errorf("Attach to the home folder: %v", err)
	}
	if err := os.Rename(p.project, p.project+"-moved"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Attach(t.Context(), sb.Ref()); sandbox.KindOf(err) != sandbox.KindGone {
		t.Errorf("Attach to a folder that was moved away: %v", err)
	}
}
