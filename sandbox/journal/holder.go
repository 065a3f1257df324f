//go:build unix

package journal

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
)

// holder is the process that runs commands. It is the program of the app,
// started a second time, in a session of its own: it stays the commands'
// parent when the app is gone, and ends when both the app and they have.
type holder struct {
	sending sync.Mutex
	encoder *gob.Encoder

	running sync.WaitGroup // commands, and what they left running
}

// HolderMain is the whole of a holder process; see HolderArg. It returns the
// process's exit code.
func HolderMain([]string) int {
	// A holder is told to end by nobody: what ends sessions or process groups
	// by name or number means others. Being caught and not ignored, these are
	// back at their defaults in the commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	_ = os.WriteFile("/proc/self/comm", []byte("tsa-holder"), 0) // its name in ps; there may be no /proc
	socket := os.NewFile(3, "app")
	if _, err := socket.Stat(); err != nil {
		fmt.Fprintln(os.Stderr, "This is started by the app itself, to run commands.")
		return 2
	}
	syscall.CloseOnExec(3)
	h := &holder{encoder: gob.NewEncoder(socket)}
	h.send(reply{})
	debug.FreeOSMemory() // what the program's start has used is not needed here
	h.serve(context.Background(), gob.NewDecoder(socket))
	h.running.Wait()
	return 0
}

// serve takes requests until the app is gone.
func (h *holder) serve(ctx context.Context, decoder *gob.Decoder) {
	for {
		var req request
		if err := decoder.Decode(&req); err != nil {
			return
		}
		h.running.Go(func() { h.run(ctx, req) })
	}
}

// run runs one command to its end.
func (h *holder) run(ctx context.Context, req request) {
	x := &execution{request: req}
	fresh, err := x.start(ctx)
	if err != nil {
		h.send(reply{Seq: req.Seq, Kind: kindOf(err), Error: err.Error()})
		return
	}
	h.send(reply{Seq: req.Seq, Fresh: fresh})
	if !fresh {
		return
	}
	if err := x.finish(); err != nil {
		fmt.Fprintf(os.Stderr, "command %s: %v\n", req.ID, err)
	}
	h.send(reply{Ended: req.ID})
	x.drainRest()
}

// send tells the app something; without an app it does nothing.
func (h *holder) send(r reply) {
	h.sending.Lock()
	defer h.sending.Unlock()
	_ = h.encoder.Encode(r)
}
