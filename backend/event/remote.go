package event

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// What goes over the wire: GET /events?session=… answers with one JSON array
// of events a line, an empty one first and then as a sign of life;
// POST /stop?session=… stops what runs in a session.
const (
	eventsPath = "/events"
	stopPath   = "/stop"
	// lifeEvery is how often a quiet stream gives a sign of life.
	lifeEvery = 10 * time.Second
	// writeTimeout ends the stream of a reader that does not read.
	writeTimeout = 30 * time.Second
)

// Handler serves a bus to other processes of the same user, on loopback.
type Handler struct {
	bus   *Bus
	token [sha256.Size]byte
	stop  func(ctx context.Context, session string) error
	mux   *http.ServeMux
}

// NewHandler returns a handler that wants token as the bearer, and calls stop
// to kill what runs in a session at once.
func NewHandler(bus *Bus, token string, stop func(ctx context.Context, session string) error) *Handler {
	h := &Handler{bus: bus, token: sha256.Sum256([]byte(token)), stop: stop, mux: http.NewServeMux()}
	h.mux.HandleFunc("GET "+eventsPath, h.events)
	h.mux.HandleFunc("POST "+stopPath, h.stopSession)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A page in a browser may reach loopback, under a name of its own (DNS
	// rebinding) or as a cross-site request: neither is one of ours.
	if !isLoopback(r.Host) || r.Header.Get("Origin") != "" {
		http.Error(w, "not for browsers", http.StatusForbidden)
		return
	}
	if !h.authorized(r) {
		http.Error(w, "the token is wrong", http.StatusUnauthorized)
		return
	}
	h.mux.ServeHTTP(w, r)
}

func (h *Handler) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	// Hashes have one length, so the comparison tells nothing of the token's.
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], h.token[:]) == 1 && ok
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	batches := h.bus.Subscribe(r.Context(), Filter{Session: r.URL.Query().Get("session")})
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	lines := json.NewEncoder(w)
	life := time.NewTicker(lifeEvery)
	defer life.Stop()
	batch := []protocol.Event{}
	for {
		// A test's recorder has no deadlines; a real connection has.
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		if err := lines.Encode(batch); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		var ok bool
		select {
		case batch, ok = <-batches:
			if !ok {
				return
			}
		case <-life.C:
			batch = []protocol.Event{}
		}
	}
}

func (h *Handler) stopSession(w http.ResponseWriter, r *http.Request) {
	session := r.URL.Query().Get("session")
	if session == "" || h.stop == nil {
		http.Error(w, "no session given", http.StatusBadRequest)
		return
	}
	if err := h.stop(r.Context(), session); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
