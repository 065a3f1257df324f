package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
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
	if !regexp.MustCompile(`^hello-[a-z2-7]{8}$`).MatchString(filepath.Base(untitled.Workspace)) {
		t.Errorf("without a title the workspace is %s", untitled.Workspace)
	}
	a.ok("run", "--new", "--provider", "demo", "привет")
	wordless := a.sessions()[0]
	if !regexp.MustCompile(`^20\d\d-\d\d-\d\d-\d{4}-[a-z2-7]{8}$`).MatchString(filepath.Base(wordless.Workspace)) {
		t.Errorf("without a word to use the workspace is %s", wordless.Workspace)
	}
	folders, err := os.ReadDir(filepath.Join(a.data, "workspaces"))
	if err != nil || len(folders) != 3 {
		t.Errorf("three sessions have the folders %v, %v", folders, err)
	}
}

// told is what a command that changes a session prints with --json.
type told struct {
	ID, Title, Done, Workspace string
	WorkspaceRemoved           bool
}

func (a *app) told(args ...string) told {
	a.t.Helper()
	var v told
	if err := json.Unmarshal([]byte(a.ok(append(args, "--json")...)), &v); err != nil {
		a.t.Fatal(err)
	}
	return v
}

func TestRenameAndDestroy(t *testing.T) {
	a := newApp(t)
	a.ok("run", "--new", "--provider", "demo", "hello")
	a.ok("run", "--new", "--provider", "demo", "--workspace", a.workspace, "hello")
	if err := os.WriteFile(filepath.Join(a.workspace, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sessions := a.sessions()
	picked, fresh := sessions[0], sessions[1]

	// The beginning of an id is enough.
	if got := a.told("sessions", "rename", fresh.ID[:8], "Two", "words"); got != (told{ID: fresh.ID, Title: "Two words", Done: "renamed", Workspace: fresh.Workspace}) {
		t.Errorf("rename: %+v", got)
	}
	if s := a.show(fresh.ID).Session; s.Title != "Two words" || s.TitleAuto {
		t.Errorf("it is called %q, by itself %v", s.Title, s.TitleAuto)
	}
	if r := a.run("sessions", "rename", fresh.ID, ""); r.code != 2 || !strings.Contains(r.err, "title") {
		t.Errorf("no title: %d %s", r.code, r.err)
	}

	if r := a.run("sessions", "destroy", fresh.ID); r.code != 2 || !strings.Contains(r.err, "--yes") {
		t.Errorf("nobody was asked: %d %s", r.code, r.err)
	}
	if r := a.run("sessions", "destroy", "--yes", "none"); r.code != 1 {
		t.Errorf("one that is not there: %d %s", r.code, r.err)
	}
	if got := a.told("sessions", "destroy", "--yes", fresh.ID); got != (told{ID: fresh.ID, Title: "Two words", Done: "destroyed", Workspace: fresh.Workspace, WorkspaceRemoved: true}) {
		t.Errorf("destroy: %+v", got)
	}
	if _, err := os.Stat(fresh.Workspace); !os.IsNotExist(err) {
		t.Errorf("the fresh workspace is still there: %v", err)
	}
	if got := a.told("sessions", "destroy", "--yes", picked.ID); got.WorkspaceRemoved {
		t.Errorf("destroy: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(a.workspace, "mine")); err != nil {
		t.Errorf("a picked folder was touched: %v", err)
	}
	if left := a.sessions(); len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
}

func TestDestroyKeepsTheWorkspaceIfAsked(t *testing.T) {
	a := newApp(t)
	a.ok("run", "--new", "--provider", "demo", "hello")
	s := a.sessions()[0]
	if got := a.told("sessions", "destroy", "--yes", "--keep-workspace", s.ID); got.WorkspaceRemoved {
		t.Errorf("destroy: %+v", got)
	}
	if _, err := os.Stat(s.Workspace); err != nil {
		t.Error(err)
	}
}

// A turn that asks ends the command with a code of its own; it is answered by
// another command, and goes on.
func TestApproveAndDeny(t *testing.T) {
	model := llmtest.New(t)
	model.Handle(func(r llmtest.Request) llmtest.Answer {
		if n := len(r.Results); n < 3 {
			return llmtest.Call("exec_command", fmt.Sprintf(`{"cmd":"touch made-%d"}`, n))
		}
		return llmtest.Text("that was it")
	})
	a := newApp(t, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+model.URL)
	r := a.run("run", "--new", "--workspace", a.workspace, "--approve", "ask", "--json", "make files")
	if r.code != 4 || !strings.Contains(r.out, "touch made-0") {
		t.Fatalf("it ended with %d\n%s\n%s", r.code, r.out, r.err)
	}
	id := a.sessions()[0].ID
	waits := func() {
		t.Helper()
		if r := a.run("run", "--session", id, "--wait"); r.code != 4 {
			t.Fatalf("it ended with %d\n%s\n%s", r.code, r.out, r.err)
		}
	}
	waits()
	if a.made(0) {
		t.Fatal("the command ran before it was allowed")
	}

	if got := a.told("sessions", "deny", id, "--reason", "not this one"); got.Done != "denied" || got.ID != id {
		t.Errorf("deny: %+v", got)
	}
	waits() // for the next one
	if got := a.told("sessions", "approve", id, "--always"); got.Done != "allowed" {
		t.Errorf("approve: %+v", got)
	}
	// The third begins like the second, and is not asked for.
	a.ok("run", "--session", id, "--wait")
	if a.made(0) || !a.made(1) || !a.made(2) {
		t.Errorf("made: %v %v %v, want the last two", a.made(0), a.made(1), a.made(2))
	}
	last := model.Last()
	if len(last.Results) != 3 || !strings.Contains(last.Results[0].Output, "not this one") {
		t.Errorf("the model was told %+v", last.Results)
	}
	if r := a.run("sessions", "approve", id); r.code != 1 || !strings.Contains(r.err, "asks for nothing") {
		t.Errorf("nothing to allow: %d %s", r.code, r.err)
	}
}

func (a *app) made(n int) bool {
	_, err := os.Stat(filepath.Join(a.workspace, fmt.Sprintf("made-%d", n)))
	return err == nil
}
