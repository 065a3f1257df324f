// Package event carries live events from those who do the work to those who
// watch: in order, merged where that loses nothing, and never holding up who
// publishes. It is lossy by design: what must not be lost is in the store, and
// a watcher that missed something is told by an EventGap to read it there.
package event

import (
	"context"
	"sync"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// mergeFor is how long streamed pieces are gathered before they are delivered.
const mergeFor = 30 * time.Millisecond

// Bounds of what waits for one subscriber. Beyond either, all that waits is
// dropped for one EventGap.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 4 << 20
)

// Bus is an in-process bus. The zero value is ready. It is safe for concurrent
// use.
type Bus struct {
	mu   sync.RWMutex
	subs map[*subscription]struct{}
}

// Filter chooses what a subscriber gets.
type Filter struct {
	// Session limits it to one session's events and those of no session; empty
	// is all.
	Session string
}

func (f Filter) wants(ev *protocol.Event) bool {
	return f.Session == "" || ev.SessionID == "" || ev.SessionID == f.Session
}

// Publish hands ev to all subscribers and returns at once. What ev points to
// must not change afterwards.
func (b *Bus) Publish(ev protocol.Event) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subs {
		if s.filter.wants(&ev) {
			s.put(ev)
		}
	}
}

// Subscribe delivers batches of events, from now on, until ctx ends; then the
// channel is closed. A batch holds one or more events in the order of their
// publication, of which streamed pieces of the same item may have become one.
// The pieces come within about 30 ms, everything else at once.
func (b *Bus) Subscribe(ctx context.Context, filter Filter) <-chan []protocol.Event {
	s := &subscription{filter: filter, wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1)}
	b.mu.Lock()
	if b.subs == nil {
		b.subs = map[*subscription]struct{}{}
	}
	b.subs[s] = struct{}{}
	b.mu.Unlock()
	out := make(chan []protocol.Event)
	go func() {
		defer close(out)
		defer b.unsubscribe(s)
		s.deliver(ctx, out)
	}()
	return out
}

func (b *Bus) unsubscribe(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subs, s)
}

// subscription is what waits for one subscriber.
type subscription struct {
	filter Filter
	wake   chan struct{} // something waits
	urgent chan struct{} // it must not wait for more

	mu    sync.Mutex
	queue queue
}

func (s *subscription) put(ev protocol.Event) {
	s.mu.Lock()
	urgent := s.queue.put(ev)
	s.mu.Unlock()
	poke(s.wake)
	if urgent {
		poke(s.urgent)
	}
}

func (s *subscription) take() []protocol.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	// What was urgent is in this batch.
	select {
	case <-s.urgent:
	default:
	}
	return s.queue.take()
}

func (s *subscription) deliver(ctx context.Context, out chan<- []protocol.Event) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		timer.Reset(mergeFor)
		select {
		case <-timer.C:
		case <-s.urgent:
		case <-ctx.Done():
			return
		}
		batch := s.take()
		if len(batch) == 0 {
			continue
		}
		select {
		case out <- batch:
		case <-ctx.Done():
			return
		}
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
