package workplace_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

var fixed = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newPlaces works in folders of this machine.
func newPlaces(t *testing.T) *workplace.Places {
	t.Helper()
	dir := t.TempDir()
	provider := local.New(local.Config{WorkspacesDir: filepath.Join(dir, "workspaces"), StateDir: filepath.Join(dir, "state")})
	t.Cleanup(func() { _ = provider.Close() })
	places := workplace.New(workplace.Backend{
		Provider: provider, Label: "Local", Folders: true,
		Journal: func(sb sandbox.Sandbox) (workplace.Journal, error) { return journal.Open(sb), nil },
	})
	places.IndexDir = filepath.Join(dir, "indexes")
	return places
}

// create makes a place for a session.
func create(t *testing.T, p *workplace.Places, session string, place protocol.Place) protocol.Place {
	t.Helper()
	place.Backend = "local"
	made, err := p.Create(t.Context(), session, place)
	if err != nil {
		t.Fatal(err)
	}
	place.Sandbox, place.Workspace = made.Sandbox, made.Workspace
	return place
}

func open(t *testing.T, p *workplace.Places, session string, place protocol.Place) *workplace.Place {
	t.Helper()
	opened, err := p.Open(t.Context(), session, place)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func write(t *testing.T, parts ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(parts...), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func there(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestCreate(t *testing.T) {
	p, ctx := newPlaces(t), t.Context()
	first := open(t, p, "s", protocol.Place{Backend: "local"})
	made, err := p.Create(ctx, "s", protocol.Place{Backend: "local", Sandbox: first.Ref, Folder: "a-name"})
	if err != nil {
		t.Fatal(err)
	}
	if made.Sandbox == first.Ref || made.Workspace == first.Sandbox.Root() || !made.OwnWorkspace || filepath.Base(made.Workspace) != "a-name" || !there(t, made.Workspace) {
		t.Errorf("%+v beside %s", made, first.Sandbox.Root())
	}
	// It is not the session's.
	if again := open(t, p, "s", protocol.Place{Backend: "local", Sandbox: first.Ref}); again != first {
		t.Errorf("the session is in %s", again.Sandbox.Root())
	}
	if ref, err := workplace.RefOf(protocol.Place{Sandbox: made.Sandbox}); err != nil || ref.Root != made.Workspace || ref.Backend != "local" {
		t.Errorf("%+v, %v", ref, err)
	}
	// What an attempt that was cut off has left is taken; what holds something is not.
	again, err := p.Create(ctx, "s", protocol.Place{Backend: "local", Folder: "a-name"})
	if err != nil || again.Workspace != made.Workspace || again.Sandbox == made.Sandbox {
		t.Errorf("%+v, %v", again, err)
	}
	write(t, made.Workspace, "file")
	if other, err := p.Create(ctx, "s", protocol.Place{Backend: "local", Folder: "a-name"}); err == nil && other.Workspace == made.Workspace {
		t.Errorf("%+v holds what another one wrote", other)
	}
	picked := t.TempDir()
	if made, err = p.Create(ctx, "s", protocol.Place{Backend: "local", Workspace: picked}); err != nil || made.OwnWorkspace || filepath.Base(made.Workspace) != filepath.Base(picked) {
		t.Errorf("in a folder of the user's: %+v, %v", made, err)
	}
	_, err = p.Create(ctx, "s", protocol.Place{Backend: "moon"})
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassUnavailable {
		t.Errorf("on a backend that there is not: %v", err)
	}
	if _, err = p.Create(ctx, "s", protocol.Place{Backend: "local", Workspace: filepath.Join(picked, "none")}); sandbox.KindOf(err) == "" {
		t.Errorf("in a folder that there is not: %v", err)
	}
}

func TestBeside(t *testing.T) {
	p, ctx := newPlaces(t), t.Context()
	own := create(t, p, "s", protocol.Place{})
	other := create(t, p, "s", protocol.Place{})
	opened := open(t, p, "s", own)
	// The session's own is the one that is open, and stays so.
	same, done, err := p.Beside(ctx, "s", own)
	if err != nil || same != opened || done() != nil {
		t.Fatalf("%v, %v", same == opened, err)
	}
	if _, err := opened.Sandbox.Files().Stat(ctx, "."); err != nil || open(t, p, "s", own) != opened {
		t.Errorf("afterwards: %v", err)
	}
	write(t, other.Workspace, "file")
	beside, done, err := p.Beside(ctx, "s", other)
	if err != nil || beside == opened || beside.Ref != other.Sandbox {
		t.Fatalf("%+v, %v", beside, err)
	}
	if _, err := beside.Sandbox.Files().Stat(ctx, "file"); err != nil {
		t.Error(err)
	}
	if err := done(); err != nil || open(t, p, "s", own) != opened {
		t.Errorf("after the other was closed: %v", err)
	}
	for name, place := range map[string]protocol.Place{
		"none yet":         {Backend: "local"},
		"no reference":     {Backend: "local", Sandbox: "x"},
		"another backend":  {Backend: "moon", Sandbox: other.Sandbox},
		"one of elsewhere": {Backend: "local", Sandbox: `{"backend":"docker","id":"x"}`},
	} {
		if _, _, err := p.Beside(ctx, "s", place); err == nil {
			t.Errorf("%s is opened", name)
		}
	}
}

// run starts a command that does not end by itself.
func run(t *testing.T, place *workplace.Place, id string) journal.Command {
	t.Helper()
	cmd, err := place.Journal.Start(t.Context(), journal.Spec{CallID: id, Shell: "sleep 600"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Kill(context.WithoutCancel(t.Context())) })
	return cmd
}

func running(t *testing.T, cmd journal.Command) bool {
	t.Helper()
	_, over, err := cmd.Exit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return !over
}

func TestLeave(t *testing.T) {
	p, ctx := newPlaces(t), t.Context()
	old, now := create(t, p, "s", protocol.Place{}), create(t, p, "s", protocol.Place{})
	opened := open(t, p, "s", old)
	write(t, old.Workspace, "file")
	left := run(t, opened, "s.1-000001")
	index := p.IndexFile(opened)
	if err := os.MkdirAll(p.IndexDir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, index)
	beside, done, err := p.Beside(ctx, "s", now)
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.IndexFile(beside))

	// Kept: what runs is ended, the folder stays.
	if err := p.Leave(ctx, "s", old, false); err != nil {
		t.Fatal(err)
	}
	if running(t, left) || !there(t, filepath.Join(old.Workspace, "file")) || there(t, index) || !there(t, p.IndexFile(beside)) {
		t.Errorf("after leaving: runs %t, folder %t, index %t", running(t, left), there(t, old.Workspace), there(t, index))
	}
	if again := open(t, p, "s", now); again.Ref != now.Sandbox {
		t.Errorf("the session is in %s", again.Sandbox.Root())
	}
	// Removed, and once more when it is gone.
	for range 2 {
		if err := p.Leave(ctx, "s", old, true); err != nil || there(t, old.Workspace) || !there(t, now.Workspace) {
			t.Errorf("removed: %v", err)
		}
	}
	if again := open(t, p, "s", now); again.Ref != now.Sandbox || done() != nil {
		t.Errorf("the session is in %s", again.Sandbox.Root())
	}
	if err := p.Leave(ctx, "s", protocol.Place{Backend: "local"}, true); err != nil {
		t.Errorf("a place that was never made: %v", err)
	}
	if err := p.Leave(ctx, "s", protocol.Place{Backend: "moon", Sandbox: old.Sandbox}, true); err == nil {
		t.Error("a place of a backend that there is not")
	}
}

// A folder of the user's is never removed, and what other sessions run in it
// goes on.
func TestLeaveAFolderOfTheUsers(t *testing.T) {
	p, ctx := newPlaces(t), t.Context()
	picked := t.TempDir()
	write(t, picked, "file")
	mine := create(t, p, "s", protocol.Place{Workspace: picked})
	theirs := create(t, p, "s2", protocol.Place{Workspace: picked})
	ends := run(t, open(t, p, "s", mine), "s.1-000001")
	goesOn := run(t, open(t, p, "s2", theirs), "s2.1-000001")
	if err := p.Leave(ctx, "s", mine, true); err != nil {
		t.Fatal(err)
	}
	if running(t, ends) || !running(t, goesOn) || !there(t, filepath.Join(picked, "file")) {
		t.Errorf("mine runs %t, the other one %t, the file is there %t", running(t, ends), running(t, goesOn), there(t, filepath.Join(picked, "file")))
	}
}

func TestRelease(t *testing.T) {
	p, ctx := newPlaces(t), t.Context()
	for _, remove := range []bool{false, true} {
		place := create(t, p, "s", protocol.Place{})
		opened := open(t, p, "s", place)
		cmd := run(t, opened, "s.1-000001")
		if err := os.MkdirAll(p.IndexDir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, p.IndexFile(opened))
		if err := p.Release(ctx, "s", place, remove); err != nil {
			t.Fatal(err)
		}
		if there(t, p.IndexFile(opened)) || there(t, place.Workspace) == remove {
			t.Errorf("remove %t: index %t, folder %t", remove, there(t, p.IndexFile(opened)), there(t, place.Workspace))
		}
		if remove {
			continue // nobody can ask in a folder that is gone
		}
		if commands, err := opened.Journal.List(ctx, "s."); err != nil || len(commands) > 0 {
			t.Errorf("%d commands run on, %v", len(commands), err)
		}
		// It is forgotten, so that nothing of it is found any more.
		if _, err := opened.Journal.Find(ctx, cmd.CallID()); sandbox.KindOf(err) != sandbox.KindNotFound {
			t.Errorf("it is still known: %v", err)
		}
	}
}

func TestIndexFile(t *testing.T) {
	p, ctx := newPlaces(t), t.Context()
	a, b := create(t, p, "s", protocol.Place{}), create(t, p, "s", protocol.Place{})
	place := open(t, p, "s", a)
	other, done, err := p.Beside(ctx, "s", b)
	if err != nil {
		t.Fatal(err)
	}
	name := p.IndexFile(place)
	if filepath.Dir(name) != p.IndexDir || name != p.IndexFile(open(t, p, "s", a)) || name == p.IndexFile(other) || done() != nil {
		t.Errorf("%s, and %s of another place", name, p.IndexFile(other))
	}
	if nowhere := workplace.New(); nowhere.IndexFile(place) != "" {
		t.Error("there is an index without a folder for it")
	}

	// A snapshot over the place's tree leaves it, and the next one reads nothing.
	s, _, err := store.Open(ctx, filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	write(t, a.Workspace, "file")
	long := filepath.Join(a.Workspace, "file")
	if err := os.Chtimes(long, fixed, fixed); err != nil {
		t.Fatal(err)
	}
	tree, err := place.Tree()
	if err != nil {
		t.Fatal(err)
	}
	first, err := snapshot.Capture(ctx, tree, s, snapshot.CaptureOptions{Index: name})
	if err != nil || first.Read != 1 || !there(t, name) {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := snapshot.Capture(ctx, tree, s, snapshot.CaptureOptions{Index: name})
	if err != nil || again.Root != first.Root {
		t.Errorf("%+v, %v", again, err)
	}
	// What was captured can be made in the other place, from the first one's files.
	elsewhere, done, err := p.Beside(ctx, "s", b)
	if err != nil {
		t.Fatal(err)
	}
	into, err := elsewhere.Tree()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := snapshot.Restore(ctx, into, s, first.Root, snapshot.RestoreOptions{Source: place.Source(), Index: p.IndexFile(elsewhere)})
	if err != nil || restored.Written != 1 || !there(t, filepath.Join(b.Workspace, "file")) || !there(t, p.IndexFile(elsewhere)) || done() != nil {
		t.Errorf("%+v, %v", restored, err)
	}
	content, err := place.Source().Open(ctx, "file")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(content); err != nil || string(text) != "hello" || content.Close() != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := place.Source().Open(ctx, "none"); sandbox.KindOf(err) != sandbox.KindNotFound {
		t.Error(err)
	}
}

// A sandbox that can't list its files has no snapshots.
func TestTreeOfAPlainSandbox(t *testing.T) {
	p := newPlaces(t)
	opened := open(t, p, "s", create(t, p, "s", protocol.Place{}))
	plain := &workplace.Place{Sandbox: struct{ sandbox.Sandbox }{opened.Sandbox}}
	if _, err := plain.Tree(); sandbox.KindOf(err) != sandbox.KindInvalid || !strings.Contains(err.Error(), "list") {
		t.Error(err)
	}
}
