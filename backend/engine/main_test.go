package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// childRole makes the test binary be another process of the app.
const childRole = "ENGINE_TEST_CHILD"

// childDir is the data folder of the other process.
const childDir = "ENGINE_TEST_DIR"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(beChild(role, os.Getenv(childDir)))
	}
	os.Exit(m.Run())
}

// beChild runs until standard input ends, which it does when the test is gone.
func beChild(role, dir string) int {
	ctx := context.Background()
	if err := childRun(ctx, role, dir); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

func childRun(ctx context.Context, role, dir string) error {
	if role == "lock" { // holds the folder and never becomes reachable
		p, err := preparePaths(dir)
		if err != nil {
			return err
		}
		lock, err := takeOwnership(p)
		if err != nil {
			return err
		}
		if lock == nil {
			return errors.New("somebody else has the lock")
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return lock.release()
	}
	begin := time.Now()
	e, err := Open(ctx, Options{DataDir: dir})
	if err != nil {
		return err
	}
	ready := time.Since(begin)
	if strings.HasPrefix(role, "work") && e.Role() == RoleOwner {
		o := WorkerOptions{TaskQueue: testQueue}
		if role == "work-nocache" {
			o.StickyCache = NoStickyCache
		}
		if _, err := e.StartWorker(registerTestWork, o); err != nil {
			return err
		}
	}
	other := 0
	if role == "spawn" { // as a tool command that goes on while the app is closed
		cmd := exec.CommandContext(ctx, "sleep", "60")
		if err := cmd.Start(); err != nil {
			return err
		}
		other = cmd.Process.Pid
	}
	fmt.Println("ready", e.Role(), ready.Milliseconds(), other)
	_, _ = io.Copy(io.Discard, os.Stdin)
	begin = time.Now()
	err = e.Close(ctx)
	fmt.Println("closed", time.Since(begin).Milliseconds())
	return err
}

// child is another process of the app.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Scanner
	ended bool
	// ready is what it said when it was: role, milliseconds, id of a process
	// that it started.
	ready string
}

// startChild starts one and waits until it is ready.
func startChild(t testing.TB, role, dir string) *child {
	t.Helper()
	c := launchChild(t, role, dir)
	c.ready = c.line()
	if !strings.HasPrefix(c.ready, "ready") {
		t.Fatalf("child %s: %s", role, c.ready)
	}
	return c
}

// launchChild starts one and does not wait.
func launchChild(t testing.TB, role, dir string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), self)}
	c.cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir)
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

func (c *child) line() string {
	if !c.out.Scan() {
		return "(no output)"
	}
	return c.out.Text()
}

// kill ends the process without a chance to clean up.
func (c *child) kill() {
	if c.ended {
		return
	}
	c.ended = true
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// quit lets the process close its engine and end.
func (c *child) quit() {
	c.t.Helper()
	c.ended = true
	_ = c.stdin.Close()
	for c.out.Scan() { // to the end
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("child: %v", err)
	}
}
