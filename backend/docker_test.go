package backend_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/docker/dockertest"
)

// withDocker opens the product on a machine with a Docker engine, and gives the
// target of containers.
func withDocker(t *testing.T, host string) (*product, protocol.Target) {
	t.Helper()
	t.Setenv("DOCKER_HOST", host)
	return start(t, 0), protocol.Target{Backend: "docker", Image: dockertest.Busybox(t, host)}
}

// containers lists the containers of sessions: their ids by session.
func containers(t *testing.T, host string) map[string][]string {
	t.Helper()
	out, err := exec.Command("docker", "-H", host, "ps", "-a", "--no-trunc", "--format", `{{.ID}} {{.Label "temporal-sandbox-agent.session"}}`).Output()
	if err != nil {
		t.Fatalf("docker ps: %v", err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		id, session, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[session] = append(found[session], id)
	}
	return found
}

// container is the container of a session.
func container(t *testing.T, s protocol.Session) string {
	t.Helper()
	var ref sandbox.Ref
	if err := json.Unmarshal([]byte(s.Sandbox), &ref); err != nil || ref.Backend != "docker" {
		t.Fatalf("the sandbox is %q: %v", s.Sandbox, err)
	}
	return ref.ID
}

func dockerRun(t *testing.T, host string, args ...string) {
	t.Helper()
	if out, err := exec.Command("docker", append([]string{"-H", host}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("docker %q: %v %s", args, err, out)
	}
}

// without drops the lines of a picture of what does not travel between
// backends: links that lead outside.
func without(picture, name string) string {
	var kept []string
	for line := range strings.SplitSeq(picture, "\n") {
		if !strings.HasPrefix(line, name+" l ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// seconds cuts the times of a picture: busybox keeps whole seconds.
func seconds(picture string) string {
	return regexp.MustCompile(`(?m)( \d{9,})\.\d+$`).ReplaceAllString(picture, "$1")
}

// The files travel from a folder into a container, on to another one, and back,
// by switches and by forks, and are the same everywhere.
func TestFilesTravelBetweenLocalAndDocker(t *testing.T) {
	host := dockertest.Host(t)
	p, target := withDocker(t, host)
	oddTree(t, p.workspace)
	s := p.begin("echo one > one")
	want := without(picture(t, p.workspace), "outside")

	// local → docker
	receipt, err := p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: target})
	p.must(err)
	if receipt.SkippedCount != 1 || receipt.Skipped[0].Path != "outside" || receipt.To.Backend != "docker" {
		t.Errorf("the receipt is %+v", receipt)
	}
	s = p.turn(s.ID, "cat one; echo two > two", 2)
	if s.Backend != "docker" || s.Workspace != "/workspace" || !s.Confined {
		t.Fatalf("after the switch: %+v", s)
	}
	first := container(t, s)

	// docker → docker, a fork; docker → local, a fork
	inDocker, err := p.Fork(t.Context(), protocol.ForkRequest{ID: s.ID, Target: target})
	p.must(err)
	if f := inDocker.Session; f.Title != s.Title+" (fork #1)" || container(t, f) == first {
		t.Errorf("the fork is %+v", f)
	}
	p.turn(inDocker.Session.ID, "echo fork > two", 3)
	to := folder(t)
	atHome, err := p.Fork(t.Context(), protocol.ForkRequest{ID: inDocker.Session.ID, Target: local(to)})
	p.must(err)
	if f := atHome.Session; !strings.HasSuffix(f.Title, " [local]") || p.file(f, "two") != "fork\n" {
		t.Errorf("the fork of the fork is %+v", f)
	}
	p.must(os.Remove(filepath.Join(to, "two")))
	sameTree(t, "through two containers", seconds(picture(t, to)), seconds(want))

	// docker → local
	back := folder(t)
	_, err = p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: local(back)})
	p.must(err)
	if got := p.file(protocol.Session{Workspace: back}, "two"); got != "two\n" {
		t.Errorf("after the way back: %q", got)
	}
	p.must(os.Remove(filepath.Join(back, "two")))
	sameTree(t, "there and back", seconds(picture(t, back)), seconds(want))
	// The container that was left is gone.
	if left := containers(t, host)[s.ID]; len(left) != 0 {
		t.Errorf("containers of the session that left: %v", left)
	}
	p.must(p.Sessions.Destroy(t.Context(), inDocker.Session.ID, true))
	if left := containers(t, host)[inDocker.Session.ID]; len(left) != 0 {
		t.Errorf("containers of the destroyed session: %v", left)
	}
}

// A container is kept between turns and restarts of the app, and rewound in
// place.
func TestAContainerIsKeptAndRewound(t *testing.T) {
	host := dockertest.Host(t)
	p, target := withDocker(t, host)
	p.model.Push(llmtest.Call("exec_command", `{"cmd":"echo 1 > n; echo state > /tmp/state"}`), llmtest.Text("done"))
	created, err := p.Sessions.Create(t.Context(), protocol.CreateRequest{
		Backend: target.Backend, Image: target.Image, Options: protocol.Options{Approve: protocol.ApproveNever},
		First: &protocol.SendRequest{ID: "m1", Text: "begin"},
	})
	p.must(err)
	s := p.until(created.ID, "the first turn", idle(1))
	first := container(t, s)
	p.close()
	p.open()
	s = p.turn(s.ID, "cat /tmp/state > n; echo more > more", 2)
	if container(t, s) != first {
		t.Error("after a restart of the app it is another container")
	}
	read := func(name string) string {
		content, err := p.Sessions.ReadFile(t.Context(), s.ID, name, "", 0, 100)
		if fault, ok := errors.AsType[*protocol.Fault](err); ok && fault.Class == protocol.ClassNotFound {
			return "(none)"
		}
		p.must(err)
		return content.Text
	}
	if got := read("n") + read("more"); got != "state\nmore\n" {
		t.Errorf("the files are %q", got)
	}
	changes, err := p.Sessions.Changes(t.Context(), s.ID, protocol.ChangeScope{Turn: "last"})
	p.must(err)
	if changes.Count != 2 {
		t.Errorf("changes %+v", changes)
	}
	turn, err := p.Sessions.TurnID(t.Context(), s.ID, 1)
	p.must(err)
	_, err = p.Sessions.Rewind(t.Context(), protocol.RewindRequest{ID: s.ID, Turn: turn, What: protocol.RewindBoth})
	p.must(err)
	if got := read("n") + read("more"); got != "1\n(none)" {
		t.Errorf("the files after the rewind are %q", got)
	}
	p.must(p.Sessions.Destroy(t.Context(), s.ID, true))
	if left := containers(t, host)[s.ID]; len(left) != 0 {
		t.Errorf("containers left: %v", left)
	}
}

// A container that somebody removed is made anew with the files of the last
// snapshot, and the conversation tells.
func TestARemovedContainerIsMadeAnew(t *testing.T) {
	host := dockertest.Host(t)
	p, target := withDocker(t, host)
	s := p.begin("echo one > one")
	_, err := p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: target})
	p.must(err)
	s = p.turn(s.ID, "echo two > two", 2)
	old := container(t, s)
	dockerRun(t, host, "rm", "-f", old)
	s = p.turn(s.ID, "cat one two > both", 3)
	if container(t, s) == old {
		t.Error("it is the same container")
	}
	content, err := p.Sessions.ReadFile(t.Context(), s.ID, "both", "", 0, 100)
	p.must(err)
	if content.Text != "one\ntwo\n" {
		t.Errorf("the files are %q", content.Text)
	}
	told := false
	for _, item := range p.items(s.ID) {
		told = told || item.Notice != nil && item.Notice.Code == "remade"
	}
	if !told {
		t.Error("the conversation does not tell")
	}
}

