package backend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/engine"
	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
	"temporal-sandbox-agent/sandbox/journal"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// product is the whole backend on a real engine, with a scripted model.
type product struct {
	*backend.Backend
	t         testing.TB
	model     *llmtest.Server
	config    backend.Config
	data      string
	workspace string
}

func start(t testing.TB, sticky int) *product {
	t.Helper()
	return startWith(t, backend.Config{StickyCache: sticky})
}

func startWith(t testing.TB, config backend.Config) *product {
	t.Helper()
	model := llmtest.New(t)
	t.Setenv("OPENAI_API_KEY", "not-a-key")
	t.Setenv("OPENAI_BASE_URL", model.URL)
	t.Setenv("EXAMPLES_TEMPORAL_TRACE", "none")
	dir := t.TempDir()
	p := &product{t: t, model: model, config: config, data: filepath.Join(dir, "data"), workspace: filepath.Join(dir, "workspace")}
	if err := os.Mkdir(p.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	p.open()
	t.Cleanup(p.close)
	return p
}

func (p *product) open() {
	p.t.Helper()
	config := p.config
	config.DataDir, config.Version = p.data, "test"
	b, err := backend.New(p.t.Context(), config)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Backend = b
}

func (p *product) close() {
	if p.Backend == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		p.t.Error(err)
	}
	p.Backend = nil
}

// limit bounds each wait.
const limit = 3 * time.Minute

func (p *product) until(id, what string, ready func(protocol.Session) bool) protocol.Session {
	p.t.Helper()
	deadline := time.Now().Add(limit)
	var last protocol.Session
	for time.Now().Before(deadline) {
		record, err := p.Sessions.Get(p.t.Context(), id)
		if err == nil {
			last = record
			if ready(record) {
				return record
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("waited for %s; the session is %+v", what, last)
	return last
}

func (p *product) create(mode protocol.ApprovalMode, text string) string {
	p.t.Helper()
	s, err := p.Sessions.Create(p.t.Context(), protocol.CreateRequest{
		Workspace: p.workspace, Options: protocol.Options{Approve: mode},
		First: &protocol.SendRequest{ID: session.NewID(), Text: text},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return s.ID
}

func idle(turns int) func(protocol.Session) bool {
	return func(s protocol.Session) bool { return s.State == protocol.StateIdle && s.Turns == turns }
}

func (p *product) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *product) items(id string) []protocol.Item {
	p.t.Helper()
	page, err := p.Sessions.Page(p.t.Context(), id, "", 1000)
	p.must(err)
	return page.Items
}

// steps answers with n commands and then a text, for each message of the user.
func steps(n int, command string) func(llmtest.Request) llmtest.Answer {
	return func(r llmtest.Request) llmtest.Answer {
		if len(r.Results) < n {
			cmd := strings.ReplaceAll(command, "{n}", fmt.Sprint(len(r.Results)))
			args, _ := json.Marshal(struct {
				Cmd string `json:"cmd"`
			}{cmd})
			return llmtest.Call("exec_command", string(args))
		}
		return llmtest.Text("done: " + r.LastUser)
	}
}

// stickyCache is how many workflows this test process keeps in memory: the
// SDK takes one size a process.
func stickyCache() int {
	if os.Getenv(replayEverything) != "" {
		return engine.NoStickyCache
	}
	return 0
}

const replayEverything = "TSA_TEST_REPLAY_EVERYTHING"

// Without the cache every workflow task is replayed from the start, which
// finds code that is not deterministic.
func TestSessionsReplayingEveryTask(t *testing.T) {
	if os.Getenv(replayEverything) != "" {
		return // this is the process that the other one started
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []string{"TestSessionsOnTheRealEngine", "TestForkToAnotherFolder", "TestSwitchToAnotherFolder", "TestRewindOfASession"}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^("+strings.Join(tests, "|")+")$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), replayEverything+"=1", "RECORD_HISTORIES=")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: ") < len(tests) {
		t.Errorf("%v\n%s", err, out)
	}
}

// The life of a session on the real engine.
func TestSessionsOnTheRealEngine(t *testing.T) {
	p := start(t, stickyCache())
	p.model.Handle(steps(2, "echo {n} >> log"))

	id := p.create(protocol.ApproveNever, "first")
	p.until(id, "the first turn", idle(1))
	_, err := p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: "m2", Text: "second"})
	p.must(err)
	// Sent again, as a client does that got no answer: the same message.
	_, err = p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: "m2", Text: "second"})
	p.must(err)
	p.until(id, "the second turn", idle(2))
	if log, _ := os.ReadFile(filepath.Join(p.workspace, "log")); string(log) != "0\n1\n0\n1\n" {
		t.Errorf("commands that ran: %q", log)
	}

	p.must(p.Sessions.Rename(t.Context(), id, "Named"))
	p.until(id, "the title", func(s protocol.Session) bool { return s.Title == "Named" && !s.TitleAuto })

	asking := p.create(protocol.ApproveRisky, "ask")
	waiting := p.until(asking, "the question", func(s protocol.Session) bool { return len(s.Approvals) == 1 })
	if waiting.State != protocol.StateNeedsYou || waiting.Approvals[0].Ask.Title != "echo 0 >> log" {
		t.Errorf("question %+v", waiting.Approvals[0])
	}
	p.must(p.Sessions.Resolve(t.Context(), asking, protocol.Resolution{ID: waiting.Approvals[0].ID, Decision: protocol.DecisionDeny, Note: "no"}))
	second := p.until(asking, "the second question", func(s protocol.Session) bool {
		return len(s.Approvals) == 1 && s.Approvals[0].ID != waiting.Approvals[0].ID
	})
	p.must(p.Sessions.Resolve(t.Context(), asking, protocol.Resolution{ID: second.Approvals[0].ID, Decision: protocol.DecisionAllow}))
	p.until(asking, "the end", idle(1))
	checkDenied(t, p.items(asking))

	p.record(map[string]string{
		"manager": protocol.SessionManagerID, "turns": protocol.AgentID(id), "approvals": protocol.AgentID(asking),
	})
	checkHistory(t, p.history(protocol.AgentID(id)))

	p.must(p.Sessions.Destroy(t.Context(), asking, true))
	list, err := p.Sessions.List(t.Context())
	p.must(err)
	if len(list) != 1 || list[0].ID != id {
		t.Errorf("after destroying one of two: %+v", list)
	}
	if _, err := os.Stat(p.workspace); err != nil {
		t.Error("a folder that the user picked was removed")
	}
}

