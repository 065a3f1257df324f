package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/cli"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox/journal"
)

// beTheApp makes the test's own program run as the app: the tests below start
// it as a child, the same code as the product's, without linking it twice.
const beTheApp = "TSA_TEST_BE_THE_APP"

func TestMain(m *testing.M) {
	holder := len(os.Args) > 1 && os.Args[1] == journal.HolderArg
	if os.Getenv(beTheApp) != "" || holder {
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Process{
			Version: "test", Open: backend.New, Out: os.Stdout, Err: os.Stderr, In: os.Stdin,
		}))
	}
	os.Exit(m.Run())
}

// app is the app with a data folder and a workspace of the test's own.
type app struct {
	t         testing.TB
	data      string
	workspace string
	env       []string
	// program is what is started; empty is the test's own program.
	program string
}

func newApp(t testing.TB, env ...string) *app {
	t.Helper()
	dir := t.TempDir()
	a := &app{t: t, data: filepath.Join(dir, "data"), workspace: filepath.Join(dir, "workspace")}
	if err := os.Mkdir(a.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		// The machine's own settings must not decide a test.
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "OPENAI_") && !strings.HasPrefix(name, "TSA_") && !strings.HasPrefix(name, "EXAMPLES_TEMPORAL_") {
			a.env = append(a.env, v)
		}
	}
	a.env = append(a.env, beTheApp+"=1", "TSA_DATA_DIR="+a.data, "TSA_KEYRING=off", "EXAMPLES_TEMPORAL_TRACE=none")
	a.env = append(a.env, env...)
	t.Cleanup(a.end)
	return a
}

// end ends what a killed app may have left running.
func (a *app) end() {
	out, err := exec.Command("pgrep", "-f", a.data).Output()
	if err != nil {
		return // none
	}
	for pid := range strings.FieldsSeq(string(out)) {
		_ = exec.Command("kill", "-9", pid).Run()
	}
}

func (a *app) command(args ...string) *exec.Cmd {
	a.t.Helper()
	program := a.program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			a.t.Fatal(err)
		}
	}
	cmd := exec.Command(program, args...)
	cmd.Env = a.env
	cmd.Dir = a.workspace
	return cmd
}

// ran is how a run of the app ended.
type ran struct {
	code     int
	out, err string
}

// limit bounds one run of the app: a hang must fail the test, not stop it.
const limit = 90 * time.Second

func (a *app) run(args ...string) ran {
	a.t.Helper()
	cmd := a.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	return ran{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
}

// ok runs the app and wants exit code 0.
func (a *app) ok(args ...string) string {
	a.t.Helper()
	r := a.run(args...)
	if r.code != 0 {
		a.t.Fatalf("%q ended with %d\n%s\n%s", args, r.code, r.out, r.err)
	}
	return r.out
}

func (a *app) sessions() []protocol.Session {
	a.t.Helper()
	var sessions []protocol.Session
	if err := json.Unmarshal([]byte(a.ok("sessions", "list", "--json")), &sessions); err != nil {
		a.t.Fatal(err)
	}
	return sessions
}

type shown struct {
	Session protocol.Session `json:"session"`
	Items   []protocol.Item  `json:"items"`
}

func (a *app) show(id string) shown {
	a.t.Helper()
	var s shown
	if err := json.Unmarshal([]byte(a.ok("sessions", "show", id, "--json")), &s); err != nil {
		a.t.Fatal(err)
	}
	return s
}

func (a *app) file(name string) string {
	a.t.Helper()
	content, err := os.ReadFile(filepath.Join(a.workspace, name))
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	return string(content)
}
