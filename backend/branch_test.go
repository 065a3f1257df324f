package backend_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
)

// oddTree fills a folder with what is easily lost on the way.
func oddTree(t testing.TB, dir string) {
	t.Helper()
	write := func(name, content string, mode os.FileMode) {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), mode), os.Chmod(full, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/tool", "#!/bin/sh\necho a\x00b\n", 0o755)
	write("odd\nname", "x", 0o644)
	write("-dash", "x", 0o600)
	write("bad\xff\xfename", "x", 0o644)
	write(strings.Repeat("n", 255), "long", 0o644)
	write(".git/objects/ab/cd", "object", 0o444)
	write(".gitignore", "ignored\n", 0o644)
	write("ignored/file", "kept all the same", 0o644)
	write("empty", "", 0o644)
	write("big", strings.Repeat("0123456789abcdef", 200_000), 0o644)
	for _, d := range []string{"hollow/inner", "readonly"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("readonly/file", "x", 0o444)
	if err := errors.Join(os.Symlink("bin/tool", filepath.Join(dir, "link")), os.Symlink("nowhere", filepath.Join(dir, "dangling")),
		os.Symlink("/usr/bin/env", filepath.Join(dir, "outside")), os.Chmod(filepath.Join(dir, "readonly"), 0o555)); err != nil {
		t.Fatal(err)
	}
}

// picture describes a tree with all that a snapshot keeps.
func picture(t testing.TB, dir string) string {
	t.Helper()
	command := exec.Command("sh", "-c", `find . -mindepth 1 \( -type l -printf '%P l %l\0' -o -type d -printf '%P d %m\0' -o -type f -printf '%P f %m %s %T@\0' \) | sort -z | tr '\0\n' '\n?'
		find . -type f -print0 | sort -z | xargs -0 sha256sum -z | tr '\0\n' '\n?'`)
	command.Dir = dir
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("look at %s: %v %s", dir, err, errs.String())
	}
	return out.String()
}

func sameTree(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Fatalf("%s: the trees differ:\n got %q\nwant %q", what, x, y)
		}
	}
}

// turn works one more turn in which a command runs.
func (p *product) turn(id, command string, turns int) protocol.Session {
	p.t.Helper()
	p.model.Push(llmtest.Call("exec_command", fmt.Sprintf(`{"cmd":%q}`, command)))
	p.model.Push(llmtest.Text("done"))
	_, err := p.Sessions.Send(p.t.Context(), id, protocol.SendRequest{ID: session.NewID(), Text: command})
	p.must(err)
	return p.until(id, "the turn of "+command, idle(turns))
}

// begin makes a session whose first turn runs a command.
func (p *product) begin(command string) protocol.Session {
	p.t.Helper()
	p.model.Push(llmtest.Call("exec_command", fmt.Sprintf(`{"cmd":%q}`, command)))
	p.model.Push(llmtest.Text("done"))
	return p.until(p.create(protocol.ApproveNever, command), "the first turn", idle(1))
}

func (p *product) file(s protocol.Session, name string) string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.Workspace, name))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(content)
}

func local(workspace string) protocol.Target {
	return protocol.Target{Backend: "local", Workspace: workspace}
}

func folder(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "target")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", dir).Run() }) // or it can't be removed
	return dir
}

