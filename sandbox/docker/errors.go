package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
)

// remedyEngine is for an engine that does not answer.
const remedyEngine = "Start the Docker engine (sudo systemctl start docker, or open Docker Desktop). The sandbox and its files are kept."

// wrap classifies an error of the engine. What is classified, and the end of a
// context, stay as they are.
func wrap(op string, err error) error {
	if err == nil || sandbox.KindOf(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	e := &sandbox.Error{Kind: sandbox.KindUnavailable, Backend: Name, Op: op, Err: err}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Remedy = sandbox.KindTimeout, "See whether the Docker engine is busy or stuck: docker info."
	case unreachable(err):
		e.Remedy = remedyEngine
	case cerrdefs.IsNotFound(err) && !strings.Contains(strings.ToLower(err.Error()), "no such container"):
		// Something that the container needs, its network, say: it is there itself.
		e.Kind, e.Remedy = sandbox.KindInvalid, "See what docker inspect says of the container."
	case cerrdefs.IsNotFound(err):
		e.Kind = sandbox.KindGone
		e.Err = errors.New("the container is gone: it was removed")
		e.Remedy = "Go on in a new sandbox, from the last snapshot."
	case cerrdefs.IsInvalidArgument(err):
		e.Kind = sandbox.KindInvalid
	case cerrdefs.IsPermissionDenied(err), cerrdefs.IsUnauthorized(err):
		e.Kind = sandbox.KindDenied
	case strings.Contains(err.Error(), "no space left on device"):
		e.Kind, e.Remedy = sandbox.KindNoSpace, "Free some space where Docker keeps its data (docker system df shows what uses it) and try again."
	}
	return e
}

// unreachable tells whether an error means that the engine was not reached, or
// went away.
func unreachable(err error) bool {
	var op *net.OpError
	return client.IsErrConnectionFailed(err) || errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ENOENT)
}

func fail(kind sandbox.Kind, op, format string, args ...any) error {
	return &sandbox.Error{Kind: kind, Backend: Name, Op: op, Err: fmt.Errorf(format, args...)}
}

func advise(err error, remedy string) error {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		e.Remedy = remedy
	}
	return err
}
