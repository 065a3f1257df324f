package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	dc "go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// serverSpec is what the server needs to start.
type serverSpec struct {
	database  string // full name of the file, made and checked
	namespace string
	token     token
	access    *access
	log       *slog.Logger
	// opening is different for every start in this process.
	opening string
	// pick chooses the ports; freePorts but in tests.
	pick     func(context.Context) (ports, error)
	settings dc.StaticClient
}

// ports are where the services of the server listen, all on loopback.
type ports struct{ frontend, history, matching int }

func address(port int) string { return fmt.Sprintf("%s:%d", loopback, port) }

// freePorts asks the system for free ports. Somebody else may take one before
// the server does: startServer tries again then.
func freePorts(ctx context.Context) (ports, error) {
	var found [3]int
	for i := range found {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address(0))
		if err != nil {
			return ports{}, fmt.Errorf("find a free port: %w", err)
		}
		// Held until all are found, so that they differ.
		defer func() { _ = l.Close() }()
		tcp, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return ports{}, fmt.Errorf("find a free port: %s is no TCP address", l.Addr())
		}
		found[i] = tcp.Port
	}
	return ports{frontend: found[0], history: found[1], matching: found[2]}, nil
}

// server is the embedded Temporal server: front end, history and matching in
// this process. There is no worker service (it serves schedules, batches and
// namespace deletion, and doubles what an idle engine costs).
type server struct {
	temporal temporal.Server
	ports    ports
	// stopping ends the calls that wait for something to happen.
	stopping context.CancelFunc
	failed   *failure
}

// failure is the first thing that the server would have ended the process for.
type failure struct {
	once sync.Once
	err  error
	set  chan struct{}
}

func newFailure() *failure { return &failure{set: make(chan struct{})} }

func (f *failure) report(err error) {
	f.once.Do(func() {
		f.err = err
		close(f.set)
	})
}

// portTries is how often new ports are chosen when one was taken in between.
const portTries = 5

// startServer returns a server that takes calls.
func startServer(ctx context.Context, spec serverSpec) (*server, error) {
	var last error
	for range portTries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := spec.pick(ctx)
		if err != nil {
			return nil, err
		}
		s, err := launch(ctx, spec, p)
		if err == nil {
			return s, nil
		}
		last = fmt.Errorf("start the Temporal server: %w", err)
		if !isPortTaken(err) {
			break
		}
		spec.log.Warn("a port was taken before the server had it, trying others", "error", err)
	}
	return nil, last
}

// isPortTaken tells the one failure that other ports can help against. The
// server reports it as text only.
func isPortTaken(err error) bool {
	return strings.Contains(err.Error(), "Failed to start gRPC listener")
}

// launch starts a server on given ports. It runs in a goroutine of its own,
// because the server ends its goroutine when it can't go on (see serverLog.Fatal).
func launch(ctx context.Context, spec serverSpec, p ports) (*server, error) {
	s := &server{ports: p, failed: newFailure()}
	// Not the caller's context: that one is for the start only.
	running, stopping := context.WithCancel(context.WithoutCancel(ctx))
	s.stopping = stopping

	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			// Ending a goroutine inside a sync.OnceValue becomes a panic.
			if r := recover(); r != nil {
				err = fmt.Errorf("it panicked: %v", r)
			}
		}()
		err = errors.New("it ended while it was starting")
		opts, e := spec.options(p, s.failed.report, endWhenStopping(running))
		if e != nil {
			err = e
			return
		}
		if s.temporal, e = temporal.NewServer(opts...); e != nil {
			err = e
			return
		}
		err = s.temporal.Start()
	}()
	<-done

	select {
	case <-s.failed.set:
		err = s.failed.err
	default:
	}
	if err == nil {
		return s, nil
	}
	stopping()
	if s.temporal != nil {
		_ = s.temporal.Stop()
	}
	return nil, err
}

// services are the parts of the server that run.
func services() []string {
	return []string{
		string(primitives.FrontendService), string(primitives.HistoryService), string(primitives.MatchingService),
	}
}

// endWhenStopping cancels the calls under way when the engine stops. Without
// it the front end waits a second for long polls that nobody will answer.
func endWhenStopping(running context.Context) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(running, cancel)()
		resp, err := handler(ctx, req)
		if err != nil && running.Err() != nil {
			// So that clients try again, at the next owner.
			return nil, status.Error(codes.Unavailable, "the engine is stopping")
		}
		return resp, err
	}
}

// refuseStreams: only replication between clusters and reflection stream, and
// nobody here needs them. The server's own check of streams answers with an
// error that clients do not understand.
func refuseStreams(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
	return status.Error(codes.PermissionDenied, "streams are not served")
}

// stop ends the server; what was acknowledged is on disk already.
func (s *server) stop() error {
	s.stopping()
	if err := s.temporal.Stop(); err != nil {
		return fmt.Errorf("stop the Temporal server: %w", err)
	}
	return nil
}