// The engine stops in the middle of a turn: the turn waits, says so, and goes on
// when the engine is back.
func TestTheEngineOfContainersStopsInATurn(t *testing.T) {
	engine := dockertest.Start(t)
	p, target := withDocker(t, engine.Host)
	s := p.begin("echo one > one")
	_, err := p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: target})
	p.must(err)
	begun := make(chan struct{})
	p.model.Handle(func(r llmtest.Request) llmtest.Answer {
		switch len(r.Results) {
		case 0:
			return llmtest.Call("exec_command", `{"cmd":"echo before >> log"}`)
		case 1:
			engine.Stop(t)
			close(begun)
			return llmtest.Call("exec_command", `{"cmd":"echo after >> log"}`)
		default:
			return llmtest.Text("done")
		}
	})
	_, err = p.Sessions.Send(t.Context(), s.ID, protocol.SendRequest{ID: "m2", Text: "go"})
	p.must(err)
	<-begun
	waiting := p.until(s.ID, "the turn to wait", func(s protocol.Session) bool { return s.State == protocol.StateWaiting && s.Retry != nil })
	if waiting.Retry.Class != string(protocol.ClassBackendDown) || waiting.Retry.Reason == "" {
		t.Errorf("it waits for %+v", waiting.Retry)
	}
	engine.Restart(t)
	p.must(p.Sessions.RetryTurn(t.Context(), s.ID)) // "Try now"
	s = p.until(s.ID, "the turn's end", idle(2))
	content, err := p.Sessions.ReadFile(t.Context(), s.ID, "log", "", 0, 100)
	p.must(err)
	if content.Text != "before\nafter\n" {
		t.Errorf("the commands wrote %q", content.Text)
	}
	p.must(p.Sessions.Destroy(t.Context(), s.ID, true))
}

// The app's secrets do not reach a container.
func TestNoKeyInAContainer(t *testing.T) {
	host := dockertest.Host(t)
	p, target := withDocker(t, host)
	s := p.begin("true")
	_, err := p.Switch(t.Context(), protocol.SwitchRequest{ID: s.ID, Target: target})
	p.must(err)
	s = p.turn(s.ID, "env > env; cat /proc/1/environ >> env", 2)
	content, err := p.Sessions.ReadFile(t.Context(), s.ID, "env", "", 0, 10_000)
	p.must(err)
	text := []byte(content.Text + content.Base64)
	if len(text) == 0 || bytes.Contains(text, []byte("not-a-key")) || bytes.Contains(text, []byte("OPENAI")) {
		t.Errorf("the environment is %s", text)
	}
	p.must(p.Sessions.Destroy(t.Context(), s.ID, true))
}
