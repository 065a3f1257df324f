package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

// noHome takes the places away that the system would give.
func noHome(t *testing.T) {
	t.Helper()
	for _, n := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", EnvDataDir} {
		t.Setenv(n, "")
	}
}

func faultOf(t *testing.T, err error) *protocol.Fault {
	t.Helper()
	var f *protocol.Fault
	if !errors.As(err, &f) {
		t.Fatalf("not a fault: %v", err)
	}
	if f.Happened == "" || f.Remedy == "" && f.Kept == "" {
		t.Errorf("a fault that does not help: %+v", f)
	}
	return f
}

func TestPathsInHome(t *testing.T) {
	noHome(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	p, err := FindPaths("")
	if err != nil {
		t.Fatal(err)
	}
	want := Paths{
		Data: home + "/.local/share/temporal-sandbox-agent", Config: home + "/.config/temporal-sandbox-agent",
		State: home + "/.local/state/temporal-sandbox-agent", Cache: home + "/.cache/temporal-sandbox-agent",
	}
	if p != want {
		t.Errorf("paths %+v\nwant  %+v", p, want)
	}
	for _, dir := range []string{p.Data, p.Config, p.State, p.Cache} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	if left, _ := filepath.Glob(p.Data + "/.*"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestPathsFromXDG(t *testing.T) {
	noHome(t)
	root := t.TempDir()
	for _, n := range []string{"DATA", "CONFIG", "STATE", "CACHE"} {
		t.Setenv("XDG_"+n+"_HOME", filepath.Join(root, n))
	}
	p, err := FindPaths("") // without a HOME
	if err != nil || p.Data != filepath.Join(root, "DATA", appName) || p.Cache != filepath.Join(root, "CACHE", appName) {
		t.Errorf("paths %+v, %v", p, err)
	}
}

func TestDataDirMovesEverything(t *testing.T) {
	noHome(t)
	root := t.TempDir()
	t.Setenv(EnvDataDir, filepath.Join(root, "by-environment"))
	for given, want := range map[string]string{"": "by-environment", filepath.Join(root, "by-flag"): "by-flag"} {
		p, err := FindPaths(given)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, want)
		if p != (Paths{Data: dir, Config: dir + "/config", State: dir + "/state", Cache: dir + "/cache", Moved: true}) {
			t.Errorf("paths: %+v", p)
		}
		if p.keyringService() == appName || p.keyringService() == (Paths{Data: "/other", Moved: true}).keyringService() {
			t.Errorf("the keyring is shared: %q", p.keyringService())
		}
	}
	t.Chdir(root)
	if p, err := FindPaths("relative"); err != nil || p.Data != filepath.Join(root, "relative") {
		t.Errorf("a relative folder: %+v, %v", p, err)
	}
}

func TestExistingFolderIsClosed(t *testing.T) {
	noHome(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := FindPaths(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestPathFaults(t *testing.T) {
	noHome(t)
	if f := faultOf(t, second(FindPaths(""))); f.Class != protocol.ClassBadInput || !strings.Contains(f.Remedy, "--data-dir") {
		t.Errorf("no home: %+v", f)
	}
	root := t.TempDir()
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if f := faultOf(t, second(FindPaths(dir))); f.Class != protocol.ClassWorkspace || !strings.Contains(f.Happened, "not a folder") {
			t.Errorf("%s: %+v", dir, f)
		}
	}
	shared := filepath.Join(root, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if f := faultOf(t, second(FindPaths(shared))); !strings.Contains(f.Happened, "shared") {
		t.Errorf("a shared folder: %+v", f)
	}
	if info, err := os.Stat(shared); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("the shared folder was changed: %v, %v", info.Mode(), err)
	}
	// A read-only home: /proc takes no folders, whoever asks.
	t.Setenv("HOME", "/proc")
	if f := faultOf(t, second(FindPaths(""))); f.Class != protocol.ClassWorkspace || !strings.Contains(f.Detail, "/proc/") {
		t.Errorf("a read-only home: %+v", f)
	}
}

func second(_ Paths, err error) error { return err }
