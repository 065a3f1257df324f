package engine

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/server/common/log/tag"
)

func TestWorkflowWithActivityRuns(t *testing.T) {
	e := testEngine(t, t.TempDir())
	testWorker(t, e)
	if got := result(t, start(t, e.Client(), "chain", "Chain", 3), 10*time.Second); got != "echo" {
		t.Errorf("got %q", got)
	}
	if e.Role() != RoleOwner || len(e.Notices()) != 0 || e.FailedWith() != nil {
		t.Errorf("role %s, notices %v, failure %v", e.Role(), e.Notices(), e.FailedWith())
	}
}

func TestWorkflowRunsWithoutStickyCache(t *testing.T) {
	// The cache belongs to the process, so this needs one of its own.
	dir := t.TempDir()
	c := startChild(t, "work-nocache", dir)
	e := testEngine(t, dir)
	run := start(t, e.Client(), "chain", "Chain", 5)
	if got := result(t, run, 10*time.Second); got != "echo" {
		t.Errorf("got %q", got)
	}
	c.quit()
}

func TestSecondOpenAttaches(t *testing.T) {
	dir := t.TempDir()
	owner := testEngine(t, dir)
	testWorker(t, owner)
	second := testEngine(t, dir)
	if second.Role() != RoleAttached || second.OwnerPID() != os.Getpid() {
		t.Fatalf("role %s, owner %d", second.Role(), second.OwnerPID())
	}
	if got := result(t, start(t, second.Client(), "chain", "Chain", 1), 10*time.Second); got != "echo" {
		t.Errorf("got %q", got)
	}
	if _, err := second.Reap(t.Context()); !errors.Is(err, ErrNotOwner) {
		t.Errorf("reap by an attached process: %v", err)
	}
	if _, err := second.StartWorker(registerTestWork, WorkerOptions{TaskQueue: testQueue}); !errors.Is(err, ErrNotOwner) {
		t.Errorf("worker of an attached process: %v", err)
	}

	if got := second.EventsAddress(); got != "" {
		t.Errorf("events address before it is set: %q", got)
	}
	if err := second.SetEventsAddress("127.0.0.1:1"); !errors.Is(err, ErrNotOwner) {
		t.Errorf("events address set by an attached process: %v", err)
	}
	if err := owner.SetEventsAddress("127.0.0.1:2"); err != nil {
		t.Fatal(err)
	}
	if got := second.EventsAddress(); got != "127.0.0.1:2" {
		t.Errorf("events address: %q", got)
	}
	if a, b := owner.Secret("events"), second.Secret("events"); a != b || a == owner.Secret("other") || len(a) != 64 {
		t.Errorf("secrets: %q %q", a, b)
	}
}

func TestRunningWorkflowSurvivesRestart(t *testing.T) {
	// A folder name that SQLite's URIs could misread.
	dir := filepath.Join(t.TempDir(), "a b%20?#ü")
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	testWorker(t, e)
	run := start(t, e.Client(), "wait", "Wait")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(dir, folderName, databaseName)); err != nil || fi.Size() < 100<<10 {
		t.Fatalf("the database is not where it should be: %v", err)
	}

	e = testEngine(t, dir)
	testWorker(t, e)
	if err := e.Client().SignalWorkflow(t.Context(), run.GetID(), "", "go", "on"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, e.Client().GetWorkflow(t.Context(), run.GetID(), run.GetRunID()), 10*time.Second); got != "on" {
		t.Errorf("got %q", got)
	}
	if len(e.Notices()) != 0 {
		t.Errorf("notices: %v", e.Notices())
	}
}

