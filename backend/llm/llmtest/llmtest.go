// Package llmtest is a scripted server that speaks OpenAI's wire: the Responses
// API and Chat Completions, streamed and framed as the real one does it. It
// fails on demand in all the ways that services fail. It runs within the test
// and imports no client library, so that it can't share a mistake with one.
package llmtest

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Answer is what the server does with one request. The zero value is an empty
// text.
type Answer struct {
	// Items are said in order.
	Items []Item
	// Usage is counted; nil leaves it out of Chat Completions and counts zero
	// in Responses.
	Usage *Usage

	// Status other than 0 and 200 answers with Body instead of a stream.
	Status int
	Header http.Header
	// Body is sent as it is, with ContentType (default application/json).
	Body        string
	ContentType string

	// Delay is the wait before the first byte, Pace the wait after each event.
	Delay, Pace time.Duration
	// CutAfter ends the connection after that many events, without an end of
	// the stream; 0 is never.
	CutAfter int
	// HangAfter says nothing more after that many events until the client goes.
	HangAfter int
	// Inject sends raw text in the place of an event: by its number, from 0.
	Inject map[int]string

	// Incomplete ends a response as incomplete for this reason
	// ("max_output_tokens", "content_filter"); in Chat Completions as the
	// matching finish_reason.
	Incomplete string
	// Fail ends a response as failed with this error; in Chat Completions it is
	// sent as an error within the stream.
	Fail *Error
	// BareError sends the error event of the Responses API instead of a failed
	// response.
	BareError bool
	// EmptyOutput leaves the output out of the last event of a response.
	EmptyOutput bool
	// Chat are the quirks of compatible servers.
	Chat ChatQuirks
}

// ChatQuirks are what compatible servers do differently.
type ChatQuirks struct {
	// WholeCalls sends each call in one chunk.
	WholeCalls bool
	// NoIndex, NoID leave them out; SameID gives all calls this id; RepeatID
	// repeats id and name in each chunk; ZeroIndex puts all calls at index 0.
	NoIndex, NoID, RepeatID, ZeroIndex bool
	SameID                             string
	// ObjectArgs sends arguments as an object, in one chunk.
	ObjectArgs bool
	// Finish replaces the finish reason; "-" leaves it out, NoDone leaves out
	// [DONE].
	Finish string
	NoDone bool
	// ReasoningField is the name of the reasoning: default
	// "reasoning_content"; "think" writes it into the content.
	ReasoningField string
	// NullError puts "error": null into each chunk.
	NullError bool
	// Comments sends a comment before each event.
	Comments bool
	// Extra is attached to each call as extra_content.
	Extra json.RawMessage
}

// Item is one piece of an answer. Exactly one of Text, Refusal, Call and
// Reasoning is set.
type Item struct {
	Text    string
	Refusal string
	Call    string // the tool's name
	Args    string
	CallID  string // default call_<request>_<number>
	// Reasoning is a summary; its parts are cut at empty lines.
	Reasoning string
	Encrypted string
	// Phase is the message's, where a model has it.
	Phase string
}

// Usage counts tokens.
type Usage struct {
	Input, Cached, CacheWrites, Output, Reasoning int64
}

// Error is an error as the services describe it.
type Error struct {
	Code    string `json:"code,omitempty"`
	Type    string `json:"type,omitempty"`
	Param   string `json:"param,omitempty"`
	Message string `json:"message"`
}

// Text answers with a text.
func Text(text string) Answer { return Answer{Items: []Item{{Text: text}}} }

// Call answers with a call of a tool.
func Call(name, args string) Answer { return Answer{Items: []Item{{Call: name, Args: args}}} }

// Failure answers with a status and an error as OpenAI writes it.
func Failure(status int, e Error) Answer {
	body, err := json.Marshal(struct {
		Error Error `json:"error"`
	}{e})
	if err != nil {
		panic(err) // strings always encode
	}
	return Answer{Status: status, Body: string(body)}
}

// Request is a request as the server received it.
type Request struct {
	// API is "responses" or "chat", "models" for the list.
	API    string
	Number int // from 1
	Header http.Header
	Body   []byte
	// Remote is the client's address: it tells connections apart.
	Remote string

	Model    string
	Tools    []string
	LastUser string
	// Results are those since the last message of the user.
	Results []Result
}

// Result is the result of a call that the client sent back.
type Result struct {
	CallID string
	Output string
	Images []string // URLs
}

// Server is the scripted server.
type Server struct {
	// URL is the base URL, with /v1.
	URL string
	// Root is the address without a path.
	Root string

	http *httptest.Server

	mu       sync.Mutex
	script   []Answer
	handle   func(Request) Answer
	requests []Request
	models   string
	key      string
	conns    int
	gone     chan struct{}
}

// New starts a server that ends with the test. Without a script it answers
// every request with "ok".
func New(t testing.TB) *Server {
	t.Helper()
	s := Start()
	t.Cleanup(s.Close)
	return s
}

// Start starts a server outside of a test; Close ends it.
func Start() *Server {
	s := &Server{
		models: `{"object":"list","data":[{"id":"gpt-5.4-mini","object":"model","created":1773700000,"owned_by":"system"}]}`,
		gone:   make(chan struct{}),
	}
	s.http = httptest.NewUnstartedServer(s.mux())
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
		}
	}
	s.http.Start()
	s.Root = s.http.URL
	s.URL = s.http.URL + "/v1"
	return s
}

// Close ends all connections and the server.
func (s *Server) Close() {
	close(s.gone)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Push adds answers to the script. Once they are used up, the last handler
// answers, else "ok".
func (s *Server) Push(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, answers...)
}

// Handle answers what the script does not.
func (s *Server) Handle(f func(Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle = f
}

// SetModels replaces the list of models: ids, or one JSON document.
func (s *Server) SetModels(models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(models) == 1 && strings.HasPrefix(models[0], "{") {
		s.models = models[0]
		return
	}
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{}}
	for i, id := range models {
		list.Data = append(list.Data, model{id, "model", 1_700_000_000 + int64(i), "system"})
	}
	s.models = mustJSON(list)
}

// RequireKey refuses requests without this key as OpenAI does.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Requests returns what came so far, listings of models included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Last returns the newest request; it panics before the first.
func (s *Server) Last() Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[len(s.requests)-1]
}

// Connections counts the connections that were made.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

func (s *Server) next(r Request) Answer {
	s.mu.Lock()
	handle := s.handle
	if len(s.script) > 0 {
		a := s.script[0]
		s.script = s.script[1:]
		s.mu.Unlock()
		return a
	}
	s.mu.Unlock()
	if handle != nil {
		return handle(r)
	}
	return Text("ok")
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types
	}
	return string(b)
}
