//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/oserr"
)

// wrap classifies an error of the system. What is classified, and the end of a
// context, stay as they are.
func wrap(op string, err error) error {
	if err == nil || sandbox.KindOf(err) != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := oserr.Kind(err)
	return &sandbox.Error{Kind: kind, Backend: name, Op: op, Remedy: oserr.Remedy(kind), Err: err}
}

func fail(kind sandbox.Kind, op, format string, args ...any) error {
	return &sandbox.Error{Kind: kind, Backend: name, Op: op, Remedy: oserr.Remedy(kind), Err: fmt.Errorf(format, args...)}
}

// advise sets what the user can do about an error.
func advise(err error, remedy string) error {
	var e *sandbox.Error
	if errors.As(err, &e) {
		e.Remedy = remedy
	}
	return err
}