// A fork has the conversation and the files, and both go their own ways.
func TestForkToAnotherFolder(t *testing.T) {
	p := start(t, stickyCache())
	oddTree(t, p.workspace)
	s := p.begin("echo one > one")
	to := folder(t)
	out, err := p.Fork(t.Context(), protocol.ForkRequest{ID: s.ID, Target: local(to)})
	p.must(err)
	f := out.Session
	sameTree(t, "fork", picture(t, to), picture(t, p.workspace))
	if f.Workspace != to || f.Parent != s.ID || f.Title != s.Title+" (fork #1)" || f.Turns != 1 {
		t.Errorf("the fork is %+v", f)
	}
	if r := out.Receipt; r.What != "fork" || r.Files == 0 || r.Bytes == 0 || r.Written != r.Files || r.SkippedCount != 0 {
		t.Errorf("the receipt is %+v", r)
	}
	items := p.items(f.ID)
	if last := items[len(items)-1]; len(items) != len(p.items(s.ID))+1 || last.Notice == nil || last.Notice.Receipt == nil {
		t.Errorf("the fork's conversation ends with %+v", last)
	}

	p.turn(f.ID, "echo fork > two", 2)
	p.turn(s.ID, "echo source > two", 2)
	if got := p.file(f, "two") + p.file(s, "two"); got != "fork\nsource\n" {
		t.Errorf("the files are %q", got)
	}
	// The model of the fork sees what was said before it.
	requests := p.model.Requests()
	if text := string(requests[len(requests)-3].Body); !strings.Contains(text, "echo one") {
		t.Errorf("the fork's request does not hold the first turn: %s", text)
	}
	p.record(map[string]string{"forked": protocol.AgentID(f.ID), "manager-forks": protocol.SessionManagerID})
}

// A fork of a turn has the files as they were at its end, also onto a fresh
// folder.
func TestForkFromATurn(t *testing.T) {
	p := start(t, 0)
	s := p.begin("echo 1 > n; mkdir d; echo x > d/x")
	first := picture(t, s.Workspace)
	p.turn(s.ID, "echo 2 > n; rm -r d; touch more", 2)
	turn, err := p.Sessions.TurnID(t.Context(), s.ID, 1)
	p.must(err)
	out, err := p.Fork(t.Context(), protocol.ForkRequest{ID: s.ID, Turn: turn, Title: "Mine", Target: local("")})
	p.must(err)
	sameTree(t, "fork of turn 1", picture(t, out.Session.Workspace), first)
	if f := out.Session; f.Turns != 1 || f.Title != "Mine" || !f.OwnWorkspace {
		t.Errorf("the fork is %+v", f)
	}
	files, err := p.Fork(t.Context(), protocol.ForkRequest{ID: s.ID, FilesOnly: true, Target: local("")})
	p.must(err)
	sameTree(t, "new from files", picture(t, files.Session.Workspace), picture(t, s.Workspace))
	if f := files.Session; f.Turns != 0 || len(p.items(f.ID)) != 1 {
		t.Errorf("the new session is %+v", f)
	}
}

// A folder with other files is refused, and nothing is left behind; merged and
// replaced if the user says so.
func TestForkOntoAFolderWithFiles(t *testing.T) {
	p := start(t, 0)
	s := p.begin("echo mine > same; echo new > new")
	to := folder(t)
	p.must(errors.Join(os.WriteFile(filepath.Join(to, "same"), []byte("theirs\n"), 0o644), os.WriteFile(filepath.Join(to, "other"), []byte("theirs\n"), 0o644)))
	before := picture(t, to)
	fork := func(onto protocol.Onto) (protocol.ForkResult, error) {
		target := local(to)
		target.Onto = onto
		return p.Fork(t.Context(), protocol.ForkRequest{ID: s.ID, Target: target})
	}
	_, err := fork(protocol.OntoEmpty)
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassOccupied {
		t.Fatalf("a folder with files: %v", err)
	}
	sameTree(t, "refused", picture(t, to), before)
	sessions, err := p.Sessions.List(t.Context())
	p.must(err)
	if len(sessions) != 1 {
		t.Errorf("%d sessions are there after a refused fork", len(sessions))
	}

	out, err := fork(protocol.OntoMerge)
	p.must(err)
	if got := p.file(out.Session, "same") + p.file(out.Session, "other") + p.file(out.Session, "new"); got != "mine\ntheirs\nnew\n" {
		t.Errorf("merged: %q", got)
	}
	out, err = fork(protocol.OntoReplace)
	p.must(err)
	sameTree(t, "replaced", picture(t, to), picture(t, s.Workspace))
	if out.Receipt.Kept == "" || out.Receipt.Removed != 1 {
		t.Errorf("the receipt is %+v", out.Receipt)
	}
	// What was replaced is kept in the store, and the same again is no problem.
	if _, err := fork(protocol.OntoEmpty); err != nil {
		t.Errorf("a folder with the same files: %v", err)
	}
}

