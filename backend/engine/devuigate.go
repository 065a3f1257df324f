package engine

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// openPath is where a ticket is exchanged for the cookie.
	openPath = "/open"
	// ticketLife is how long an address of StartDevUI can be opened.
	ticketLife = 5 * time.Minute
	cookieName = "engine_ui"
)

// uiGate lets one browser at a time through to the Web UI: the one that was
// opened with a ticket, from pages of the UI itself. Other programs, other
// users, and other web pages open in that browser get 403.
type uiGate struct {
	host  string // what the browser must call us
	pages http.Handler
	now   func() time.Time

	mu      sync.Mutex
	tickets map[string]time.Time // to when each is good
	cookies [][]byte
}

func newUIGate(host string, pages http.Handler) *uiGate {
	return &uiGate{host: host, pages: pages, now: time.Now, tickets: map[string]time.Time{}}
}

// issue makes a ticket that opens the UI once.
func (g *uiGate) issue() (string, error) {
	t, err := randomHex()
	if err != nil {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for k, until := range g.tickets {
		if g.now().After(until) {
			delete(g.tickets, k)
		}
	}
	g.tickets[t] = g.now().Add(ticketLife)
	return t, nil
}

// ServeHTTP checks where a request comes from, and what it has to show.
func (g *uiGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A name that a foreign page pointed at 127.0.0.1 is not our address.
	if r.Host != g.host || !g.ownOrigin(r) {
		refuse(w)
		return
	}
	if r.URL.Path == openPath {
		g.open(w, r)
		return
	}
	if !g.known(r) {
		refuse(w)
		return
	}
	// What the pages call with is the engine's own token, nothing else.
	r.Header.Del("Authorization")
	g.pages.ServeHTTP(w, r)
}

// ownOrigin tells whether a request that says where it comes from comes from
// our own pages. Only opening a page may come from nowhere.
func (g *uiGate) ownOrigin(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+g.host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	default:
		// A link on a foreign page may lead to openPath with a ticket; the
		// cookie is not sent along with anything else.
		return r.Method == http.MethodGet && r.URL.Path == openPath
	}
}

// open exchanges a ticket for the cookie.
func (g *uiGate) open(w http.ResponseWriter, r *http.Request) {
	cookie, err := g.redeem(r.URL.Query().Get("ticket"))
	if err != nil {
		refuse(w)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

var errNoTicket = errors.New("no such ticket")

func (g *uiGate) redeem(ticket string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, found := g.tickets[ticket]
	delete(g.tickets, ticket)
	if !found || g.now().After(until) {
		return "", errNoTicket
	}
	cookie, err := randomHex()
	if err != nil {
		return "", err
	}
	g.cookies = append(g.cookies, []byte(cookie))
	return cookie, nil
}

func (g *uiGate) known(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	ok := 0
	for _, want := range g.cookies {
		ok |= subtle.ConstantTimeCompare([]byte(c.Value), want)
	}
	return ok == 1
}

func refuse(w http.ResponseWriter) {
	http.Error(w, "Open this page from the app's menu.", http.StatusForbidden)
}

func randomHex() (string, error) {
	b := make([]byte, tokenBytes)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return hex.EncodeToString(b), nil
}