func TestCloseIsQuick(t *testing.T) {
	e, err := Open(t.Context(), Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	testWorker(t, e)
	// What holds up a stop: a client that waits for a result, an activity that
	// runs, and another process's client that waits.
	run := start(t, e.Client(), "block", "Block", time.Hour)
	other, err := Open(t.Context(), Options{DataDir: e.opts.DataDir})
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- other.Client().GetWorkflow(t.Context(), run.GetID(), "").Get(t.Context(), nil) }()
	time.Sleep(300 * time.Millisecond)

	begin := time.Now()
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	// It takes 30 to 100 ms on a quiet machine; left alone the front end waits
	// a second for what is under way.
	if took := time.Since(begin); took > 800*time.Millisecond {
		t.Errorf("close took %s", took)
	} else {
		t.Logf("close took %s", took)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := e.StartWorker(registerTestWork, WorkerOptions{TaskQueue: testQueue}); !errors.Is(err, ErrClosed) {
		t.Errorf("start a worker after close: %v", err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-waiting; err == nil {
		t.Error("the waiting client got a result")
	}
}

func TestCloseHeedsItsContext(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// What is left goes on, and gives the folder back.
	if next := testEngine(t, dir); next.Role() != RoleOwner {
		t.Errorf("role %s", next.Role())
	}
}

// The server leaves goroutines behind when it stops; they must sleep.
func TestClosedEngineIsSilent(t *testing.T) {
	e, err := Open(t.Context(), Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	result(t, runChain(t, e), 10*time.Second)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	before := cpuTime(t)
	time.Sleep(time.Second)
	if used := cpuTime(t) - before; used > 100*time.Millisecond {
		t.Errorf("a closed engine used %s of a second", used)
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	e := testEngine(t, t.TempDir())
	if _, err := e.StartDevUI(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for addr, port := range listening(t) {
		if !addr.IsLoopback() {
			t.Errorf("listens on %s:%d", addr, port)
		}
		found[port] = true
	}
	for _, p := range []int{e.server.ports.frontend, e.server.ports.history, e.server.ports.matching} {
		if !found[p] {
			t.Errorf("port %d is not among those seen (%v): the check is blind", p, found)
		}
	}
	if len(found) < 4 {
		t.Errorf("the web UI's port is not among those seen (%v): the check is blind", found)
	}
}

// listening yields what this process listens on, as the kernel tells.
func listening(t *testing.T) func(func(net.IP, int) bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	own := map[string]bool{}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if l, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
			if inode, ok := strings.CutPrefix(l, "socket:["); ok {
				own[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	return func(yield func(net.IP, int) bool) {
		for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
			b, err := os.ReadFile(table)
			if err != nil {
				continue
			}
			for _, line := range strings.Split(string(b), "\n")[1:] {
				f := strings.Fields(line)
				if len(f) < 10 || f[3] != "0A" || !own[f[9]] {
					continue
				}
				host, port, _ := strings.Cut(f[1], ":")
				n, _ := strconv.ParseInt(port, 16, 32)
				if !yield(kernelIP(host), int(n)) {
					return
				}
			}
		}
	}
}

// kernelIP reads an address as /proc writes it: words of the machine's order.
func kernelIP(s string) net.IP {
	var ip net.IP
	for ; len(s) >= 8; s = s[8:] {
		w, _ := strconv.ParseUint(s[:8], 16, 32)
		ip = append(ip, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return ip
}

func TestAnotherPortIsTriedWhenOneWasTaken(t *testing.T) {
	for _, service := range []string{"frontend", "history", "matching"} {
		t.Run(service, func(t *testing.T) {
			busy, err := net.Listen("tcp", address(0))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = busy.Close() }()
			tries := 0
			e, err := Open(t.Context(), Options{DataDir: t.TempDir(), pick: func(ctx context.Context) (ports, error) {
				p, err := freePorts(ctx)
				if tries++; tries == 1 {
					taken := busy.Addr().(*net.TCPAddr).Port
					switch service {
					case "frontend":
						p.frontend = taken
					case "history":
						p.history = taken
					default:
						p.matching = taken
					}
				}
				return p, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.Close(t.Context()) }()
			if tries != 2 {
				t.Errorf("%d tries, want 2", tries)
			}
			testWorker(t, e)
			if got := result(t, start(t, e.Client(), "chain", "Chain", 1), 10*time.Second); got != "echo" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestNoFreePortIsAnError(t *testing.T) {
	busy, err := net.Listen("tcp", address(0))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	dir := t.TempDir()
	_, err = Open(t.Context(), Options{DataDir: dir, pick: func(ctx context.Context) (ports, error) {
		p, err := freePorts(ctx)
		p.history = busy.Addr().(*net.TCPAddr).Port
		return p, err
	}})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Fatalf("got %v", err)
	}
	// The folder is free again.
	if e := testEngine(t, dir); e.Role() != RoleOwner {
		t.Errorf("role %s", e.Role())
	}
}

func TestServersFatalDoesNotEndTheProcess(t *testing.T) {
	f := newFailure()
	var buf strings.Builder
	l := serverLog{to: slog.New(slog.NewTextHandler(&buf, nil)), fatal: f.report}
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.With(tag.Port(7)).Fatal("can't go on", tag.Error(errors.New("because")))
		returned = true
	}()
	<-done
	<-f.set
	l.Debug("not this")
	if returned || f.err == nil || f.err.Error() != "can't go on: because" ||
		!strings.Contains(buf.String(), `level=ERROR msg="can't go on" port=7 error=because`) || strings.Contains(buf.String(), "not this") {
		t.Errorf("returned %v, reported %v, logged %q", returned, f.err, buf.String())
	}
}

func TestWorkerNeedsATaskQueue(t *testing.T) {
	if _, err := StartWorker(nil, func(worker.Registry) {}, WorkerOptions{}); err == nil {
		t.Error("no error")
	}
}

func TestCancelReachesAnActivityAtOnce(t *testing.T) {
	e := testEngine(t, t.TempDir())
	// With a heartbeat timeout of 30 seconds, this is a heartbeat every 24.
	if _, err := e.StartWorker(registerTestWork, WorkerOptions{TaskQueue: testQueue, heartbeats: time.Minute}); err != nil {
		t.Fatal(err)
	}
	run := start(t, e.Client(), "block", "Block", 30*time.Second)
	waitForActivity(t, e.Client(), run)
	// The worker learns how it is told of cancels with its first heartbeat to
	// the server; ask it when that is through, as a user would.
	time.Sleep(time.Second)
	begin := time.Now()
	if err := e.Client().SignalWorkflow(t.Context(), run.GetID(), "", "stop", nil); err != nil {
		t.Fatal(err)
	}
	when, err := time.Parse(time.RFC3339Nano, result(t, run, 28*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	// By heartbeats alone it would be about 23 seconds; a busy machine takes its
	// time for a push, too.
	if took := when.Sub(begin); took > 12*time.Second {
		t.Errorf("the activity was told after %s, want at most 12s", took)
	} else {
		t.Logf("the activity was told after %s", took)
	}
}

// waitForActivity waits until a workflow's activity has started.
func waitForActivity(t testing.TB, c client.Client, run client.WorkflowRun) {
	t.Helper()
	eventually(t, 10*time.Second, "the activity starts", func() bool {
		d, err := c.DescribeWorkflowExecution(t.Context(), run.GetID(), run.GetRunID())
		return err == nil && len(d.GetPendingActivities()) == 1 && d.GetPendingActivities()[0].GetLastStartedTime() != nil
	})
}