func checkDenied(t *testing.T, items []protocol.Item) {
	t.Helper()
	var statuses []protocol.ToolStatus
	for _, i := range items {
		if i.Tool != nil {
			statuses = append(statuses, i.Tool.Status)
		}
	}
	if len(statuses) != 2 || statuses[0] != protocol.ToolDenied || statuses[1] != protocol.ToolDone {
		t.Errorf("calls are %v", statuses)
	}
}

// A stopped turn ends its command's whole tree and keeps what was said.
func TestStopEndsTheTree(t *testing.T) {
	p := start(t, 0)
	p.model.Handle(steps(1, "echo begun; sleep 300 & sleep 300"))
	id := p.create(protocol.ApproveNever, "wait")
	mark := filepath.Join(p.data, "journal")
	p.until(id, "the command", func(protocol.Session) bool {
		for _, i := range p.items(id) {
			if i.Tool != nil && i.Tool.Status == protocol.ToolRunning {
				return true
			}
		}
		return false
	})
	p.must(p.Sessions.Stop(t.Context(), id))
	p.until(id, "the stop", idle(1))
	var ended *protocol.TurnEndItem
	for _, i := range p.items(id) {
		if i.TurnEnd != nil {
			ended = i.TurnEnd
		}
		if i.Tool != nil && i.Tool.Status != protocol.ToolInterrupted {
			t.Errorf("the call is %s: %s", i.Tool.Status, i.Tool.Result.Output)
		}
	}
	if ended == nil || ended.Outcome != protocol.OutcomeInterrupted {
		t.Errorf("the turn ended as %+v", ended)
	}
	p.record(map[string]string{"stopped": protocol.AgentID(id)})
	if left := processesWith(t, "sleep 300", mark); left != "" {
		t.Errorf("still running:\n%s", left)
	}
}

// leaveRunning works a turn that leaves a command running. mark is for
// processesWith.
func (p *product) leaveRunning(command string) (id, mark string) {
	p.t.Helper()
	p.model.Push(llmtest.Call("exec_command", fmt.Sprintf(`{"cmd":"echo begun; %s","yield_time_ms":250}`, command)))
	p.model.Handle(func(llmtest.Request) llmtest.Answer { return llmtest.Text("it runs") })
	id = p.create(protocol.ApproveNever, "serve")
	p.until(id, "the turn", idle(1))
	return id, filepath.Join(p.data, "journal")
}

// What a turn has left running can be stopped later, also after a restart of
// the app.
func TestWhatATurnLeftRunningCanBeStopped(t *testing.T) {
	p := start(t, 0)
	id, mark := p.leaveRunning("sleep 301")
	p.close()
	p.open()
	if processesWith(t, "sleep 301", mark) == "" {
		t.Fatal("the command did not outlive its turn and the app")
	}
	p.must(p.Sessions.Stop(t.Context(), id)) // there is no turn
	if processesWith(t, "sleep 301", mark) == "" {
		t.Error("Stop without a turn ended what was left running on purpose")
	}
	p.must(p.Sessions.StopCommands(t.Context(), id))
	if left := processesWith(t, "sleep 301", mark); left != "" {
		t.Errorf("still running:\n%s", left)
	}
	p.must(p.Sessions.StopCommands(t.Context(), id)) // with nothing to stop
}

