package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// How OpenAI's own library exports, and so do we.
const (
	maxQueue   = 8192
	maxBatch   = 128
	flushEvery = 5 * time.Second
	tries      = 3
	firstWait  = time.Second
	maxWait    = 30 * time.Second
	// callTimeout ends a request that gets no answer.
	callTimeout = 60 * time.Second

	// Spans carry what tools printed, so bytes are bounded as well.
	maxQueueBytes = 16 << 20
	maxBatchBytes = 4 << 20
)

// DefaultBaseURL is where OpenAI takes traces, without the path.
const DefaultBaseURL = "https://api.openai.com/v1"

const ingestPath = "/traces/ingest"

// Credentials say to whom traces are sent. The key goes to BaseURL only, empty
// for OpenAI's own: a key for somebody's proxy must not reach OpenAI, nor the
// other way round.
type Credentials struct {
	Key, BaseURL, Organization, Project string
}

func (c Credentials) url() string {
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	return strings.TrimRight(base, "/") + ingestPath
}

// timing is what tests shorten.
type timing struct{ flush, first, most time.Duration }

// exporter sends items in batches. Putting one never waits: what finds no room
// is dropped, and told once.
type exporter struct {
	credentials func(context.Context) Credentials
	http        *http.Client
	log         *slog.Logger
	timing      timing

	mu      sync.Mutex
	queue   []json.RawMessage
	bytes   int
	dropped int
	closed  bool

	wake   chan struct{} // enough waits, or close was called
	ended  chan struct{}
	cancel context.CancelFunc
	told   sync.Map // warnings that were given
}

func newExporter(ctx context.Context, c Config) *exporter {
	// It ends with close, which decides how long it may take.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := &exporter{
		credentials: c.Credentials, http: c.HTTP, log: c.Log, timing: c.timing,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), cancel: cancel,
	}
	go e.run(ctx)
	return e
}

// send puts an item into the queue.
func send[T any](e *exporter, item T) {
	raw, err := json.Marshal(item)
	if err != nil {
		e.warn("encode", "a span could not be encoded", err)
		return
	}
	e.put(raw)
}

func (e *exporter) put(raw json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if len(e.queue) >= maxQueue || e.bytes+len(raw) > maxQueueBytes {
		e.dropped++
		return
	}
	e.queue = append(e.queue, raw)
	e.bytes += len(raw)
	if len(e.queue) >= maxQueue*7/10 || e.bytes >= maxQueueBytes*7/10 {
		e.poke()
	}
}

func (e *exporter) poke() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *exporter) run(ctx context.Context) {
	defer close(e.ended)
	ticker := time.NewTicker(e.timing.flush)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-e.wake:
		}
		for {
			batch, last := e.take()
			if len(batch) == 0 {
				if last {
					return
				}
				break
			}
			e.export(ctx, batch)
		}
	}
}

// take removes the next batch. last is true when no more will come.
func (e *exporter) take() (batch []json.RawMessage, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dropped > 0 {
		e.warn("dropped", "spans were dropped: they came faster than they could be sent", fmt.Errorf("%d so far", e.dropped))
		e.dropped = 0
	}
	n, size := 0, 0
	for n < len(e.queue) && n < maxBatch && (n == 0 || size+len(e.queue[n]) <= maxBatchBytes) {
		size += len(e.queue[n])
		n++
	}
	batch = e.queue[:n:n]
	e.queue = e.queue[n:]
	e.bytes -= size
	if len(e.queue) == 0 {
		e.queue = nil
	}
	return batch, e.closed
}

// errFinal is an answer that would be the same again.
var errFinal = errors.New("refused")

func (e *exporter) export(ctx context.Context, batch []json.RawMessage) {
	c := e.credentials(ctx)
	if c.Key == "" {
		e.warn("key", "traces are not sent: there is no OpenAI key", nil)
		return
	}
	body, err := json.Marshal(wireBody[json.RawMessage]{Data: batch})
	if err != nil {
		e.warn("encode", "a batch of spans could not be encoded", err)
		return
	}
	wait := e.timing.first
	for try := 1; ; try++ {
		err = e.post(ctx, c, body)
		if err == nil {
			return
		}
		if try == tries || errors.Is(err, errFinal) || ctx.Err() != nil {
			break
		}
		jitter := time.Duration(rand.Int64N(int64(wait)/10 + 1))
		select {
		case <-time.After(wait + jitter):
		case <-ctx.Done():
		}
		wait = min(2*wait, e.timing.most)
	}
	e.warn("export", "spans could not be sent", err)
}

func (e *exporter) post(ctx context.Context, c Credentials, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url(), bytes.NewReader(body))
	if err != nil {
		return errors.Join(errFinal, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("OpenAI-Beta", "traces=v1")
	if c.Organization != "" {
		req.Header.Set("OpenAI-Organization", c.Organization)
	}
	if c.Project != "" {
		req.Header.Set("OpenAI-Project", c.Project)
	}
	res, err := e.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode / 100 {
	case 2:
		return nil
	case 4:
		return fmt.Errorf("%w: %s%s", errFinal, res.Status, code(res.Body))
	default:
		return fmt.Errorf("%s%s", res.Status, code(res.Body))
	}
}

// code is the code of an error that the server gives. Not its message: that may
// repeat what was sent, and it ends in a log.
func code(body io.Reader) string {
	var answer struct {
		Error struct {
			Code string `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(body, 16<<10)).Decode(&answer) != nil {
		return ""
	}
	for _, word := range []string{answer.Error.Code, answer.Error.Type} {
		if word != "" && len(word) < 64 {
			return ": " + word
		}
	}
	return ""
}

// close sends what waits until ctx ends, and then gives up.
func (e *exporter) close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.poke()
	stop := context.AfterFunc(ctx, e.cancel)
	defer stop()
	defer e.cancel()
	<-e.ended
	if ctx.Err() != nil {
		return fmt.Errorf("send the last traces: %w", ctx.Err())
	}
	return nil
}

// warn logs a thing once: it would be the same with every batch.
func (e *exporter) warn(kind, text string, err error) {
	if _, before := e.told.LoadOrStore(kind, true); before {
		return
	}
	if err == nil {
		e.log.Warn(text)
		return
	}
	e.log.Warn(text, "error", err)
}
