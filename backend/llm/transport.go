package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Timeouts bound the waits of one request. A zero takes the default.
type Timeouts struct {
	// First is the longest wait from the request to the first piece of the
	// answer: local servers read a long prompt for minutes. Default 5 minutes.
	First time.Duration
	// Idle is the longest silence after that. Default 5 minutes: a model that
	// thinks hard says nothing meanwhile.
	Idle time.Duration
}

const (
	defaultFirst = 5 * time.Minute
	defaultIdle  = 5 * time.Minute
	// maxErrorBody is how much is read of an answer that is an error.
	maxErrorBody = 256 << 10
	// drainWait is how long the end of a finished answer is waited for, so that
	// its connection can serve the next request.
	drainWait = 20 * time.Millisecond
)

func (t Timeouts) withDefaults() Timeouts {
	if t.First <= 0 {
		t.First = defaultFirst
	}
	if t.Idle <= 0 {
		t.Idle = defaultIdle
	}
	return t
}

// newClient makes the one HTTP client that all providers share: its
// connections stay open, so that a step of a turn does not pay for a new one.
func newClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 proxy,
			DialContext:           dialer.DialContext,
			ForceAttemptHTTP2:     true,
			MaxIdleConns:          32,
			MaxIdleConnsPerHost:   8,
			IdleConnTimeout:       5 * time.Minute,
			TLSHandshakeTimeout:   10 * time.Second,
			ExpectContinueTimeout: time.Second,
			// A compressed stream would be held back in blocks.
			DisableCompression: true,
			// Finds connections that died while the machine slept.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		},
		CheckRedirect: sameHostOnly,
	}
}

// sameHostOnly follows a redirect only where the request was meant to go: keys
// and conversations are not for other hosts. Else the redirect itself is the
// answer, and becomes a fault that names its target.
func sameHostOnly(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) >= 5 || next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// badAnswer is an HTTP answer that is not what was asked for.
type badAnswer struct {
	Status      int
	Header      http.Header
	ContentType string
	Body        []byte
}

func (b *badAnswer) Error() string { return http.StatusText(b.Status) }

// refuse turns what is not a stream of events into a *badAnswer and closes it.
func refuse(res *http.Response) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	// Some servers stream without saying so.
	stream := kind == "text/event-stream" || kind == "" || kind == "text/plain" || kind == "application/octet-stream"
	if res.StatusCode < 300 && stream {
		return nil
	}
	return readBad(res, kind)
}

func readBad(res *http.Response, kind string) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	_ = res.Body.Close()
	return &badAnswer{Status: res.StatusCode, Header: res.Header, ContentType: kind, Body: body}
}

// Why a request was given up by us.
var (
	errNoAnswer = errors.New("no answer in time")
	errSilent   = errors.New("the answer stopped coming")
	// errCut is a stream that ended before the answer did.
	errCut = errors.New("the stream ended before the answer was complete")
)

// watch gives a request up when its answer does not begin, or falls silent.
type watch struct {
	timer *time.Timer
	idle  time.Duration
	begun atomic.Bool
}

func startWatch(t Timeouts, giveUp context.CancelCauseFunc) *watch {
	t = t.withDefaults()
	w := &watch{idle: t.Idle}
	w.timer = time.AfterFunc(t.First, func() {
		if w.begun.Load() {
			giveUp(errSilent)
		} else {
			giveUp(errNoAnswer)
		}
	})
	return w
}

// begin tells that the first piece of the answer is here.
func (w *watch) begin() {
	if w.begun.CompareAndSwap(false, true) {
		w.timer.Reset(w.idle)
	}
}

// alive tells that bytes arrived; keep-alive comments count too.
func (w *watch) alive() {
	if w.begun.Load() {
		w.timer.Reset(w.idle)
	}
}

type watchedBody struct {
	io.ReadCloser
	w *watch
}

func (b watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.w.alive()
	}
	return n, err
}

// events reads a stream of server-sent events.
type events struct {
	// open sends the request; an answer that is not a stream is its error.
	open func(ctx context.Context) (*http.Response, error)
	// each takes one event and tells whether it was the last.
	each func(ev ssestream.Event) (last bool, err error)
	// ended is asked when the stream ends without a last event; true means
	// that nothing is missing.
	ended func() bool
	// began tells whether a piece of the answer has come.
	began func() bool
}

// run reads the events until the last. Its error is the first cause: one of
// the above, a *badAnswer, or what the network said.
func (e events) run(parent context.Context, t Timeouts) error {
	ctx, giveUp := context.WithCancelCause(parent)
	w := startWatch(t, giveUp)
	defer w.timer.Stop()

	res, err := e.open(ctx)
	if err != nil {
		err = firstCause(ctx, err)
		giveUp(nil)
		return err
	}
	body := res.Body
	res.Body = watchedBody{body, w}
	err = e.read(ssestream.NewDecoder(res), w)
	if err != nil {
		err = firstCause(ctx, err)
		giveUp(nil)
		_ = body.Close()
		return err
	}
	finish(body, giveUp) // not watched any more
	return nil
}

func (e events) read(dec ssestream.Decoder, w *watch) error {
	for dec.Next() {
		last, err := e.each(dec.Event())
		if err != nil || last {
			return err
		}
		if e.began() {
			w.begin()
		}
	}
	if err := dec.Err(); err != nil {
		return err
	}
	if e.ended() {
		return nil
	}
	return errCut
}

// firstCause prefers why we gave up to the error that this made.
func firstCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// finish reads the rest of a complete answer, which is nothing but its end, so
// that the connection can be used again, and waits only a moment for it.
func finish(body io.ReadCloser, done context.CancelCauseFunc) {
	drained := make(chan struct{})
	limit := time.AfterFunc(time.Second, func() { done(nil) })
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, io.LimitReader(body, 64<<10))
		_ = body.Close()
		limit.Stop()
		done(nil)
	}()
	wait := time.NewTimer(drainWait)
	defer wait.Stop()
	select {
	case <-drained:
	case <-wait.C:
	}
}

// remote is an HTTP service with its key.
type remote struct {
	client *http.Client
	base   string
	key    string
	header http.Header
}

func (r remote) url(path string) string { return strings.TrimRight(r.base, "/") + "/" + path }

// post sends a JSON body to a path and gives back a stream of events.
func (r remote) post(ctx context.Context, path string, body []byte) (*http.Response, error) {
	req, err := r.request(ctx, http.MethodPost, r.url(path), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	if err := refuse(res); err != nil {
		return nil, err
	}
	return res, nil
}

// get reads a small JSON document, at most 8 MiB.
func (r remote) get(ctx context.Context, address string) ([]byte, error) {
	return r.ask(ctx, http.MethodGet, address, nil)
}

func (r remote) ask(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	req, err := r.request(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode >= 300 || kind == "text/html" {
		return nil, readBad(res, kind)
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(io.LimitReader(res.Body, 8<<20))
}

func (r remote) request(ctx context.Context, method, address string, body []byte) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, err
	}
	for k, v := range r.header {
		req.Header[k] = v
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	return req, nil
}
