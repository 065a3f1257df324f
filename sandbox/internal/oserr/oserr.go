//go:build unix

// Package oserr tells what kind of sandbox error an error of the operating
// system is.
package oserr

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"temporal-sandbox-agent/sandbox"
)

// escapes is the text of the error, which has no name, with which os.Root
// refuses a path that leads out of it.
const escapes = "path escapes from parent"

// Kind classifies err; nil is "". What it does not know is KindDenied: the
// system would not do it.
func Kind(err error) sandbox.Kind {
	if kind := sandbox.KindOf(err); kind != "" {
		return kind
	}
	switch {
	case err == nil:
		return ""
	case escaped(err):
		return sandbox.KindEscape
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return sandbox.KindNotFound
	case errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY):
		return sandbox.KindExists
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return sandbox.KindNoSpace
	case errors.Is(err, syscall.EROFS):
		return sandbox.KindReadOnly
	case errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.E2BIG):
		return sandbox.KindTooLarge
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTEMPTY),
		errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.EXDEV), errors.Is(err, fs.ErrInvalid):
		return sandbox.KindInvalid
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE),
		errors.Is(err, syscall.ENOMEM):
		return sandbox.KindUnavailable
	case errors.Is(err, os.ErrDeadlineExceeded):
		return sandbox.KindTimeout
	}
	return sandbox.KindDenied
}

// escaped looks for the refusal at the bottom of err: one step's error may be
// wrapped in another's.
func escaped(err error) bool {
	for err != nil && err.Error() != escapes {
		err = errors.Unwrap(err)
	}
	return err != nil
}

// Remedy says what the user can do about errors of a kind that come from this
// machine; it is empty where there is nothing to say.
func Remedy(kind sandbox.Kind) string {
	switch kind {
	case sandbox.KindNoSpace:
		return "Free some disk space and try again."
	case sandbox.KindReadOnly:
		return "Make the folder writable, or choose another one."
	case sandbox.KindUnavailable:
		return "The system is out of processes, open files or memory: close some programs and try again."
	}
	return ""
}
