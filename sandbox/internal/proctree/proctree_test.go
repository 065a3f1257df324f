//go:build linux

package proctree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start runs a shell command in a session of its own and returns it, and the
// numbers that it prints, one a line, up to a line "ready".
func start(t *testing.T, env []string, command string) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pid := 0
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		pids = append(pids, pid)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return cmd, pids
}

const escapees = `
	trap '' TERM HUP
	echo $$
	setsid sh -c 'trap "" TERM HUP; echo $$; exec sleep 1000' &
	(setsid sh -c '(echo $(exec sh -c "echo \$PPID"); exec sleep 1001) &') 
	env -i PATH="$PATH" setsid sh -c 'echo $$; exec sleep 1002' &
	sleep 0.3
	echo ready
	while :; do sleep 1000; done`

func TestKillFindsWhatLeft(t *testing.T) {
	other, _ := start(t, []string{Mark(CallVariable, "mine-too")}, "echo ready; sleep 1000")
	cmd, pids := start(t, []string{Mark(CallVariable, "mine")}, escapees)
	if len(pids) != 4 {
		t.Fatalf("the tree is %v", pids)
	}
	for _, pid := range pids {
		if !Alive(pid, 0) {
			t.Fatalf("%d of %v is not alive", pid, pids)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := Kill(ctx, Target{Leader: cmd.Process.Pid, LeaderStart: StartOf(cmd.Process.Pid), Marker: Mark(CallVariable, "mine")}); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if Alive(pid, 0) {
			t.Errorf("%d of %v is alive", pid, pids)
		}
	}
	if !Alive(other.Process.Pid, 0) {
		t.Error("another command, whose mark begins with the same text, was killed")
	}
	if err := Kill(ctx, Target{Marker: Mark(CallVariable, "mine")}); err != nil {
		t.Errorf("killing what is dead: %v", err)
	}
}

// Without a leader, the mark alone finds the processes, and their descendants
// that wiped it.
func TestKillByMark(t *testing.T) {
	_, pids := start(t, []string{Mark(SandboxVariable, "box")}, escapees)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := Kill(ctx, Target{Marker: Mark(SandboxVariable, "box")}); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if Alive(pid, 0) {
			t.Errorf("%d of %v is alive", pid, pids)
		}
	}
}

// A number that now belongs to a later process is left alone.
func TestKillSparesReusedNumber(t *testing.T) {
	cmd, _ := start(t, nil, "echo ready; sleep 1000")
	pid := cmd.Process.Pid
	if err := Kill(t.Context(), Target{Leader: pid, LeaderStart: StartOf(pid) + 1}); err != nil {
		t.Fatal(err)
	}
	if !Alive(pid, StartOf(pid)) {
		t.Error("it was killed")
	}
	if Alive(pid, StartOf(pid)+1) || Alive(0, 0) || Alive(-1, 0) {
		t.Error("what is not there counts as alive")
	}
}

func TestKillEndsWithContext(t *testing.T) {
	// A process that forks for ever can outrun the killing only if it is not
	// found; so a context that is over is given for one that lives.
	cmd, _ := start(t, nil, "echo ready; sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Kill(ctx, Target{Leader: cmd.Process.Pid, LeaderStart: StartOf(cmd.Process.Pid)})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestReadOddName(t *testing.T) {
	// The name of a process may look like the rest of its line.
	cmd, _ := start(t, nil, "printf 'x) Z 1 (' >/proc/self/comm; printf 'x) Z 1 (' >/proc/$$/comm; echo ready; sleep 1000; :")
	p, ok := read(cmd.Process.Pid)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
	if err != nil || !strings.Contains(string(name), ") Z") {
		t.Fatalf("the name is %q, %v", name, err)
	}
	if !ok || p.Dead || p.Parent != os.Getpid() || p.Session != cmd.Process.Pid {
		t.Errorf("%+v, %v", p, ok)
	}
}

func TestZombieIsNotAlive(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); Alive(cmd.Process.Pid, 0); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process that ended counts as alive")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
