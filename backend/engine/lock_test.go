package engine

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestKilledOwnerIsReplaced(t *testing.T) {
	dir := t.TempDir()
	owner := startChild(t, "work", dir)
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if e.Role() != RoleAttached || e.OwnerPID() != owner.cmd.Process.Pid {
		t.Fatalf("role %s, owner %d", e.Role(), e.OwnerPID())
	}
	run := start(t, e.Client(), "wait", "Wait")

	owner.kill()
	killed := time.Now()
	select {
	case <-e.OwnerGone():
	case <-time.After(15 * time.Second):
		t.Fatal("not told that the owner is gone")
	}
	told := time.Since(killed)
	if told > 12*time.Second {
		t.Errorf("told after %s, want about %s", told, ownerPoll)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = testEngine(t, dir)
	if e.Role() != RoleOwner {
		t.Fatalf("role after the owner was killed: %s", e.Role())
	}
	testWorker(t, e)
	if err := e.Client().SignalWorkflow(t.Context(), run.GetID(), "", "go", "on"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, e.Client().GetWorkflow(t.Context(), run.GetID(), ""), 10*time.Second); got != "on" {
		t.Errorf("got %q", got)
	}
	t.Logf("told after %s, went on after %s", told, time.Since(killed))
}

func TestOwnerThatQuitsIsNoticed(t *testing.T) {
	dir := t.TempDir()
	owner := startChild(t, "own", dir)
	e := testEngine(t, dir)
	select {
	case <-e.OwnerGone():
		t.Fatal("told that the owner is gone while it is there")
	case <-time.After(3 * ownerPoll):
	}
	owner.quit()
	select {
	case <-e.OwnerGone():
	case <-time.After(15 * time.Second):
		t.Fatal("not told that the owner is gone")
	}
}

// A new owner may be there before the attached process looks at the lock.
func TestChangeOfOwnerIsNoticed(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	e := testEngine(t, dir)
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := testEngine(t, dir)
	if next.Role() != RoleOwner {
		t.Fatalf("role %s", next.Role())
	}
	select {
	case <-e.OwnerGone():
	case <-time.After(15 * time.Second):
		t.Fatal("not told of the new owner")
	}
}

// A command that the killed owner had started lives on. It must not hold the
// folder.
func TestChildrenDoNotHoldTheFolder(t *testing.T) {
	dir := t.TempDir()
	owner := startChild(t, "spawn", dir)
	pid, err := strconv.Atoi(strings.Fields(owner.ready)[3])
	if err != nil || pid == 0 {
		t.Fatalf("%q", owner.ready)
	}
	orphan, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = orphan.Kill() })
	owner.kill()
	if err := orphan.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the command is gone: the test is blind: %v", err)
	}
	e, err := Open(t.Context(), Options{DataDir: dir, Wait: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if e.Role() != RoleOwner {
		t.Errorf("role %s", e.Role())
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOnlyOneOfManyOwns(t *testing.T) {
	dir := t.TempDir()
	const processes, opens = 2, 3
	var wg sync.WaitGroup
	var mu sync.Mutex
	owners := 0
	for range processes {
		c := launchChild(t, "own", dir)
		wg.Go(func() {
			line := c.line()
			if !strings.HasPrefix(line, "ready") {
				t.Errorf("child: %s", line)
			}
			if strings.Contains(line, string(RoleOwner)) {
				mu.Lock()
				owners++
				mu.Unlock()
			}
		})
	}
	for range opens {
		wg.Go(func() {
			e, err := Open(t.Context(), Options{DataDir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = e.Close(context.WithoutCancel(t.Context())) })
			if e.Role() == RoleOwner {
				mu.Lock()
				owners++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if owners != 1 {
		t.Errorf("%d owners, want 1", owners)
	}
}

func TestStaleRuntimeFileDoesNotConfuse(t *testing.T) {
	dir := t.TempDir()
	owner := startChild(t, "own", dir)
	stale, err := readRuntime(paths{dir: dir + "/" + folderName})
	if err != nil {
		t.Fatal(err)
	}
	owner.kill()
	// Something else listens where the engine was.
	l, err := net.Listen("tcp", stale.Frontend)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()

	t.Run("nobody holds the folder", func(t *testing.T) {
		e := testEngine(t, dir)
		if e.Role() != RoleOwner {
			t.Errorf("role %s", e.Role())
		}
	})
	t.Run("somebody is starting", func(t *testing.T) {
		p := paths{dir: dir + "/" + folderName}
		if err := stale.write(p); err != nil {
			t.Fatal(err)
		}
		c := startChild(t, "lock", dir)
		type opening struct {
			role  Role
			owned time.Time
			err   error
		}
		opened := make(chan opening, 1)
		go func() {
			e, err := Open(t.Context(), Options{DataDir: dir})
			if err != nil {
				opened <- opening{err: err}
				return
			}
			opened <- opening{role: e.Role(), owned: e.owned, err: e.Close(t.Context())}
		}()
		select {
		case o := <-opened:
			t.Fatalf("did not wait: %+v", o)
		case <-time.After(500 * time.Millisecond):
		}
		released := time.Now()
		c.quit()
		select {
		case o := <-opened:
			if o.err != nil || o.role != RoleOwner {
				t.Errorf("%+v", o)
			}
			// What was started while it waited was not started by it.
			if o.owned.Before(released) {
				t.Error("counts the time that it waited as its own")
			}
		case <-time.After(10 * time.Second):
			t.Error("still waiting")
		}
	})
}

func TestFolderThatIsHeldTooLong(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "lock", dir)
	begin := time.Now()
	_, err := Open(t.Context(), Options{DataDir: dir, Wait: 200 * time.Millisecond})
	var busy *BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v, want a BusyError that names the folder", err)
	}
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, Options{DataDir: dir}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	c.quit()
}

func TestRuntimeFileOfAnotherVersionIsNotRead(t *testing.T) {
	p := paths{dir: t.TempDir()}
	for _, content := range []string{`{"format": 99}`, `{`, ``, `[]`} {
		if err := os.WriteFile(p.runtime(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := readRuntime(p); err == nil {
			t.Errorf("%q was read as %v", content, r)
		}
	}
}
