package event

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const testToken = "token-of-the-test"

func TestRemoteRefuses(t *testing.T) {
	stopped := ""
	h := NewHandler(&Bus{}, testToken, func(_ context.Context, session string) error {
		stopped = session
		return nil
	})
	call := func(method, target, host, authorization, origin string) int {
		r := httptest.NewRequest(method, target, nil)
		r.Host = host
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	good := "Bearer " + testToken
	for name, c := range map[string]struct {
		method, target, host, authorization, origin string
		want                                        int
	}{
		"no token":        {"GET", "/events", "127.0.0.1:1", "", "", 401},
		"wrong token":     {"GET", "/events", "127.0.0.1:1", "Bearer wrong", "", 401},
		"a part of it":    {"GET", "/events", "127.0.0.1:1", "Bearer " + testToken[:5], "", 401},
		"not a bearer":    {"GET", "/events", "127.0.0.1:1", testToken, "", 401},
		"foreign host":    {"GET", "/events", "evil.example:1", good, "", 403},
		"rebound name":    {"POST", "/stop?session=s", "localhost.evil.example", good, "", 403},
		"a page":          {"POST", "/stop?session=s", "127.0.0.1:1", good, "http://127.0.0.1:1", 403},
		"unknown path":    {"GET", "/", "[::1]:1", good, "", 404},
		"stop by reading": {"GET", "/stop?session=s", "localhost:1", good, "", 405},
		"stop of nothing": {"POST", "/stop", "localhost:1", good, "", 400},
	} {
		if got := call(c.method, c.target, c.host, c.authorization, c.origin); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if stopped != "" {
		t.Errorf("stopped %q", stopped)
	}
	if got := call("POST", "/stop?session=s", "127.0.0.1:1", good, ""); got != 204 || stopped != "s" {
		t.Errorf("stop: %d, stopped %q", got, stopped)
	}
}

// owner is a process that serves a bus, and can be replaced by another.
type owner struct {
	mu     sync.Mutex
	server *httptest.Server
	token  string
}

func (o *owner) start(bus *Bus, token string, stop func(context.Context, string) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.token = token
	o.server = httptest.NewServer(NewHandler(bus, token, stop))
}

func (o *owner) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.server.CloseClientConnections()
	o.server.Close()
	o.server = nil
}

func (o *owner) endpoint(context.Context) (string, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.server == nil {
		return "", "", errors.New("nobody owns the engine")
	}
	return o.server.URL, o.token, nil
}

func TestRemoteFollows(t *testing.T) {
	var bus Bus
	var o owner
	var stops atomic.Int64
	o.start(&bus, testToken, func(_ context.Context, session string) error {
		if session != "s" {
			return fmt.Errorf("no session %s", session)
		}
		stops.Add(1)
		return nil
	})
	client := NewClient(o.endpoint)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := client.Subscribe(ctx, Filter{Session: "s"})
	// Connected in time: what is published from now on comes, without a gap.
	bus.Publish(item("t", "other"))
	bus.Publish(item("s", "1"))
	if got := showAll(next(t, c)); got != "s:1" {
		t.Fatalf("first: %s", got)
	}
	for i := range 100 {
		bus.Publish(delta("s", "a", 1, i*2, "ab"))
	}
	bus.Publish(item("s", "2"))
	text := ""
	for last := ""; last != "s:2"; {
		for _, ev := range next(t, c) {
			if ev.Delta != nil {
				text += ev.Delta.Text
			}
			last = show(ev)
		}
	}
	if text != strings.Repeat("ab", 100) {
		t.Errorf("streamed %d bytes, want 200", len(text))
	}
	if err := client.Stop(ctx, "s"); err != nil || stops.Load() != 1 {
		t.Errorf("stop: %v, %d", err, stops.Load())
	}
	if err := client.Stop(ctx, "x"); err == nil || !strings.Contains(err.Error(), "no session x") {
		t.Errorf("a stop that fails: %v", err)
	}

	// The owner dies; another takes its place, elsewhere, with another token.
	o.kill()
	if err := client.Stop(ctx, "s"); err == nil {
		t.Error("stopped by nobody")
	}
	var second Bus
	o.start(&second, "another-token", nil)
	if got := showAll(next(t, c)); got != "gap" {
		t.Errorf("after reconnecting: %s", got)
	}
	second.Publish(item("s", "3"))
	if got := showAll(next(t, c)); got != "s:3" {
		t.Errorf("from the second owner: %s", got)
	}
	cancel()
	for range c { // until it is closed
	}
	o.kill()
}

func TestRemoteConnectsLate(t *testing.T) {
	var o owner
	client := NewClient(o.endpoint)
	begin := time.Now()
	c := client.Subscribe(t.Context(), Filter{})
	if took := time.Since(begin); took < firstConnect || took > firstConnect+10*time.Second {
		t.Errorf("subscribing to nobody took %v", took)
	}
	var bus Bus
	o.start(&bus, testToken, nil)
	defer o.kill()
	if got := showAll(next(t, c)); got != "gap" {
		t.Errorf("first: %s", got)
	}
}

// A server that answers something else is no reason to end or to spin.
func TestRemoteAnswersNonsense(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, "<html>\n")
	}))
	defer server.Close()
	client := NewClient(func(context.Context) (string, string, error) { return server.URL, "", nil })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for batch := range client.Subscribe(ctx, Filter{}) {
		t.Errorf("got %s", showAll(batch))
	}
	if n := calls.Load(); n < 2 || n > 10 {
		t.Errorf("%d connections in a second", n)
	}
}
