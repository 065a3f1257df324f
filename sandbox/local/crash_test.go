//go:build linux

package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

// The process that is killed in the crash tests is this test program, started
// with crashEnv naming the folder that it works in.
const (
	crashEnv      = "SANDBOX_TEST_CRASH"
	crashHolder   = "SANDBOX_TEST_CRASH_HOLDER"
	crashCommands = 24
)

// runCrashApp is that process: it starts each command, waits for its result
// and takes it, once. It begins where the one before it was killed.
func runCrashApp(ctx context.Context, base string, holder bool) error {
	p := local.New(local.Config{WorkspacesDir: base + "/ws", StateDir: base + "/state", Home: "/nonexistent", Holder: holder})
	defer p.Close()
	sb, err := p.Create(ctx, sandbox.Spec{Session: "crash", Root: base + "/project"})
	if err != nil {
		return err
	}
	j := journal.Open(sb)
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for i := worker; i < crashCommands && errs[worker] == nil; i += len(errs) {
				errs[worker] = takeResult(ctx, j, base, fmt.Sprintf("call%d", i))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return os.WriteFile(base+"/all-done", nil, 0o600)
}

func takeResult(ctx context.Context, j *journal.Journal, base, id string) error {
	result := filepath.Join(base, "results", id)
	if _, err := os.Stat(result); err == nil {
		return nil // taken before the crash
	}
	c, err := j.Start(ctx, journal.Spec{
		CallID: id,
		Shell:  fmt.Sprintf("echo run >>%s/counters/%s; sleep 0.0%d; echo result of %s", base, id, rand.IntN(9), id),
	})
	if err != nil {
		return err
	}
	var out strings.Builder
	if err := c.Follow(ctx, 0, func(_ int64, data []byte) { out.Write(data) }); err != nil {
		return err
	}
	exit, err := c.Wait(ctx)
	if err != nil {
		return err
	}
	// The app's own transcript, which takes a result as a whole, once.
	draft := result + fmt.Sprintf(".%d", os.Getpid())
	if err := os.WriteFile(draft, fmt.Appendf(nil, "%s %d %s", exit.State, exit.Code, out.String()), 0o600); err != nil {
		return err
	}
	return os.Link(draft, result)
}

func TestCrash(t *testing.T) {
	for name, c := range map[string]struct{ holder, killHolder bool }{
		"the app is killed":                    {holder: true},
		"the app and what it holds are killed": {holder: true, killHolder: true},
		"the app is killed, over exec":         {},
	} {
		t.Run(name, func(t *testing.T) { testCrash(t, c.holder, c.killHolder) })
	}
}

func testCrash(t *testing.T, holder, killHolder bool) {
	base := t.TempDir()
	for _, dir := range []string{"project", "counters", "results"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const rounds = 30
	kills := 0
	for round := 0; ; round++ {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), crashEnv+"="+base, fmt.Sprintf("%s=%v", crashHolder, holder))
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := round >= rounds
		if !last {
			time.Sleep(time.Duration(rand.IntN(250)) * time.Millisecond)
			if killHolder && round%2 == 0 {
				for _, pid := range children(cmd.Process.Pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if cmd.Process.Kill() == nil {
				kills++
			}
		}
		if err := cmd.Wait(); err != nil && last {
			t.Fatalf("the last run: %v\n%s", err, said.String())
		}
		if _, err := os.Stat(base + "/all-done"); err == nil {
			break
		}
		if last {
			t.Fatalf("the last run did not get to its end:\n%s", said.String())
		}
	}
	broken := 0
	for i := range crashCommands {
		id := fmt.Sprintf("call%d", i)
		counter, err := os.ReadFile(filepath.Join(base, "counters", id))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		result, err := os.ReadFile(filepath.Join(base, "results", id))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case string(result) == "finished 0 result of "+id+"\n" && string(counter) == "run\n":
		case killHolder && strings.HasPrefix(string(result), "broken -1 ") && (len(counter) == 0 || string(counter) == "run\n"):
			broken++
		default:
			t.Errorf("%s has run %q, its result is %q", id, counter, result)
		}
	}
	t.Logf("%d kills, %d commands broken", kills, broken)
	if kills < 5 {
		t.Errorf("only %d kills: the test tries nothing", kills)
	}
}

// children returns the processes whose parent is pid, whichever thread made them.
func children(pid int) []int {
	var out []int
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // it is gone
		}
		for field := range strings.FieldsSeq(string(data)) {
			child := 0
			if _, err := fmt.Sscan(field, &child); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}