func TestSwitchToAnotherFolder(t *testing.T) {
	p := start(t, stickyCache())
	oddTree(t, p.workspace)
	s := p.begin("echo one > one")
	to := folder(t)
	receipt, err := p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: local(to)})
	p.must(err)
	sameTree(t, "switch", picture(t, to), picture(t, p.workspace))
	if receipt.To.Workspace != to || receipt.From.Workspace != p.workspace || receipt.SkippedCount != 0 {
		t.Errorf("the receipt is %+v", receipt)
	}
	after := p.turn(s.ID, "echo two > two", 2)
	if _, err := os.Stat(filepath.Join(p.workspace, "two")); after.Workspace != to || p.file(after, "two") != "two\n" || err == nil {
		t.Errorf("the turn after the switch worked elsewhere: %+v", after)
	}
	// The folder that the user picked first is theirs, and still there.
	if _, err := os.Stat(filepath.Join(p.workspace, "one")); err != nil {
		t.Error(err)
	}
	// A second app finds the session where it is now.
	p.close()
	p.open()
	if got := p.turn(s.ID, "echo three > three", 3); p.file(got, "three") != "three\n" || got.Workspace != to {
		t.Errorf("after a restart: %+v", got)
	}
	p.record(map[string]string{"switched": protocol.AgentID(s.ID)})
}

func TestRewindOfASession(t *testing.T) {
	p := start(t, stickyCache())
	s := p.begin("echo 1 > n; mkdir d; echo x > d/x")
	first := picture(t, s.Workspace)
	p.turn(s.ID, "echo 2 > n; rm -r d; touch more", 2)
	// What the user did by hand since is not lost either.
	p.must(os.WriteFile(filepath.Join(s.Workspace, "by hand"), []byte("mine"), 0o600))
	second := picture(t, s.Workspace)
	turns, err := p.Sessions.Turns(t.Context(), s.ID)
	p.must(err)
	if len(turns) != 2 || turns[0].Index != 2 || !turns[0].Changed || turns[1].Snapshot == "" {
		t.Fatalf("the turns are %+v", turns)
	}
	receipt, err := p.Sessions.Rewind(t.Context(), protocol.RewindRequest{ID: s.ID, Turn: turns[1].ID, What: protocol.RewindBoth})
	p.must(err)
	sameTree(t, "rewound", picture(t, s.Workspace), first)
	got := p.until(s.ID, "the rewind", func(s protocol.Session) bool { return s.Moving == nil && len(s.Rewinds) == 1 })
	if got.Turns != 1 {
		t.Errorf("rewound: %+v", got)
	}
	_, err = p.Sessions.Rewind(t.Context(), protocol.RewindRequest{ID: s.ID, Undo: receipt.Undo})
	p.must(err)
	sameTree(t, "taken back", picture(t, s.Workspace), second)
	if got = p.until(s.ID, "the undo", func(s protocol.Session) bool { return s.Moving == nil && s.Turns == 2 }); len(got.Rewinds) != 1 {
		t.Errorf("taken back: %+v", got)
	}
	// The beginning is before the first turn.
	_, err = p.Sessions.Rewind(t.Context(), protocol.RewindRequest{ID: s.ID, What: protocol.RewindBoth})
	p.must(err)
	if got := picture(t, s.Workspace); strings.TrimSpace(got) != "" && !strings.HasPrefix(got, "e3b0c4") {
		t.Errorf("at the beginning there was %q", got)
	}
	p.turn(s.ID, "echo anew > n", 1)
	p.record(map[string]string{"rewound": protocol.AgentID(s.ID)})
}

