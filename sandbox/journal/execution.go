//go:build unix

package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/oserr"
	"temporal-sandbox-agent/sandbox/internal/proctree"
)

// execution is one command in a holder: claimed, started, waited for and
// recorded.
type execution struct {
	request
	cmd    *exec.Cmd
	output *pump
	// terminal is the holder's side of the command's terminal, slave the other.
	terminal, slave *os.File
	timer           *time.Timer   // nil without a timeout
	timedOut        chan struct{} // closed when all is killed because the time was up
}

func (x *execution) file(name string) string { return filepath.Join(x.Folder, name) }

// start claims the execution and starts its command. fresh is false when
// somebody else has claimed it. After an error it is as if it never was.
func (x *execution) start(ctx context.Context) (fresh bool, err error) {
	won, err := x.claim()
	if err != nil || !won {
		return false, err
	}
	defer func() {
		if err != nil {
			// Nothing has run, so that it can be started again.
			x.closeTerminal()
			if x.output != nil {
				_ = x.output.dst.Close() // nothing was written
			}
			err = errors.Join(err, os.Remove(x.file(fileClaim)))
		}
	}()
	if err := x.prepare(); err != nil {
		return false, err
	}
	if x.toldToEnd() {
		return true, nil
	}
	if err := x.launch(); err != nil {
		return false, err
	}
	line := fmt.Sprintf("%d %d\n", x.cmd.Process.Pid, proctree.StartOf(x.cmd.Process.Pid))
	if err := os.WriteFile(x.file(fileLeader), []byte(line), 0o600); err != nil {
		// It runs, and can be found by its marker alone.
		fmt.Fprintf(os.Stderr, "command %s: %v\n", x.ID, err)
	}
	if x.toldToEnd() {
		x.kill(ctx)
	}
	if x.Timeout > 0 {
		x.timedOut = make(chan struct{})
		x.timer = time.AfterFunc(x.Timeout, func() {
			defer close(x.timedOut)
			if err := os.WriteFile(x.file(fileTimedOut), nil, 0o600); err != nil {
				fmt.Fprintf(os.Stderr, "command %s: %v\n", x.ID, err)
			}
			x.kill(ctx)
		})
	}
	return true, nil
}

// claim makes the execution this process's, unless it is somebody's already.
func (x *execution) claim() (won bool, err error) {
	if err := os.Mkdir(x.Folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return false, err
	}
	uptime, err := proctree.Uptime()
	if err != nil {
		uptime = -1
	}
	c := claim{
		nonce: x.Nonce, runner: os.Getpid(), start: proctree.StartOf(os.Getpid()),
		boot: proctree.BootID(), uptime: uptime, wall: time.Now(),
	}
	draft := x.file(fileClaim + "." + x.Nonce)
	if err := os.WriteFile(draft, []byte(c.line()), 0o600); err != nil {
		return false, err
	}
	// A link appears as a whole or not at all, and only if there is none.
	err = os.Link(draft, x.file(fileClaim))
	if errors.Is(err, os.ErrExist) {
		return false, os.Remove(draft)
	}
	return err == nil, errors.Join(err, os.Remove(draft))
}

