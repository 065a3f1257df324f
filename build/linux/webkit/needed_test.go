//go:build linux

package webkit

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// builtApp is the app that make test has built.
func builtApp(t *testing.T) string {
	t.Helper()
	app := os.Getenv("TSA_BIN")
	if app == "" {
		t.Skip("TSA_BIN does not name a built app; make test does")
	}
	return app
}

// The built app starts without the libraries of the window.
func TestTheAppNeedsNoWindowLibrary(t *testing.T) {
	file, err := elf.Open(builtApp(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range libraries {
		if strings.Contains(library, "webkit") || strings.Contains(library, "gtk") || strings.Contains(library, "glib") {
			t.Errorf("the app needs %s to start: build/linux/webkit/functions.h lacks a function (see generate.sh there)", library)
		}
	}
}

// Where WebKitGTK is broken or missing, commands work and tell what is missing.
func TestCommandsWorkWithoutWebKit(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "libwebkit2gtk-4.1.so.0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), builtApp(t), "doctor", "--json")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+broken, "TSA_DATA_DIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("doctor: %v\n%s", err, out)
	}
	var checks []struct {
		Name, Text, Remedy string
		OK                 bool
	}
	if err := json.Unmarshal(out, &checks); err != nil {
		t.Fatalf("doctor says %q: %v", out, err)
	}
	for _, check := range checks {
		if check.Name != "web view" {
			continue
		}
		if check.OK || !strings.Contains(check.Text, "file too short") || !strings.Contains(check.Remedy, "libwebkit2gtk-4.1-0") {
			t.Errorf("doctor says of the web view: %+v", check)
		}
		return
	}
	t.Errorf("doctor says nothing of the web view: %s", out)
}
