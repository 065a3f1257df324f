package docker

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"temporal-sandbox-agent/sandbox"
)

var (
	//go:embed scripts/exec.sh
	execScript string
	//go:embed scripts/kill.sh
	killScript string
)

const (
	// opRun is what Exec does, for errors.
	opRun = "run command"
	// killTime bounds the killing of a command, and the wait for the rest of its
	// output after that.
	killTime = 20 * time.Second
	// callVariable marks the processes of a command, as it does those of the
	// journal's, which so are not taken for this one's.
	callVariable = "TSA_CALL"
)

// Exec implements sandbox.Sandbox. What the command left running in the
// background is left alone. A container that was stopped is started again.
func (s *Sandbox) Exec(ctx context.Context, c sandbox.Cmd) (sandbox.Result, error) {
	return s.exec(ctx, c, s.user)
}

// exec runs a command as a user; "" is root.
func (s *Sandbox) exec(ctx context.Context, c sandbox.Cmd, user string) (sandbox.Result, error) {
	if len(c.Args) == 0 {
		return sandbox.Result{}, fail(sandbox.KindInvalid, opRun, "no program is named")
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, err
	}
	for _, arg := range append([]string{c.Dir}, c.Args...) {
		if strings.Contains(arg, "\x00") {
			return sandbox.Result{}, fail(sandbox.KindInvalid, opRun, "an argument can't hold NUL bytes")
		}
	}
	r := newRun(s, c, user)
	if err := r.start(ctx, c); err != nil {
		return sandbox.Result{}, err
	}
	return r.wait(ctx, c.Timeout)
}

// run is one command.
type run struct {
	s        *Sandbox
	user     string // "" is root
	nonce    string
	id       string // of the engine's exec
	conn     types.HijackedResponse
	outputs  string
	out, err *sink
	raw      bytes.Buffer // what came before the command began: the engine's words
	pid      atomic.Int64 // in the container; 0 until it began
	end      string       // how it ended; empty until then
	began    time.Time
	fed      chan error // gets why its input could not be read, or nil; nil without input
}

func newRun(s *Sandbox, c sandbox.Cmd, user string) *run {
	r := &run{s: s, user: user, nonce: rand.Text(), out: &sink{}, err: &sink{}, outputs: "none"}
	if c.Stdout != nil {
		r.out.write = c.Stdout.Write
		r.outputs = "out"
	}
	if c.Stderr != nil {
		switch {
		case c.Stdout == nil:
			r.outputs = "err"
		case same(c.Stdout, c.Stderr):
			r.outputs = "one"
			return r
		default:
			r.outputs = "both"
		}
		r.err.write = c.Stderr.Write
	}
	return r
}

// same tells whether two writers are one.
func same(a, b io.Writer) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

func (r *run) mark() string { return "\x01" + r.nonce + ":" }

// start starts the command and the feeding of its input.
func (r *run) start(ctx context.Context, c sandbox.Cmd) error {
	env := []string{callVariable + "=:exec-" + r.nonce + ":"}
	variables := make([]string, 0, len(c.Env))
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fail(sandbox.KindInvalid, opRun, "%q can't be a variable", name)
		}
		variables = append(variables, name+"="+value)
	}
	sort.Strings(variables)
	words, count := append([]string{r.s.workDir(c.Dir)}, c.Args...), "-"
	if text(words) && text(variables) {
		env = append(env, variables...)
	} else {
		count = strconv.Itoa(len(variables))
		words = encode(slices.Concat(words[:1], variables, words[1:]))
	}
	options := container.ExecOptions{
		User: r.user, Env: env, AttachStdin: c.Stdin != nil, AttachStdout: true, AttachStderr: true, WorkingDir: "/",
		Cmd: append([]string{"sh", "-c", execScript, "tsa", r.mark(), r.outputs, r.s.ref.Root, count}, words...),
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	made, err := r.s.engine.ContainerExecCreate(asking, r.s.ref.ID, options)
	if cerrdefs.IsConflict(err) { // it does not run: nothing was started yet
		if err := r.s.wake(ctx, opRun); err != nil {
			return err
		}
		made, err = r.s.engine.ContainerExecCreate(asking, r.s.ref.ID, options)
	}
	if err != nil {
		return r.s.wrap(ctx, opRun, err)
	}
	r.id, r.began = made.ID, time.Now()
	if err := r.attach(ctx); err != nil {
		return err
	}
	if c.Stdin != nil {
		r.fed = make(chan error, 1)
		go func() {
			from := &source{r: c.Stdin}
			_, _ = io.Copy(r.conn.Conn, from) // the command need not read all of it
			_ = r.conn.CloseWrite()           // likewise
			r.fed <- from.err
		}()
	}
	return nil
}

