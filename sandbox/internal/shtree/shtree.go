// Package shtree gives a sandbox its files, one by one (sandbox.FS) and in bulk
// (sandbox.Bulk), over nothing but its Exec: shell scripts do the work, where
// the files are. They need a POSIX shell and the usual small tools, GNU's or
// busybox's; every operation is one command, but for Apply, which takes two.
//
// Names are resolved in the sandbox, in the command that uses them: the shell
// goes to the folder, sees where it is, and from then on holds on to the folder
// and not to its path.
package shtree

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"temporal-sandbox-agent/sandbox"
)

// The scripts. libScript is put before each of the others, and namesScript
// before those that take a list of names.
var (
	//go:embed scripts/lib.sh
	libScript string
	//go:embed scripts/names.sh
	namesScript string
	//go:embed scripts/files.sh
	filesScript string
	//go:embed scripts/list.sh
	listScript string
	//go:embed scripts/read.sh
	readScript string
	//go:embed scripts/digest.sh
	digestScript string
	//go:embed scripts/clear.sh
	clearScript string
	//go:embed scripts/extract.sh
	extractScript string
	//go:embed scripts/modes.sh
	modesScript string
)

// Executor is the part of a sandbox that a Tree is over.
type Executor interface {
	Ref() sandbox.Ref
	Root() string
	Exec(ctx context.Context, cmd sandbox.Cmd) (sandbox.Result, error)
}

// Tree is the files of a sandbox.
type Tree struct {
	sb Executor
}

// New returns the files of a sandbox.
func New(sb Executor) *Tree { return &Tree{sb: sb} }

// Files returns them one by one.
func (t *Tree) Files() sandbox.FS { return files{t} }

// call is one command in the sandbox.
type call struct {
	op     string // what is being done, for errors
	script string
	args   []string
	stdin  io.Reader
	// read takes the output as it comes; nil if there is none.
	read func(*bufio.Reader) error
}

// saidMax is how much of what a script says on its error output is kept.
const saidMax = 16 << 10

// run runs a call to its end. An error of read that is a stop is returned as
// what it holds, before all others; any other counts only if the command itself
// went well.
func (t *Tree) run(ctx context.Context, c call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	said := &head{limit: saidMax}
	cmd := sandbox.Cmd{
		Args: append([]string{"sh", "-c", libScript + c.script, "tsa", t.sb.Root()}, c.args...),
		// Names are bytes, texts are English, and times are UTC.
		Env:   map[string]string{"LC_ALL": "C", "TZ": "UTC0"},
		Stdin: c.stdin, Stderr: said,
	}
	var result sandbox.Result
	var readErr, err error
	if c.read == nil {
		result, err = t.sb.Exec(running, cmd)
	} else {
		out, in := io.Pipe()
		cmd.Stdout = in
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			result, err = t.sb.Exec(running, cmd)
			_ = in.Close() // a pipe's never fails
		}()
		r := bufio.NewReaderSize(out, 64<<10)
		readErr = c.read(r)
		if readErr == nil {
			_, readErr = io.Copy(io.Discard, r)
		} else if _, ok := errors.AsType[stop](readErr); ok {
			cancel() // nobody wants the rest
		}
		_ = out.CloseWithError(errUnwanted)
		<-ended
	}
	if stopped, ok := errors.AsType[stop](readErr); ok {
		return stopped.err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, errUnwanted):
		return err
	}
	if result.ExitCode != 0 {
		return t.failure(c.op, result.ExitCode, said.String())
	}
	if readErr != nil {
		return t.fail(sandbox.KindTransport, c.op, fmt.Errorf("the sandbox's answer can't be read: %w", readErr))
	}
	return nil
}

// stop is an error with which a reader ends a call.
type stop struct{ err error }

func (s stop) Error() string { return s.err.Error() }
func (s stop) Unwrap() error { return s.err }

// errUnwanted ends the output of a command that nobody reads any more.
var errUnwanted = errors.New("the output is not wanted any more")

// head keeps the beginning of what is written to it.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(h.limit-h.Len(), 0))])
	return len(p), nil
}

// failure is the error of a script that gave up.
func (t *Tree) failure(op string, code int, said string) error {
	said = strings.TrimSpace(said)
	kind, text := sandbox.Kind("system"), said
	if _, after, found := strings.Cut("\n"+said, "\ntsa:"); found {
		for {
			word, rest, _ := strings.Cut(after, ":")
			kind, text = sandbox.Kind(word), rest
			if after, found = strings.CutPrefix(rest, "tsa:"); !found {
				break
			}
		}
	} else {
		text = fmt.Sprintf("the shell ended with %d: %s", code, said)
	}
	// The first line says it; what follows is of those that ran it.
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if text == "" {
		text = fmt.Sprintf("the shell ended with %d", code)
	}
	if kind == "system" {
		kind = kindOfText(text)
	}
	return t.fail(kind, op, errors.New(text))
}

func (t *Tree) fail(kind sandbox.Kind, op string, err error) error {
	return &sandbox.Error{Kind: kind, Backend: t.sb.Ref().Backend, Op: op, Remedy: remedyOf(kind), Err: err}
}

// kindOfText classifies what a tool in the sandbox said when the system refused
// something: that is all there is to tell it from.
func kindOfText(text string) sandbox.Kind {
	for _, known := range []struct {
		text string
		kind sandbox.Kind
	}{
		{"No space left", sandbox.KindNoSpace},
		{"quota exceeded", sandbox.KindNoSpace},
		{"Read-only file system", sandbox.KindReadOnly},
		{"Permission denied", sandbox.KindDenied},
		{"Operation not permitted", sandbox.KindDenied},
		{"File exists", sandbox.KindExists},
		{"Directory not empty", sandbox.KindInvalid},
		{"Device or resource busy", sandbox.KindInvalid},
		{"File name too long", sandbox.KindInvalid},
		{"Is a directory", sandbox.KindInvalid},
		{"Not a directory", sandbox.KindInvalid},
		{"Invalid argument", sandbox.KindInvalid},
		{"subdirectory of itself", sandbox.KindInvalid},
		{"symbolic links", sandbox.KindInvalid},
		{"File too large", sandbox.KindTooLarge},
		{"annot fork", sandbox.KindUnavailable},
		{"Cannot allocate memory", sandbox.KindUnavailable},
		{"Resource temporarily unavailable", sandbox.KindUnavailable},
		{"No such file", sandbox.KindNotFound},
		// Shells say it shortly of a file that is to be made.
		{"nonexistent directory", sandbox.KindNotFound},
	} {
		if strings.Contains(text, known.text) {
			return known.kind
		}
	}
	return sandbox.KindTransport
}

// remedyOf says what the user can do about errors of a kind; it is empty where
// there is nothing to say.
func remedyOf(kind sandbox.Kind) string {
	switch kind {
	case sandbox.KindNoSpace:
		return "Free some space in the sandbox and try again."
	case sandbox.KindReadOnly:
		return "Make the folder in the sandbox writable, or choose another one."
	case sandbox.KindUnavailable:
		return "Use an image that has the usual tools (a shell, find, xargs, tar, sha256sum), and end what uses up the sandbox's processes or memory."
	case sandbox.KindGone:
		return "Put the workspace back, or go on in another one."
	}
	return ""
}