// A session whose folder was removed by somebody else still takes its commands
// with it when it is destroyed.
func TestDestroyEndsTheCommandsOfALostWorkspace(t *testing.T) {
	p := start(t, 0)
	id, mark := p.leaveRunning("sleep 302")
	p.close()
	p.must(os.RemoveAll(p.workspace))
	p.open()
	if processesWith(t, "sleep 302", mark) == "" {
		t.Fatal("the command did not outlive the app")
	}
	p.must(p.Sessions.Destroy(t.Context(), id, true))
	if left := processesWith(t, "sleep 302", mark); left != "" {
		t.Errorf("still running:\n%s", left)
	}
	if kept, _ := filepath.Glob(filepath.Join(mark, "*", id+"*")); len(kept) > 0 {
		t.Errorf("its journal is kept: %v", kept)
	}
}

// processesWith lists processes whose command line is want and whose
// environment names mark or the workspace's call.
func processesWith(t *testing.T, want, mark string) string {
	t.Helper()
	var found strings.Builder
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return "" // no such list on this system
	}
	for _, e := range entries {
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ") != want {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if strings.HasPrefix(cwd, filepath.Dir(filepath.Dir(mark))) {
			fmt.Fprintf(&found, "%s in %s\n", e.Name(), cwd)
		}
	}
	return found.String()
}

// The engine's database is lost; every session is there and goes on.
func TestSessionsOutliveTheEnginesDatabase(t *testing.T) {
	p := start(t, 0)
	p.model.Handle(steps(1, "echo x >> log"))
	id := p.create(protocol.ApproveNever, "first")
	p.until(id, "the first turn", idle(1))
	p.close()
	p.must(os.RemoveAll(filepath.Join(p.data, "engine")))
	p.open()
	deadline := time.Now().Add(limit)
	for {
		_, err := p.Sessions.Send(t.Context(), id, protocol.SendRequest{ID: "m2", Text: "second"})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.until(id, "the second turn", idle(2))
	users := 0
	for _, i := range p.items(id) {
		if i.User != nil {
			users++
		}
	}
	if users != 2 {
		t.Errorf("%d messages in the conversation, want 2", users)
	}
}

// history reads a workflow's history as another process would: attached.
func (p *product) history(workflowID string) *historypb.History {
	p.t.Helper()
	e, err := engine.Open(p.t.Context(), engine.Options{DataDir: p.data})
	p.must(err)
	defer func() { _ = e.Close(p.t.Context()) }()
	if e.Role() != engine.RoleAttached {
		p.t.Fatalf("a second opening is %s", e.Role())
	}
	history := &historypb.History{}
	iterator := e.Client().GetWorkflowHistory(p.t.Context(), workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		p.must(err)
		history.Events = append(history.Events, event)
	}
	return history
}

// runs is how many runs a workflow has had so far.
func (p *product) runs(workflowID string) int {
	p.t.Helper()
	e, err := engine.Open(p.t.Context(), engine.Options{DataDir: p.data})
	p.must(err)
	defer func() { _ = e.Close(p.t.Context()) }()
	count := 0
	run := ""
	for {
		count++
		started, err := e.Client().GetWorkflowHistory(p.t.Context(), workflowID, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
		p.must(err)
		run = started.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		if run == "" {
			return count
		}
	}
}

// Payloads stay small: big things are in the store.
func checkHistory(t *testing.T, history *historypb.History) {
	t.Helper()
	const most = 32 << 10
	for _, event := range history.Events {
		if n := proto.Size(event); n > most {
			t.Errorf("event %d (%s) has %d bytes", event.GetEventId(), event.GetEventType(), n)
		}
	}
}

// record writes histories for the replay tests, when RECORD_HISTORIES names a
// folder of backend/workflow/testdata (one for each released version).
func (p *product) record(workflows map[string]string) {
	version := os.Getenv("RECORD_HISTORIES")
	if version == "" {
		return
	}
	dir := filepath.Join("workflow", "testdata", version)
	p.must(os.MkdirAll(dir, 0o755))
	for file, id := range workflows {
		text, err := protojson.MarshalOptions{}.Marshal(p.history(id))
		p.must(err)
		p.must(os.WriteFile(filepath.Join(dir, file+".json"), append(text, '\n'), 0o644))
	}
}