func TestChangesAndRevert(t *testing.T) {
	p := start(t, stickyCache())
	p.must(errors.Join(os.WriteFile(filepath.Join(p.workspace, "a"), []byte("1\n2\n3\n"), 0o644), os.WriteFile(filepath.Join(p.workspace, "gone"), []byte("x\n"), 0o644)))
	s := p.begin("printf '1\\ntwo\\n3\\n4\\n' > a; rm gone; mkdir d; echo n > d/n; printf 'a\\0b' > bin")
	changes, err := p.Sessions.Changes(t.Context(), s.ID, protocol.ChangeScope{Turn: "last"})
	p.must(err)
	var got []string
	for _, f := range changes.Files {
		got = append(got, fmt.Sprintf("%s %s %s +%d -%d %v", f.Op, f.Kind, f.Path, f.Added, f.Removed, f.Counted))
	}
	want := "[update file a +2 -1 true add file bin +0 -0 false add dir d +0 -0 false add file d/n +1 -0 true delete file gone +0 -1 true]"
	if fmt.Sprint(got) != want || changes.Count != 5 {
		t.Errorf("changes %v\nwant    %s", got, want)
	}
	diff, err := p.Sessions.FileDiff(t.Context(), s.ID, protocol.ChangeScope{Turn: "last"}, "a", "")
	p.must(err)
	if diff.Old == nil || diff.New == nil || diff.Old.Text != "1\n2\n3\n" || diff.New.Text != "1\ntwo\n3\n4\n" {
		t.Errorf("diff %+v", diff)
	}
	// What is changed now is seen live only.
	p.must(os.WriteFile(filepath.Join(s.Workspace, "now"), nil, 0o644))
	live, err := p.Sessions.Changes(t.Context(), s.ID, protocol.ChangeScope{Turn: "start", Live: true})
	p.must(err)
	if live.Count != changes.Count+1 {
		t.Errorf("live changes %+v", live)
	}
	// Reverting puts one file back, and can be taken back.
	for _, name := range []string{"a", "gone", "d"} {
		_, err := p.Sessions.Revert(t.Context(), protocol.RevertRequest{ID: s.ID, Scope: protocol.ChangeScope{Turn: "last"}, Path: name})
		p.must(err)
	}
	if got := p.file(s, "a") + p.file(s, "gone") + p.file(s, "d/n"); got != "1\n2\n3\nx\n" {
		t.Errorf("reverted: %q", got)
	}
	// What snapshots leave out is not touched by the revert of its folder.
	p.must(errors.Join(os.MkdirAll(filepath.Join(s.Workspace, "d", "left"), 0o755), os.WriteFile(filepath.Join(s.Workspace, "d", "left", "out"), []byte("kept"), 0o644)))
	p.must(p.Sessions.SetSnapshots(t.Context(), s.ID, protocol.SnapshotPolicy{Exclude: []string{"d/left"}}))
	_, err = p.Sessions.Revert(t.Context(), protocol.RevertRequest{ID: s.ID, Scope: protocol.ChangeScope{Turn: "last"}, Path: "d"})
	p.must(err)
	if got := p.file(s, "d/left/out"); got != "kept" {
		t.Errorf("what is left out of snapshots is %q", got)
	}
	p.must(os.RemoveAll(filepath.Join(s.Workspace, "d")))
	p.must(p.Sessions.SetSnapshots(t.Context(), s.ID, protocol.SnapshotPolicy{}))
	record := p.until(s.ID, "the reverts", func(s protocol.Session) bool { return len(s.Rewinds) == 4 })
	_, err = p.Sessions.Rewind(t.Context(), protocol.RewindRequest{ID: s.ID, Undo: record.Rewinds[2].ID})
	p.must(err)
	if got := p.file(s, "d/n") + p.file(s, "a"); got != "n\n1\n2\n3\n" {
		t.Errorf("taken back: %q", got)
	}
	p.record(map[string]string{"reverted": protocol.AgentID(s.ID)})
}