// text tells whether all words are text, which is all that JSON knows.
func text(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !utf8.ValidString(word) })
}

// encode writes words for printf's %b.
func encode(words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		var b strings.Builder
		for _, c := range []byte(word) {
			if c == '\\' || c >= 0x80 {
				fmt.Fprintf(&b, "\\0%03o", c)
			} else {
				b.WriteByte(c)
			}
		}
		out[i] = b.String()
	}
	return out
}

// attach starts what was prepared. The client's call knows no end of its
// context once it is connected.
func (r *run) attach(ctx context.Context) error {
	type answer struct {
		conn types.HijackedResponse
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		conn, err := r.s.engine.ContainerExecAttach(ctx, r.id, container.ExecAttachOptions{})
		got <- answer{conn, err}
	}()
	select {
	case a := <-got:
		if a.err != nil {
			return r.notStarted(ctx, a.err)
		}
		r.conn = a.conn
		return nil
	case <-ctx.Done():
		go func() {
			if a := <-got; a.err == nil {
				a.conn.Close()
			}
		}()
		return errors.Join(ctx.Err(), r.kill(ctx))
	}
}

// notStarted tells why a command was not started.
func (r *run) notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	// The error of a connection that becomes another one has no kind.
	if runs, inspectErr := r.s.sameRun(asking); inspectErr != nil {
		err = inspectErr
	} else if !runs {
		return advise(fail(sandbox.KindUnavailable, opRun, "the container stopped: %w", err), "Try again: it is started then.")
	}
	return wrap(opRun, err)
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

