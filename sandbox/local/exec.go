//go:build unix

package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/outpipe"
	"temporal-sandbox-agent/sandbox/internal/proctree"
)

// killTime bounds how long an ended Exec waits for the last process to die.
const killTime = 10 * time.Second

// Exec implements sandbox.Sandbox. When ctx ends, its error is returned. What
// the command left running in the background is left alone; it can't write any
// more.
func (s *Sandbox) Exec(ctx context.Context, c sandbox.Cmd) (sandbox.Result, error) {
	const op = "run command"
	if len(c.Args) == 0 {
		return sandbox.Result{}, fail(sandbox.KindInvalid, op, "no program is named")
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, err
	}
	dir, err := s.workDir(c.Dir)
	if err != nil {
		return sandbox.Result{}, err
	}
	mark := proctree.Mark(proctree.CallVariable, "exec-"+rand.Text())
	env := append(s.environ(c.Env, false), "PWD="+dir, mark)
	program, err := findProgram(c.Args[0], lookup(env, "PATH"), dir)
	if err != nil {
		return sandbox.Result{}, wrap(op, err)
	}
	r := &run{
		cmd:  &exec.Cmd{Path: program, Args: c.Args, Dir: dir, Env: env, SysProcAttr: &syscall.SysProcAttr{Setsid: true}},
		mark: mark,
	}
	started := time.Now()
	if err := r.start(c); err != nil {
		return sandbox.Result{}, wrap(op, err)
	}
	timedOut, err := r.wait(ctx, c.Timeout)
	result := sandbox.Result{ExitCode: r.cmd.ProcessState.ExitCode(), TimedOut: timedOut, Duration: time.Since(started)}
	if status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		result.ExitCode, result.Signal = 128+int(status.Signal()), unix.SignalName(status.Signal())
	}
	return result, err
}

// findProgram finds a program as a shell would: by the PATH that the command
// gets, not by the app's.
func findProgram(program, path, dir string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil // exec.Cmd takes it relative to its Dir
	}
	found := error(&fs.PathError{Op: "find program", Path: program, Err: fs.ErrNotExist})
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		candidate := filepath.Join(folder, program)
		info, err := os.Stat(candidate)
		if err != nil || info.IsDir() {
			continue
		}
		if unix.Access(candidate, unix.X_OK) == nil {
			return candidate, nil
		}
		found = &fs.PathError{Op: "run", Path: candidate, Err: fs.ErrPermission}
	}
	return "", found
}

// run is one command of Exec.
type run struct {
	cmd    *exec.Cmd
	mark   string
	ours   []*os.File // our ends of its pipes
	theirs []*os.File
	copies []*outpipe.Copier
	writer []*sink
	fed    chan error // gets why its input could not be read, or nil, once it is written
	feed   *os.File
}

// source notes why it could not be read on.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// sink hands output on to a writer, until that fails.
type sink struct {
	w   io.Writer
	err error
}

func (k *sink) write(data []byte) {
	if k.err == nil {
		_, k.err = k.w.Write(data)
	}
}

func (r *run) start(c sandbox.Cmd) (err error) {
	defer func() {
		for _, f := range r.theirs {
			_ = f.Close() // the command has its own
		}
		if err != nil {
			for _, f := range r.ours {
				_ = f.Close() // nothing was read
			}
		}
	}()
	if c.Stdin != nil {
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		r.ours, r.theirs = append(r.ours, write), append(r.theirs, read)
		r.cmd.Stdin, r.feed = read, write
	}
	var outputs []*os.File
	pipe := func(w io.Writer) (*os.File, error) {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		r.ours, r.theirs = append(r.ours, read), append(r.theirs, write)
		outputs, r.writer = append(outputs, read), append(r.writer, &sink{w: w})
		return write, nil
	}
	if c.Stdout != nil {
		f, err := pipe(c.Stdout)
		if err != nil {
			return err
		}
		r.cmd.Stdout = f
	}
	switch {
	case c.Stderr == nil:
	case same(c.Stdout, c.Stderr):
		r.cmd.Stderr = r.cmd.Stdout
	default:
		f, err := pipe(c.Stderr)
		if err != nil {
			return err
		}
		r.cmd.Stderr = f
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	for i, f := range outputs {
		r.copies = append(r.copies, outpipe.Start(f, false, r.writer[i].write))
	}
	if r.feed != nil {
		r.fed = make(chan error, 1)
		go func() {
			from := &source{r: c.Stdin}
			_, _ = io.Copy(r.feed, from) // the command need not read all of it
			_ = r.feed.Close()
			r.fed <- from.err
		}()
	}
	return nil
}

// same tells whether two writers are one.
func same(a, b io.Writer) bool {
	return a != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// wait waits for the end of the command, and brings it about when ctx ends or
// its time is up.
func (r *run) wait(ctx context.Context, timeout time.Duration) (timedOut bool, err error) {
	ended := make(chan struct{})
	start := proctree.StartOf(r.cmd.Process.Pid)
	go func() {
		defer close(ended)
		_ = r.cmd.Wait() // a code other than zero is an error there
	}()
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	case <-expired:
		timedOut = true
	}
	if timedOut || err != nil {
		killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
		defer cancel()
		target := proctree.Target{Leader: r.cmd.Process.Pid, LeaderStart: start, Marker: r.mark}
		if killErr := proctree.Kill(killing, target); killErr != nil {
			err = errors.Join(err, wrap("kill command", killErr))
		}
		<-ended
		status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
		timedOut = timedOut && ok && status.Signal() == syscall.SIGKILL // it may just have ended by itself
	}
	for i, c := range r.copies {
		c.Drain()
		c.Close()
		if werr := r.writer[i].err; werr != nil && err == nil {
			err = fail(sandbox.KindTransport, "hand on output", "%w", werr)
		}
	}
	if r.feed != nil {
		_ = r.feed.Close() // nobody reads any more
		select {
		case readErr := <-r.fed:
			if readErr != nil && err == nil {
				err = fail(sandbox.KindTransport, "read input", "%w", readErr)
			}
		case <-time.After(time.Second): // its source is stuck
		}
	}
	return timedOut, err
}
