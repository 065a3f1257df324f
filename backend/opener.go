package backend

import "sync"

// Opener opens the product in the background, so that the window is there while
// it opens, and once more if that failed and the user asks for it. It is safe
// for concurrent use.
type Opener struct {
	open   func() (*Backend, error)
	opened func(*Backend)

	mu   sync.Mutex
	last *attempt
}

// attempt is one try; done is closed when it is over.
type attempt struct {
	done    chan struct{}
	backend *Backend
	err     error
}

// NewOpener returns an Opener. open is called by Begin; opened, after each
// success, in a goroutine of its own.
func NewOpener(open func() (*Backend, error), opened func(*Backend)) *Opener {
	return &Opener{open: open, opened: opened, last: &attempt{done: make(chan struct{})}}
}

// Begin begins to open. Call it once.
func (o *Opener) Begin() { go o.run(o.last) }

func (o *Opener) run(at *attempt) {
	at.backend, at.err = o.open()
	close(at.done)
	if at.err == nil {
		o.opened(at.backend)
	}
}

// Wait waits for the last try and returns how it ended.
func (o *Opener) Wait() (*Backend, error) {
	o.mu.Lock()
	at := o.last
	o.mu.Unlock()
	<-at.done
	return at.backend, at.err
}

// Again opens once more what could not be opened: all of it, or the engine.
func (o *Opener) Again() error {
	o.mu.Lock()
	at := o.last
	o.mu.Unlock()
	<-at.done
	if at.err == nil {
		at.backend.RetryEngine()
		return nil
	}
	o.mu.Lock()
	if o.last == at {
		o.last = &attempt{done: make(chan struct{})}
		go o.run(o.last)
	}
	at = o.last
	o.mu.Unlock()
	<-at.done
	return at.err
}
