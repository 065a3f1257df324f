package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A fresh workspace is a folder that people meet in other programs: it has a
// name that they can read, and keeps it.
func TestFreshWorkspaceHasAReadableName(t *testing.T) {
	a := newApp(t)
	a.ok("run", "--new", "--title", "Fix the login test", "--provider", "demo", "hello")
	titled := a.sessions()[0]
	name := regexp.MustCompile(`^fix-the-login-test-[a-z2-7]{8}$`)
	if dir, base := filepath.Split(titled.Workspace); filepath.Clean(dir) != filepath.Join(a.data, "workspaces") || !name.MatchString(base) {
		t.Errorf("the workspace is %s", titled.Workspace)
	}
	a.ok("sessions", "rename", titled.ID, "Another", "title")
	a.ok("run", "--session", titled.ID, "hello")
	again := a.show(titled.ID).Session
	if again.Workspace != titled.Workspace || again.Title != "Another title" {
		t.Errorf("after the new title it works in %s as %q, not %s", again.Workspace, again.Title, titled.Workspace)
	}
	a.ok("run", "--new", "--provider", "demo", "hello")
	untitled := a.sessions()[0]
	if !regexp.MustCompile(`^20\d\d-\d\d-\d\d-\d{4}-[a-z2-7]{8}$`).MatchString(filepath.Base(untitled.Workspace)) {
		t.Errorf("without a title the workspace is %s", untitled.Workspace)
	}
	folders, err := os.ReadDir(filepath.Join(a.data, "workspaces"))
	if err != nil || len(folders) != 2 {
		t.Errorf("two sessions have the folders %v, %v", folders, err)
	}
}
