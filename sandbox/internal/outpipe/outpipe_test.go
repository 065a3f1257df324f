//go:build unix

package outpipe

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"
)

// taken gathers what a Copier hands on, slowly if wanted.
type taken struct {
	mu    sync.Mutex
	data  []byte
	pause time.Duration
}

func (k *taken) write(b []byte) {
	time.Sleep(k.pause)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.data = append(k.data, b...)
}

func (k *taken) get() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.data)
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return r, w
}

func write(t *testing.T, w *os.File, data []byte) {
	t.Helper()
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
}

// What was written before the Drain is there after it, however slow the taking
// is, and although the pipe stays open.
func TestDrainIsExact(t *testing.T) {
	for _, pause := range []time.Duration{0, 30 * time.Millisecond} {
		for _, size := range []int{0, 1, 4096, 60_000} {
			r, w := pipe(t)
			k := &taken{pause: pause}
			c := Start(r, false, k.write)
			before := bytes.Repeat([]byte("b"), size)
			write(t, w, before)
			c.Drain()
			if got := k.get(); !bytes.Equal(got, before) {
				t.Errorf("with a pause of %v: %d bytes after Drain, want %d", pause, len(got), size)
			}
			// What comes later is taken as well.
			write(t, w, []byte("later"))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			if got := k.get(); !bytes.Equal(got, append(before, "later"...)) {
				t.Errorf("with a pause of %v: %d bytes in all, want %d", pause, len(got), size+5)
			}
		}
	}
}

// A pipe into which somebody writes without end is drained all the same.
func TestDrainOfAnEndlessWriter(t *testing.T) {
	r, w := pipe(t)
	k := &taken{}
	c := Start(r, false, k.write)
	go func() {
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}()
	drained := make(chan struct{})
	go func() { c.Drain(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(30 * time.Second):
		t.Fatal("Drain does not return")
	}
	c.Close()
}

func TestEndBeforeDrain(t *testing.T) {
	r, w := pipe(t)
	k := &taken{}
	c := Start(r, false, k.write)
	write(t, w, []byte("all"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	c.Drain()
	c.Close()
	if string(k.get()) != "all" {
		t.Errorf("got %q", k.get())
	}
}
