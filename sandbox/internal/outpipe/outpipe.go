//go:build unix

// Package outpipe takes what a command writes to a pipe or a terminal. The
// command's end is not the output's: what it left running may hold on to the
// output for ever. So the end of the command is told (Drain), and all that was
// written until then is taken, exactly, before the rest.
package outpipe

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Copier reads an output in the background and hands it on.
type Copier struct {
	src      *os.File
	terminal bool
	write    func([]byte)

	drained chan struct{} // closed when all that was there at the Drain is taken
	done    chan struct{} // closed when the output has ended
}

const (
	bufferSize = 64 << 10
	// silence is how long a terminal that others still use must be silent to be
	// taken as empty: what it holds can't be asked for.
	silence = 30 * time.Millisecond
	// patience bounds the wait for that silence.
	patience = 300 * time.Millisecond
)

// Start reads from src, which it closes in the end. It calls write from one
// goroutine and never stops reading, so that the command is not held up longer
// than write takes.
func Start(src *os.File, terminal bool, write func([]byte)) *Copier {
	c := &Copier{src: src, terminal: terminal, write: write, drained: make(chan struct{}), done: make(chan struct{})}
	go c.run()
	return c
}

// Drain returns when all that was written before the call has been handed on.
func (c *Copier) Drain() {
	if err := c.src.SetReadDeadline(time.Unix(1, 0)); err != nil {
		<-c.done // it is closed: the output has ended
		return
	}
	select {
	case <-c.drained:
	case <-c.done:
	}
}

// Wait returns when the output has ended.
func (c *Copier) Wait() { <-c.done }

// Close stops reading. What still writes gets an error.
func (c *Copier) Close() {
	_ = c.src.Close() // the end of the output may have done it
	<-c.done
}

func (c *Copier) run() {
	defer close(c.done)
	defer c.src.Close()
	buffer := make([]byte, bufferSize)
	err := c.copy(buffer)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	// The command has ended; others may still write.
	if c.terminal {
		err = c.untilSilent(buffer)
	} else {
		err = c.copyPresent(buffer)
	}
	close(c.drained)
	if err == nil && c.src.SetReadDeadline(time.Time{}) == nil {
		_ = c.copy(buffer) // an error is the end
	}
}

// copy takes all that comes, and returns why nothing more does.
func (c *Copier) copy(buffer []byte) error {
	for {
		n, err := c.src.Read(buffer)
		if n > 0 {
			c.write(buffer[:n])
		}
		if err != nil {
			return err
		}
	}
}

// copyPresent takes what is in the pipe at this moment.
func (c *Copier) copyPresent(buffer []byte) error {
	raw, err := c.src.SyscallConn()
	if err != nil {
		return err
	}
	present := 0
	var asked error
	if err := raw.Control(func(fd uintptr) { present, asked = unix.IoctlGetInt(int(fd), fionread) }); err != nil {
		return err
	}
	if asked != nil {
		return asked
	}
	if err := c.src.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	for present > 0 {
		n, err := c.src.Read(buffer[:min(present, len(buffer))])
		if n > 0 {
			c.write(buffer[:n])
		}
		if err != nil {
			return err
		}
		present -= n
	}
	return nil
}

// untilSilent takes what comes from the terminal until nothing does.
func (c *Copier) untilSilent(buffer []byte) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if err := c.src.SetReadDeadline(time.Now().Add(silence)); err != nil {
			return err
		}
		n, err := c.src.Read(buffer)
		if n > 0 {
			c.write(buffer[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