// An exported session is the same when it is imported, here or elsewhere, and a
// damaged file is refused.
func TestExportAndImport(t *testing.T) {
	p := start(t, 0)
	oddTree(t, p.workspace)
	s := p.begin("echo one > one")
	file := filepath.Join(t.TempDir(), "s.tsa")
	p.must(p.Export(t.Context(), s.ID, file))
	want := picture(t, p.workspace)
	said := len(p.items(s.ID))

	q := start(t, 0)
	out, err := q.Import(t.Context(), file, "", local(""))
	q.must(err)
	// A link that leads outside means something only where it was made.
	if r := out.Receipt; r.SkippedCount != 1 || r.Skipped[0].Path != "outside" {
		t.Errorf("the receipt is %+v", r)
	}
	var lines []string
	for line := range strings.SplitSeq(want, "\n") {
		if !strings.HasPrefix(line, "outside l ") {
			lines = append(lines, line)
		}
	}
	sameTree(t, "import", picture(t, out.Session.Workspace), strings.Join(lines, "\n"))
	if got := q.items(out.Session.ID); len(got) != said+1 || out.Session.Title != s.Title || out.Session.Turns != 1 {
		t.Errorf("the imported session is %+v with %d items", out.Session, len(got))
	}
	// What it may do is decided here, not by the file.
	if mode := out.Session.Options.Approve; mode != protocol.ApproveRisky {
		t.Errorf("the imported session has the mode %q", mode)
	}
	never := protocol.ApproveNever
	q.must(q.Sessions.SetOptions(t.Context(), out.Session.ID, protocol.OptionsChange{Approve: &never}))
	q.turn(out.Session.ID, "echo two > two", 2)

	data, err := os.ReadFile(file)
	q.must(err)
	for name, bad := range map[string][]byte{
		"cut off": data[:len(data)-10], "not one": []byte("PK\x03\x04"), "empty": nil,
		"changed": append(bytes.Clone(data[:len(data)/2]), append([]byte{data[len(data)/2] ^ 1}, data[len(data)/2+1:]...)...),
	} {
		q.must(os.WriteFile(file, bad, 0o600))
		_, err := q.Import(t.Context(), file, "", local(""))
		if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassBadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	sessions, err := q.Sessions.List(t.Context())
	q.must(err)
	if len(sessions) != 1 {
		t.Errorf("%d sessions after refused imports", len(sessions))
	}
}

// What no snapshot has is not lost with the place that a session leaves, and
// goes when the session is destroyed.
func TestASwitchKeepsWhatWasLeftOut(t *testing.T) {
	p := start(t, 0)
	p.model.Push(llmtest.Call("exec_command", `{"cmd":"mkdir data; echo left > data/out; echo in > in"}`), llmtest.Text("done"))
	created, err := p.Sessions.Create(t.Context(), protocol.CreateRequest{
		Options: protocol.Options{Approve: protocol.ApproveNever}, First: &protocol.SendRequest{ID: "m1", Text: "begin"},
	})
	p.must(err)
	s := p.until(created.ID, "the first turn", idle(1))
	p.must(p.Sessions.SetSnapshots(t.Context(), s.ID, protocol.SnapshotPolicy{Exclude: []string{"data"}}))
	old, to := s.Workspace, folder(t)
	// The same folder under another name is no other place.
	link := filepath.Join(t.TempDir(), "link")
	p.must(os.Symlink(old, link))
	_, err = p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: local(link)})
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassBadInput {
		t.Fatalf("a switch onto the same folder: %v", err)
	}
	if got := p.file(s, "in"); got != "in\n" {
		t.Fatalf("after that the file is %q", got)
	}
	receipt, err := p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: local(to)})
	p.must(err)
	if !receipt.Left || p.file(protocol.Session{Workspace: old}, "data/out") != "left\n" || p.file(protocol.Session{Workspace: to}, "in") != "in\n" {
		t.Errorf("the receipt is %+v", receipt)
	}
	p.must(p.Sessions.Destroy(t.Context(), s.ID, true))
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the place that was kept is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(to, "in")); err != nil {
		t.Errorf("the user's folder: %v", err)
	}
}
