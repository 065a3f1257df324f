//go:build unix

package journal

import (
	"io"
	"os"
	"sync/atomic"

	"temporal-sandbox-agent/sandbox/internal/outpipe"
)

// pump writes what a command writes, through a pipe or a terminal, to its
// output file. When no more can be written there, the output is still read, so
// that the command is not held up.
type pump struct {
	dst    *os.File
	left   int64       // how many bytes may still be written
	cut    atomic.Bool // something was not written
	copier *outpipe.Copier
	input  *os.File // what is typed into the terminal, nil without one
}

func (p *pump) start(src *os.File) {
	p.copier = outpipe.Start(src, p.input != nil, p.write)
	if p.input != nil {
		go func() { _, _ = io.Copy(src, p.input) }() // until either is closed
	}
}

func (p *pump) write(data []byte) {
	if p.cut.Load() {
		return
	}
	if int64(len(data)) > p.left {
		data = data[:p.left]
		p.cut.Store(true)
	}
	n, err := p.dst.Write(data)
	p.left -= int64(n)
	if err != nil {
		p.cut.Store(true)
	}
}

// drain returns when all that the command wrote is in the file, and tells
// whether some of it was not kept. The command must have ended.
func (p *pump) drain() (cut bool) {
	p.copier.Drain()
	return p.cut.Load()
}

// finish returns when the output has ended.
func (p *pump) finish() {
	p.copier.Wait()
	_ = p.dst.Close() // all is written
	if p.input != nil {
		_ = p.input.Close()
	}
}