// copy hands on the outputs until both have ended, or no more comes.
func (r *run) copy() error {
	var ended [2]bool
	outputs := [2]*marked{}
	for i, to := range []*sink{r.out, r.err} {
		m := &marked{mark: []byte(r.mark()), to: to, done: func() bool { return ended[0] && ended[1] }}
		m.answer = func(text string) {
			if number, ok := strings.CutPrefix(text, "begin "); ok {
				pid, _ := strconv.ParseInt(number, 10, 64) // 0 is unknown
				r.pid.Store(pid)
				m.to = to
				return
			}
			m.ended, ended[i], r.end = true, true, text
		}
		outputs[i] = m
	}
	// Until the command begins, the engine speaks.
	outputs[0].to = &sink{write: r.raw.Write}
	_, err := stdcopy.StdCopy(outputs[0], outputs[1], r.conn.Reader)
	if errors.Is(err, errEnded) {
		return nil
	}
	r.end = ""
	for _, m := range outputs {
		m.flush()
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// wait waits for the end of the command, and brings it about when ctx ends or
// its time is up.
func (r *run) wait(ctx context.Context, timeout time.Duration) (sandbox.Result, error) {
	defer r.conn.Close()
	copied := make(chan error, 1)
	go func() { copied <- r.copy() }()
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	var copyErr error
	stopped, timedOut := error(nil), false
	select {
	case copyErr = <-copied:
	case <-ctx.Done():
		stopped = ctx.Err()
	case <-expired:
		timedOut = true
	}
	if stopped != nil || timedOut {
		if err := r.kill(ctx); err != nil {
			r.conn.Close()
			return sandbox.Result{TimedOut: timedOut, Duration: time.Since(r.began)}, errors.Join(stopped, err)
		}
		select {
		case copyErr = <-copied:
		case <-time.After(killTime):
			r.conn.Close() // a writer does not take what it is given
			return sandbox.Result{TimedOut: timedOut, Duration: time.Since(r.began)}, errors.Join(stopped, fail(sandbox.KindTransport, opRun, "the output of a command that was killed does not end"))
		}
	}
	duration := time.Since(r.began)
	r.conn.Close()
	result, err := sandbox.Result{}, stopped
	switch {
	case r.end != "":
		var endErr error
		if result, endErr = r.result(); err == nil {
			err = endErr
		}
	case stopped != nil:
	case timedOut:
		result = resultOf(128 + 9)
		result.TimedOut = true
	default:
		result, err = r.lost(ctx, copyErr)
	}
	result.Duration = duration
	for _, k := range []*sink{r.out, r.err} {
		if k.err != nil && err == nil {
			err = fail(sandbox.KindTransport, "hand on output", "%w", k.err)
		}
	}
	if r.fed != nil {
		select {
		case readErr := <-r.fed:
			if readErr != nil && err == nil {
				err = fail(sandbox.KindTransport, "read input", "%w", readErr)
			}
		case <-time.After(time.Second): // its source is stuck
		}
	}
	return result, err
}

// result reads how the command ended.
func (r *run) result() (sandbox.Result, error) {
	switch r.end {
	case "gone":
		return sandbox.Result{}, advise(fail(sandbox.KindGone, opRun, "the workspace %s is gone", r.s.ref.Root), "Put the folder back, or go on in another sandbox.")
	case "missing":
		return sandbox.Result{}, fail(sandbox.KindNotFound, opRun, "there is no such folder in the sandbox")
	case "file":
		return sandbox.Result{}, fail(sandbox.KindInvalid, opRun, "the folder of the command is not one")
	case "denied":
		return sandbox.Result{}, fail(sandbox.KindDenied, opRun, "the folder of the command can't be entered")
	case "noprogram":
		return sandbox.Result{}, fail(sandbox.KindNotFound, opRun, "there is no such program in the sandbox")
	}
	number, ok := strings.CutPrefix(r.end, "end ")
	code, err := strconv.Atoi(number)
	if !ok || err != nil {
		return sandbox.Result{}, fail(sandbox.KindTransport, opRun, "the sandbox answered %.40q", r.end)
	}
	return resultOf(code), nil
}

// settleTime is how long the engine may take to know that a container stopped,
// after its processes did.
const settleTime = 500 * time.Millisecond

// lost finds out what became of a command whose outputs ended without a word.
// Only one that was killed together with the shell that ran it has ended then.
func (r *run) lost(ctx context.Context, copyErr error) (sandbox.Result, error) {
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	found, err := r.s.engine.ContainerExecInspect(asking, r.id)
	if err == nil && !found.Running && r.pid.Load() != 0 {
		select {
		case <-asking.Done():
		case <-time.After(settleTime):
		}
	}
	runs, runErr := r.s.sameRun(asking)
	switch {
	case ctx.Err() != nil:
		return sandbox.Result{}, ctx.Err()
	case runErr != nil:
		return sandbox.Result{}, wrap(opRun, runErr)
	case !runs:
		return sandbox.Result{}, advise(fail(sandbox.KindUnavailable, opRun, "the container stopped while the command ran"), "Try again: it is started then.")
	case cerrdefs.IsNotFound(err):
		// The container runs on: an engine that was restarted forgets commands.
		return sandbox.Result{}, fail(sandbox.KindTransport, opRun, "the engine no longer knows of the command: %w", err)
	case err != nil:
		return sandbox.Result{}, wrap(opRun, err)
	case found.Running:
		// Nobody would ever hear of it again.
		return sandbox.Result{}, errors.Join(fail(sandbox.KindTransport, opRun, "the connection to the command broke: %w", copyErr), r.kill(ctx))
	case r.pid.Load() == 0:
		return sandbox.Result{}, advise(fail(sandbox.KindInvalid, opRun, "the engine could not start it (%d): %s", found.ExitCode, strings.TrimSpace(r.raw.String())),
			"Use an image that has a POSIX shell and the usual tools.")
	case found.ExitCode > 128:
		return resultOf(found.ExitCode), nil
	}
	return sandbox.Result{}, fail(sandbox.KindTransport, opRun, "the output of the command broke off: %w", copyErr)
}

// kill kills the command with all that it started.
func (r *run) kill(ctx context.Context) error {
	const op = "kill command"
	killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	var out bytes.Buffer
	// As the command's own user: root may not look into others' environments.
	killer := newRun(r.s, sandbox.Cmd{Stdout: &out}, r.user)
	cmd := sandbox.Cmd{Args: []string{"sh", "-c", killScript, "tsa", fmt.Sprintf("%s=:exec-%s:", callVariable, r.nonce), strconv.FormatInt(r.pid.Load(), 10)}, Dir: "/"}
	if err := killer.start(killing, cmd); err != nil {
		if k := sandbox.KindOf(err); k == sandbox.KindGone {
			return nil // nothing lives in a container that is gone
		}
		return err
	}
	defer killer.conn.Close()
	copied := make(chan error, 1)
	go func() { copied <- killer.copy() }()
	select {
	case <-killing.Done():
		return fail(sandbox.KindTimeout, op, "its processes did not end in time")
	case err := <-copied:
		if err != nil {
			_, err = killer.lost(killing, err)
		}
		if err != nil {
			if sandbox.KindOf(err) == sandbox.KindUnavailable {
				return nil // the container stopped, and with it all that ran
			}
			return wrap(op, err)
		}
	}
	if word := path.Clean(strings.TrimSpace(out.String())); word != "ok" {
		return fail(sandbox.KindDenied, op, "some of its processes don't end (%s)", word)
	}
	return nil
}