// prepare makes the other files, and has the claim on disk: after a power
// failure it is there, or the command was never started.
func (x *execution) prepare() error {
	if err := os.WriteFile(x.file(fileCommand), []byte(x.Command), 0o600); err != nil {
		return err
	}
	blank := fmt.Sprintf("%*s\n", recordSize-1, "")
	if err := os.WriteFile(x.file(fileExitDraft), []byte(blank), 0o600); err != nil {
		return err
	}
	out, err := os.OpenFile(x.file(fileOut), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	x.output = &pump{dst: out, left: x.OutputCap}
	for _, name := range []string{x.file(fileClaim), x.Folder, filepath.Dir(x.Folder)} {
		if err := syncFile(name); err != nil {
			return err
		}
	}
	return nil
}

func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// toldToEnd tells whether somebody wants the command dead. Whoever does writes
// that down and then looks for what runs; the command is started and then
// looks here: one sees the other.
func (x *execution) toldToEnd() bool {
	_, err := os.Lstat(x.file(fileKilled))
	return err == nil
}

// maxArgument is how long a command may be to be given as an argument: the
// system's limit is 128 KiB for one.
const maxArgument = 100_000

func (x *execution) launch() error {
	cmd := exec.Command(x.Shell, "-c", x.Command)
	if len(x.Command) > maxArgument {
		cmd = exec.Command(x.Shell, "-c", `. "$0"`, x.file(fileCommand))
	}
	cmd.Dir, cmd.Env = x.Dir, x.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if x.TTY {
		return x.launchInTerminal(cmd)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = write, write
	err = errors.Join(cmd.Start(), write.Close())
	if err != nil {
		return errors.Join(err, read.Close())
	}
	x.cmd = cmd
	x.output.start(read)
	return nil
}

func (x *execution) launchInTerminal(cmd *exec.Cmd) (err error) {
	if x.terminal, x.slave, err = pty.Open(); err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	if x.Rows > 0 && x.Cols > 0 {
		if err := pty.Setsize(x.terminal, &pty.Winsize{Rows: x.Rows, Cols: x.Cols}); err != nil {
			return fmt.Errorf("set the size of the terminal: %w", err)
		}
	}
	if err := os.WriteFile(x.file(fileTerminal), []byte(x.slave.Name()+"\n"), 0o600); err != nil {
		return err
	}
	if err := unix.Mkfifo(x.file(fileInput), 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	// Opened for both, it never ends while writers come and go.
	input, err := os.OpenFile(x.file(fileInput), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.slave, x.slave, x.slave
	cmd.SysProcAttr.Setctty = true
	if err := cmd.Start(); err != nil {
		return errors.Join(err, input.Close())
	}
	x.cmd = cmd
	x.output.input = input
	x.output.start(x.terminal)
	return nil
}

func (x *execution) closeTerminal() {
	for _, f := range []*os.File{x.terminal, x.slave} {
		if f != nil {
			_ = f.Close() // closed before, or not in use
		}
	}
}

// killTime bounds how long the killing waits for the last process to die.
const killTime = 10 * time.Second

func (x *execution) kill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, killTime)
	defer cancel()
	target := proctree.Target{
		Leader: x.cmd.Process.Pid, LeaderStart: proctree.StartOf(x.cmd.Process.Pid),
		Marker: proctree.Mark(proctree.CallVariable, x.ID),
	}
	if err := proctree.Kill(ctx, target); err != nil {
		fmt.Fprintf(os.Stderr, "command %s: kill: %v\n", x.ID, err)
	}
}

// finish waits for the command and records its end, after all that it wrote.
func (x *execution) finish() error {
	r := record{code: 128 + int(syscall.SIGKILL), signal: "SIGKILL", killed: true}
	if x.cmd != nil {
		r = x.wait()
	}
	uptime, err := proctree.Uptime()
	if err != nil {
		uptime = -1
	}
	r.uptime = uptime
	draft, err := os.OpenFile(x.file(fileExitDraft), os.O_WRONLY, 0) // its place is kept: see fileExitDraft
	if err != nil {
		return err
	}
	_, err = draft.WriteString(r.line())
	if err := errors.Join(err, draft.Close()); err != nil {
		return err
	}
	return os.Rename(x.file(fileExitDraft), x.file(fileExit))
}

func (x *execution) wait() record {
	_ = x.cmd.Wait() // a code other than zero is an error there
	if x.timer != nil && !x.timer.Stop() {
		<-x.timedOut
	}
	if x.slave != nil {
		_ = x.slave.Close() // so that the output can end
	}
	cut := x.output.drain()
	r := record{code: x.cmd.ProcessState.ExitCode(), cut: cut}
	if status, ok := x.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.code, r.signal = 128+int(status.Signal()), unix.SignalName(status.Signal())
		if status.Signal() == syscall.SIGKILL {
			_, err := os.Lstat(x.file(fileTimedOut))
			r.timedOut = err == nil
			r.killed = x.toldToEnd()
		}
	}
	return r
}

// drainRest takes the output of what the command left running, until that ends.
func (x *execution) drainRest() {
	if x.cmd != nil {
		x.output.finish()
	} else if x.output != nil {
		_ = x.output.dst.Close()
	}
	x.closeTerminal()
}

// kindOf classifies what kept a command from starting.
func kindOf(err error) sandbox.Kind { return oserr.Kind(err) }
