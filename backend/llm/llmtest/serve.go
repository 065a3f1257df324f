package llmtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, "responses") })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, "chat") })
	mux.HandleFunc("GET /v1/models", s.list)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Invalid URL (%s %s)","type":"invalid_request_error","param":null,"code":null}}`, r.Method, r.URL.Path)
	})
	return mux
}

// admit records a request and refuses it without the right key.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, api string) (Request, bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return Request{}, false
	}
	req := parseRequest(api, body)
	req.Header, req.Remote = r.Header.Clone(), r.RemoteAddr
	s.mu.Lock()
	req.Number = len(s.requests) + 1
	s.requests = append(s.requests, req)
	key := s.key
	s.mu.Unlock()

	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case key == "" || given == key:
		return req, true
	case given == "":
		s.plain(w, Failure(http.StatusUnauthorized, Error{Type: "invalid_request_error", Message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth."}))
	default:
		s.plain(w, Failure(http.StatusUnauthorized, Error{Code: "invalid_api_key", Type: "invalid_request_error", Message: "Incorrect API key provided: " + given + ". You can find your API key at https://platform.openai.com/account/api-keys."}))
	}
	return req, false
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.admit(w, r, "models"); !ok {
		return
	}
	s.mu.Lock()
	models := s.models
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, models)
}

func (s *Server) plain(w http.ResponseWriter, a Answer) {
	kind := a.ContentType
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	for k, v := range a.Header {
		w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	w.WriteHeader(max(a.Status, http.StatusOK))
	_, _ = io.WriteString(w, a.Body)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, api string) {
	req, ok := s.admit(w, r, api)
	if !ok {
		return
	}
	a := s.next(req)
	if !s.wait(r, a.Delay) {
		return
	}
	if (a.Status != 0 && a.Status != http.StatusOK) || a.Body != "" {
		s.plain(w, a)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	for k, v := range a.Header {
		w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	w.WriteHeader(http.StatusOK)
	f, _ := w.(http.Flusher)
	out := &sender{s: s, w: w, r: r, f: f, a: a}
	f.Flush()
	if api == "responses" {
		out.responses(req)
	} else {
		out.chat(req)
	}
}

// wait waits, and tells whether the client is still there.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
	case <-s.gone:
	}
	return false
}

// sender writes the events of one answer.
type sender struct {
	s    *Server
	w    http.ResponseWriter
	r    *http.Request
	f    http.Flusher
	a    Answer
	n    int
	seq  int
	done bool
}

// event sends one event; name is empty in Chat Completions.
func (o *sender) event(name, data string) {
	if o.done {
		return
	}
	if o.a.CutAfter > 0 && o.n >= o.a.CutAfter {
		o.done = true
		// Unwinds the handler and cuts the connection without an end.
		panic(http.ErrAbortHandler)
	}
	if o.a.HangAfter > 0 && o.n >= o.a.HangAfter {
		o.done = true
		o.s.wait(o.r, time.Hour)
		return
	}
	if o.a.Chat.Comments {
		_, _ = io.WriteString(o.w, ": keep-alive\n\n")
	}
	text := "data: " + data + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	if raw, ok := o.a.Inject[o.n]; ok {
		text = raw
	}
	o.n++
	if _, err := io.WriteString(o.w, text); err != nil {
		o.done = true
		return
	}
	o.f.Flush()
	if !o.s.wait(o.r, o.a.Pace) {
		o.done = true
	}
}

// parts cuts a text as tokens do: after each word, at runes.
func parts(text string) []string {
	var out []string
	for w := range strings.SplitAfterSeq(text, " ") {
		for len(w) > 16 {
			n := 16
			for n < len(w) && w[n]&0xC0 == 0x80 {
				n++
			}
			out, w = append(out, w[:n]), w[n:]
		}
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}
