//go:build unix

package journal

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

// HolderConfig says how to start a holder.
type HolderConfig struct {
	// Program is a program that calls HolderMain when its first argument is
	// HolderArg; "" is this one.
	Program string
	// Environ is the holder's own environment; commands get theirs with each
	// launch.
	Environ []string
	// StateDir gets the holder's log.
	StateDir string
}

// Holder starts the process that runs commands, when the first one comes, and
// talks to it. That process lives on while its commands do, also when this one
// is gone.
type Holder struct {
	cfg HolderConfig

	mu     sync.Mutex
	conn   *holderConn
	closed bool
}

// NewHolder returns a holder that is not started yet.
func NewHolder(cfg HolderConfig) *Holder { return &Holder{cfg: cfg} }

// request asks the holder to run a command.
type request struct {
	Seq        uint64
	ID, Nonce  string
	Folder     string // of the execution
	Shell      string // the program
	Command    string
	Dir        string
	Env        []string
	TTY        bool
	Rows, Cols uint16
	Timeout    time.Duration
	OutputCap  int64
}

// reply answers a request (Seq > 0), tells that a command has ended (Ended),
// or, first of all, that the holder is there (neither).
type reply struct {
	Seq   uint64
	Fresh bool
	Kind  sandbox.Kind
	Error string
	Ended string
}

// errHolderLost means that the holder died; a new one can be started.
var errHolderLost = errors.New("the process that runs commands has died")

const (
	// holderPatience is how long a holder may take to start.
	holderPatience = 20 * time.Second
	// holderEnv is set for holders. It keeps a program that does not know
	// HolderArg from starting itself over and over.
	holderEnv = "TSA_HOLDER=1"
)

// Warm starts the process, if it does not run, and returns when it is there: the
// next command need not wait for that then. For a large program it is 0.1 s of
// CPU.
func (h *Holder) Warm(ctx context.Context) error {
	_, err := h.connect(ctx)
	return err
}

// launch runs a command. When ctx ends first, it may run all the same.
func (h *Holder) launch(ctx context.Context, req request) (reply, error) {
	conn, err := h.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	return conn.do(ctx, req)
}

// ended returns a channel that is closed when a command that was launched here
// ends, or nil.
func (h *Holder) ended(id string) <-chan struct{} {
	h.mu.Lock()
	conn := h.conn
	h.mu.Unlock()
	if conn == nil {
		return nil
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.running[id]
}

// Close lets go of the holder. It ends as soon as its commands have.
func (h *Holder) Close() error {
	h.mu.Lock()
	conn := h.conn
	h.conn, h.closed = nil, true
	h.mu.Unlock()
	if conn == nil {
		return nil
	}
	err := conn.socket.Close()
	<-conn.done
	return err
}

func (h *Holder) connect(ctx context.Context) (*holderConn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.New("the journal is closed")
	}
	if h.conn != nil && !h.conn.lost() {
		return h.conn, nil
	}
	conn, err := h.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the process that runs commands: %w", err)
	}
	h.conn = conn
	return conn, nil
}

func (h *Holder) start(ctx context.Context) (*holderConn, error) {
	if os.Getenv("TSA_HOLDER") != "" {
		return nil, errors.New("this process was started to run commands, but its program does not call journal.HolderMain")
	}
	program := h.cfg.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			program = "/proc/self/exe" // also when the file was replaced by an update
		}
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	defer theirs.Close()
	socket, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	log, err := openLog(h.cfg.StateDir)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	defer log.Close()
	cmd := exec.Command(program)
	// Its name says nothing of the app: ending that by name must not end this.
	cmd.Args = []string{"tsa-holder", HolderArg}
	cmd.Env = append(h.cfg.Environ[:len(h.cfg.Environ):len(h.cfg.Environ)], holderEnv)
	cmd.Dir = "/"
	cmd.Stderr = log
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	_ = theirs.Close() // only the holder has it now, so that its end shows
	c := &holderConn{
		process: cmd, socket: socket, encoder: gob.NewEncoder(socket),
		pending: map[uint64]pending{}, running: map[string]chan struct{}{}, done: make(chan struct{}),
	}
	decoder := gob.NewDecoder(socket)
	if err := c.greet(ctx, decoder); err != nil {
		_ = cmd.Process.Kill() // it is not a holder
		_ = cmd.Wait()
		return nil, errors.Join(fmt.Errorf("it does not answer: %w", err), socket.Close())
	}
	go c.receive(decoder)
	return c, nil
}

// socketPair returns two sockets that talk to each other.
func socketPair() (ours, theirs *os.File, err error) {
	// No process that is started meanwhile may get them: one that did would
	// keep the holder from seeing that the app is gone.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	return os.NewFile(uintptr(pair[0]), "holder"), os.NewFile(uintptr(pair[1]), "holder"), nil
}

// greet waits for the holder to say that it is there.
func (c *holderConn) greet(ctx context.Context, decoder *gob.Decoder) error {
	ctx, cancel := context.WithTimeout(ctx, holderPatience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.socket.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var hello reply
	if err := decoder.Decode(&hello); err != nil {
		return errors.Join(err, ctx.Err())
	}
	if !stop() {
		return ctx.Err()
	}
	return nil
}

// maxLog is how long the holder's log may grow, in bytes.
const maxLog = 1 << 20

func openLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name, flags := filepath.Join(dir, "holder.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND
	if info, err := os.Stat(name); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(name, flags, 0o600)
}

// holderConn is the connection to one holder process.
type holderConn struct {
	process *exec.Cmd
	socket  net.Conn
	done    chan struct{} // closed when nothing more comes

	sending sync.Mutex
	encoder *gob.Encoder

	mu      sync.Mutex
	seq     uint64
	pending map[uint64]pending
	running map[string]chan struct{} // closed when the command of this id ends
}

// pending is a request without an answer.
type pending struct {
	id     string
	answer chan reply
}

func (c *holderConn) lost() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *holderConn) do(ctx context.Context, req request) (reply, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.seq++
	req.Seq = c.seq
	c.pending[req.Seq] = pending{req.ID, answer}
	c.mu.Unlock()
	c.sending.Lock()
	err := c.encoder.Encode(req)
	c.sending.Unlock()
	if err != nil {
		return reply{}, errors.Join(errHolderLost, err)
	}
	select {
	case rep := <-answer:
		return rep, nil
	case <-c.done:
		return reply{}, errHolderLost
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
}

// receive takes what the holder says until it or the connection is gone.
func (c *holderConn) receive(decoder *gob.Decoder) {
	for {
		var rep reply
		if err := decoder.Decode(&rep); err != nil {
			break
		}
		c.mu.Lock()
		if rep.Ended != "" && c.running[rep.Ended] != nil {
			close(c.running[rep.Ended])
			delete(c.running, rep.Ended)
		}
		if p, ok := c.pending[rep.Seq]; ok {
			delete(c.pending, rep.Seq)
			if rep.Fresh {
				c.running[p.id] = make(chan struct{})
			}
			p.answer <- rep
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	for id, ended := range c.running { // who waits must look for himself now
		close(ended)
		delete(c.running, id)
	}
	c.mu.Unlock()
	_ = c.socket.Close() // Close may have done it
	c.reap()
	close(c.done)
}

// reap waits for the holder, if it ends at once: one that still runs commands
// lives on, and is not this process's to wait for.
func (c *holderConn) reap() {
	for range 50 {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(c.process.Process.Pid, &status, syscall.WNOHANG, nil)
		if pid != 0 && !errors.Is(err, syscall.EINTR) {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	_ = c.process.Process.Release()
}
