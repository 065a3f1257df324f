//go:build linux

// Package dockertest gives tests a Docker engine and small images.
package dockertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/gofrs/flock"
)

// startTime bounds the start of an engine on a busy machine.
const startTime = 2 * time.Minute

// Host returns where an engine listens, as DOCKER_HOST has it: one that is
// there (at DOCKER_HOST or the usual socket), or else one that is started for
// this test binary, which needs root and dockerd, and ends with it. Without
// either the test is skipped, or fails where TSA_REQUIRE_ALL is set.
func Host(t testing.TB) string {
	t.Helper()
	for _, host := range []string{os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock"} {
		if host != "" && answers(t.Context(), host) {
			return host
		}
	}
	program := daemon(t)
	// All packages' tests run at once, each in a process of its own; this one's
	// tests share one engine. What is known of it is on the disk, under the
	// number of the process.
	dir := filepath.Join(os.TempDir(), "tsa-dockerd-"+strconv.Itoa(os.Getpid()))
	lock := flock.New(dir + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = lock.Unlock()            // the file is only a lock
		_ = os.Remove(dir + ".lock") // likewise
	}()
	host := "unix://" + filepath.Join(dir, "s")
	if answers(t.Context(), host) {
		return host
	}
	if _, err := start(t, program, dir, true); err != nil {
		t.Fatalf("dockerd does not start: %v", err)
	}
	return host
}

// Engine is an engine of a test's own, which can be stopped and started.
type Engine struct {
	Host string

	dir, program string
	cmd          *exec.Cmd
}

// Start starts an engine for one test; it ends with the test. It is skipped as
// Host's.
func Start(t testing.TB) *Engine {
	t.Helper()
	// Short: the names of sockets are limited.
	dir, err := os.MkdirTemp("", "tsad")
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Host: "unix://" + filepath.Join(dir, "s"), dir: dir, program: daemon(t)}
	t.Cleanup(func() {
		e.Stop(t)
		unmount(dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clear up after dockerd: %v", err)
		}
	})
	e.Restart(t)
	return e
}

// Restart starts it again after Stop.
func (e *Engine) Restart(t testing.TB) {
	t.Helper()
	cmd, err := start(t, e.program, e.dir, false)
	if err != nil {
		t.Fatalf("dockerd does not start: %v", err)
	}
	e.cmd = cmd
}

// Stop stops it as the system does at its end, with the containers.
func (e *Engine) Stop(t testing.TB) {
	t.Helper()
	if e.cmd == nil {
		return
	}
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("stop dockerd: %v", err)
	}
	_ = e.cmd.Wait() // its code says nothing
	e.cmd = nil
}

// daemon finds dockerd.
func daemon(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("dockerd")
	if err != nil {
		program = "/usr/sbin/dockerd"
		_, err = os.Stat(program)
	}
	why := ""
	switch {
	case err != nil:
		why = "there is no Docker engine and no dockerd: run build/setup.sh test"
	case os.Getuid() != 0:
		why = "there is no Docker engine, and only root can start one: start one, and set DOCKER_HOST"
	default:
		return program
	}
	if os.Getenv("TSA_REQUIRE_ALL") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// start starts dockerd and waits until it answers. With leave it ends when this
// process does, however that ends, and is not waited for.
func start(t testing.TB, program, dir string, leave bool) (*exec.Cmd, error) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	host := "unix://" + filepath.Join(dir, "s")
	args := []string{
		"--host", host, "--data-root", filepath.Join(dir, "d"), "--exec-root", filepath.Join(dir, "x"), "--pidfile", filepath.Join(dir, "pid"),
		// What needs nothing of the system, and leaves nothing in it.
		"--storage-driver", "vfs", "--bridge", "none", "--iptables=false", "--ip6tables=false",
	}
	said, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer said.Close()
	// Not the test's context: it has ended when the engine is stopped.
	ctx := context.WithoutCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, args...)
	if leave {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer read.Close()
		// Nobody closes this end but the system, when the process is gone. The
		// file would be closed as soon as nothing here knows it any more.
		held, err := syscall.Dup(int(write.Fd()))
		if err != nil {
			return nil, err
		}
		syscall.CloseOnExec(held)
		if err := write.Close(); err != nil {
			return nil, err
		}
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", watchdog, dir, program}, args...)...)
		cmd.Stdin = read
	}
	cmd.Stdout, cmd.Stderr = said, said
	// Its own group: what ends the tests from a terminal must not end it before
	// it has cleared up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(startTime); !answers(ctx, host); time.Sleep(20 * time.Millisecond) {
		if cmd.ProcessState == nil && syscall.Kill(cmd.Process.Pid, 0) != nil || time.Now().After(end) {
			text, _ := os.ReadFile(filepath.Join(dir, "log")) // it is only said
			return nil, errors.Join(errors.New("it does not answer"), fmt.Errorf("it said: %s", tail(string(text))), cmd.Process.Kill())
		}
	}
	return cmd, nil
}

// watchdog runs the engine until its input ends, and clears up.
const watchdog = `
	dir=$0
	"$@" </dev/null &
	pid=$!
	read -r _
	kill -TERM "$pid"
	n=0
	while kill -0 "$pid" 2>/dev/null && [ "$n" -lt 300 ]; do sleep 0.1; n=$((n + 1)); done
	kill -KILL "$pid" 2>/dev/null
	awk -v d="$dir/" 'index($2, d) == 1 {print $2}' /proc/self/mounts | sort -r | while read -r m; do umount "$m"; done
	rm -rf "$dir"`

// unmount takes down what dockerd may have left mounted below a folder.
func unmount(dir string) {
	mounts, _ := os.ReadFile("/proc/self/mounts") // without it there is nothing to do
	lines := strings.Split(string(mounts), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if f := strings.Fields(lines[i]); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			_ = syscall.Unmount(f[1], syscall.MNT_DETACH) // the removal of the folder tells
		}
	}
}

func tail(text string) string { return text[max(len(text)-2000, 0):] }

// answers tells whether an engine answers at a place.
func answers(ctx context.Context, host string) bool {
	if path, ok := strings.CutPrefix(host, "unix://"); ok {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
		if err != nil {
			return false
		}
		_ = conn.Close() // it was only tried
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	engine, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		return false
	}
	defer engine.Close()
	_, err = engine.ServerVersion(ctx)
	return err == nil
}
