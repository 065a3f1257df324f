//go:build unix

package oserr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"temporal-sandbox-agent/sandbox"
)

func TestKind(t *testing.T) {
	path := func(err error) error {
		return fmt.Errorf("do it: %w", &fs.PathError{Op: "open", Path: "x", Err: err})
	}
	for _, c := range []struct {
		err  error
		want sandbox.Kind
	}{
		{nil, ""},
		{path(syscall.ENOENT), sandbox.KindNotFound},
		{exec.ErrNotFound, sandbox.KindNotFound},
		{path(syscall.EEXIST), sandbox.KindExists},
		{path(syscall.ENOTEMPTY), sandbox.KindInvalid},
		{path(syscall.ENOSPC), sandbox.KindNoSpace},
		{path(syscall.EDQUOT), sandbox.KindNoSpace},
		{path(syscall.EROFS), sandbox.KindReadOnly},
		{path(syscall.EACCES), sandbox.KindDenied},
		{path(syscall.EPERM), sandbox.KindDenied},
		{path(syscall.ENOTDIR), sandbox.KindInvalid},
		{path(syscall.EISDIR), sandbox.KindInvalid},
		{path(syscall.ENAMETOOLONG), sandbox.KindInvalid},
		{path(syscall.EFBIG), sandbox.KindTooLarge},
		{&os.SyscallError{Syscall: "fork", Err: syscall.EAGAIN}, sandbox.KindUnavailable},
		{path(syscall.EMFILE), sandbox.KindUnavailable},
		{os.ErrDeadlineExceeded, sandbox.KindTimeout},
		{errors.New("unheard of"), sandbox.KindDenied},
		{context.Canceled, sandbox.KindDenied}, // callers keep these apart before
		{fmt.Errorf("again: %w", &sandbox.Error{Kind: sandbox.KindGone}), sandbox.KindGone},
	} {
		if got := Kind(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// The refusal of os.Root has no name: this fails when its text changes.
func TestKindOfEscape(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Symlink("/etc", "out"); err != nil {
		t.Fatal(err)
	}
	_, statErr := root.Stat("out/passwd")
	_, openErr := root.Open("../x")
	for what, err := range map[string]error{
		"Stat": statErr, "Open": openErr, "Mkdir": root.MkdirAll("out/x/y", 0o755), "Rename": root.Rename("out", "../x"), "Remove": root.RemoveAll("out/passwd"),
	} {
		if got := Kind(err); got != sandbox.KindEscape {
			t.Errorf("%s: %v is %q", what, err, got)
		}
	}
}

func TestRemedy(t *testing.T) {
	for _, kind := range []sandbox.Kind{sandbox.KindNoSpace, sandbox.KindReadOnly, sandbox.KindUnavailable} {
		if Remedy(kind) == "" {
			t.Errorf("nothing can be done about %s", kind)
		}
	}
}
