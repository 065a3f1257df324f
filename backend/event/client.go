package event

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

const (
	// firstConnect is how long Subscribe waits for the connection.
	firstConnect = 2 * time.Second
	// silence is how long a stream may say nothing before it is given up.
	silence  = 3 * lifeEvery
	retryMin = 50 * time.Millisecond
	retryMax = 2 * time.Second
)

// Endpoint tells where a Handler is served now, as "http://127.0.0.1:port",
// and its token. It is asked again before each connection: the owner of the
// engine may be another process by then.
type Endpoint func(ctx context.Context) (address, token string, err error)

// Client watches the bus of another process.
type Client struct {
	endpoint Endpoint
	http     *http.Client
}

// NewClient returns a client of what endpoint points to.
func NewClient(endpoint Endpoint) *Client {
	// A proxy of the environment is not for loopback.
	return &Client{endpoint: endpoint, http: &http.Client{Transport: &http.Transport{Proxy: nil}}}
}

// Subscribe is like Bus.Subscribe, over a connection that is made again
// whenever it breaks, after which the first event is an EventGap. It returns
// once connected, or after 2 seconds; then a gap comes first as well.
func (c *Client) Subscribe(ctx context.Context, filter Filter) <-chan []protocol.Event {
	f := &follower{client: c, filter: filter, out: make(chan []protocol.Event), ready: make(chan struct{})}
	go func() {
		defer close(f.out)
		f.run(ctx)
	}()
	timer := time.NewTimer(firstConnect)
	defer timer.Stop()
	select {
	case <-f.ready:
	case <-timer.C:
		f.behind.Store(true)
	case <-ctx.Done():
	}
	return f.out
}

// follower is one subscription of a client.
type follower struct {
	client *Client
	filter Filter
	out    chan []protocol.Event
	ready  chan struct{} // closed once connected in time
	// behind is true when events may have passed by before the next connection.
	behind atomic.Bool
}

// run connects again and again until ctx ends.
func (f *follower) run(ctx context.Context) {
	for wait := retryMin; ctx.Err() == nil; wait = min(2*wait, retryMax) {
		if f.stream(ctx) {
			wait = retryMin
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// stream delivers the batches of one connection until it ends, and tells
// whether there was one.
func (f *follower) stream(ctx context.Context) (connected bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The other side gives signs of life; without them this ends the reading.
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	body, err := f.client.call(ctx, http.MethodGet, eventsPath, f.filter.Session)
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return connected
		}
		var batch []protocol.Event
		if err := json.Unmarshal(line, &batch); err != nil {
			return connected
		}
		// A consumer that takes its time is not the other side's silence.
		watchdog.Stop()
		if !connected {
			// The other side collects from before its first line.
			connected = true
			if f.behind.Swap(true) {
				batch = append([]protocol.Event{{Type: protocol.EventGap}}, batch...)
			} else {
				close(f.ready)
			}
		}
		if len(batch) > 0 && !f.send(ctx, batch) {
			return connected
		}
		watchdog.Reset(silence)
	}
}

func (f *follower) send(ctx context.Context, batch []protocol.Event) bool {
	select {
	case f.out <- batch:
		return true
	case <-ctx.Done():
		return false
	}
}

// Stop has the other process kill what runs in a session, at once.
func (c *Client) Stop(ctx context.Context, session string) error {
	body, err := c.call(ctx, http.MethodPost, stopPath, session)
	if err != nil {
		return fmt.Errorf("stop session %s: %w", session, err)
	}
	return body.Close()
}

func (c *Client) call(ctx context.Context, method, path, session string) (io.ReadCloser, error) {
	address, token, err := c.endpoint(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the process that owns the engine: %w", err)
	}
	query := url.Values{}
	if session != "" {
		query.Set("session", session)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(address, "/")+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s: %s", res.Status, strings.TrimSpace(string(text)))
	}
	return res.Body, nil
}
