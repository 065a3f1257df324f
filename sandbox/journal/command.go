package journal

import (
	"context"
	"sync"
)

// The sizes of what is read of an output at a time, in bytes.
const (
	followChunk = 256 << 10
	maxRead     = 16 << 20
)

// command is a Command: an id, and the host that knows the rest.
type command struct {
	host  Host
	id    string
	fresh bool

	mu   sync.Mutex
	over *Exit // how it ended, once that is known: it does not change
}

func (c *command) CallID() string { return c.id }
func (c *command) Fresh() bool    { return c.fresh }

func (c *command) Wait(ctx context.Context) (Exit, error) {
	exit, over, err := c.look(ctx, UntilEnd)
	for err == nil && !over {
		exit, over, err = c.look(ctx, UntilEnd)
	}
	return exit, err
}

func (c *command) Exit(ctx context.Context) (Exit, bool, error) {
	return c.look(ctx, UntilNow)
}

func (c *command) look(ctx context.Context, until Until) (Exit, bool, error) {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over != nil {
		return *over, true, nil
	}
	o, err := c.host.Observe(ctx, c.id, View{Until: until})
	if err != nil {
		return Exit{}, false, err
	}
	return o.Exit, c.note(o), nil
}

// note remembers the end, and tells whether o shows it.
func (c *command) note(o Observation) bool {
	if o.Exit.State == StateRunning {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = &o.Exit
	return true
}

func (c *command) ReadOutput(ctx context.Context, offset int64, max int) ([]byte, int64, error) {
	o, err := c.host.Observe(ctx, c.id, View{Offset: offset, Max: min(max, maxRead)})
	return o.Data, o.Size, err
}

func (c *command) Follow(ctx context.Context, offset int64, got func(offset int64, data []byte)) error {
	end := int64(-1) // how much there was when the command ended
	for {
		o, err := c.host.Observe(ctx, c.id, View{Offset: offset, Max: followChunk, Until: UntilOutput})
		if err != nil {
			return err
		}
		if len(o.Data) > 0 {
			got(offset, o.Data)
			offset += int64(len(o.Data))
		}
		if c.note(o) && end < 0 {
			end = o.Size
		}
		if end >= 0 && offset >= end {
			return nil
		}
	}
}

func (c *command) Write(ctx context.Context, data []byte) error {
	return c.host.Input(ctx, c.id, data)
}

func (c *command) Resize(ctx context.Context, rows, cols uint16) error {
	return c.host.Resize(ctx, c.id, rows, cols)
}

func (c *command) Kill(ctx context.Context) error {
	return c.host.Kill(ctx, c.id)
}
