package engine

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestDevUI(t *testing.T) {
	e := testEngine(t, t.TempDir())
	testWorker(t, e)
	start(t, e.Client(), "shown-in-the-ui", "Wait")
	open, err := e.StartDevUI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(open)
	if err != nil {
		t.Fatal(err)
	}
	list := "http://" + base.Host + "/api/v1/namespaces/" + DefaultNamespace + "/workflows"
	home := "http://" + base.Host + "/"

	t.Run("strangers", func(t *testing.T) {
		for _, u := range []string{home, list, home + "namespaces/default/workflows", home + "open", home + "open?ticket=0", home + "_app/version.json"} {
			if code, _ := get(t, http.DefaultClient, u, nil); code != http.StatusForbidden {
				t.Errorf("%s: %d, want 403", u, code)
			}
		}
		if code, _ := get(t, http.DefaultClient, list, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: cookieName, Value: strings.Repeat("0", 64)})
		}); code != http.StatusForbidden {
			t.Errorf("wrong cookie: %d, want 403", code)
		}
		if code, _ := get(t, http.DefaultClient, list, func(r *http.Request) {
			r.Header.Set("Authorization", e.link.token.header())
		}); code != http.StatusForbidden {
			t.Errorf("the engine's token is not the UI's: %d, want 403", code)
		}
	})

	browser := newBrowser(t)
	t.Run("opened from the menu", func(t *testing.T) {
		code, page := get(t, browser, open, nil)
		if code != http.StatusOK || !strings.Contains(page, "<html") {
			t.Fatalf("%d %.100s", code, page)
		}
		eventually(t, 5*time.Second, "the workflow is in the list", func() bool {
			code, body := get(t, browser, list, nil)
			return code == http.StatusOK && strings.Contains(body, "shown-in-the-ui")
		})
		if code, body := get(t, browser, home+"api/v1/settings", nil); code != http.StatusOK || !strings.Contains(body, DefaultNamespace) {
			t.Errorf("settings: %d %s", code, body)
		}
		// This one the server asks its own front end for.
		if code, body := get(t, browser, home+"api/v1/namespaces/default/search-attributes", nil); code != http.StatusOK {
			t.Errorf("search attributes: %d %s", code, body)
		}
		if code, body := get(t, browser, home+"_app/version.json", nil); code != http.StatusOK || strings.Contains(body, "<html") {
			t.Errorf("asset: %d %.100s", code, body)
		}
		for _, c := range browser.Jar.Cookies(base) {
			if c.Name == cookieName && len(c.Value) != 64 {
				t.Errorf("cookie %v", c)
			}
		}
	})

	t.Run("the ticket is good once", func(t *testing.T) {
		if code, _ := get(t, newBrowser(t), open, nil); code != http.StatusForbidden {
			t.Errorf("%d, want 403", code)
		}
	})

	t.Run("foreign pages in the same browser", func(t *testing.T) {
		for name, set := range map[string]func(*http.Request){
			"rebound name":   func(r *http.Request) { r.Host = "evil.example" },
			"other port":     func(r *http.Request) { r.Host = base.Hostname() + ":1" },
			"foreign origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
			"cross-site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"same-site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		} {
			if code, _ := get(t, browser, list, set); code != http.StatusForbidden {
				t.Errorf("%s: %d, want 403", name, code)
			}
		}
		if code, _ := get(t, browser, list, func(r *http.Request) {
			r.Header.Set("Origin", "http://"+base.Host)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}); code != http.StatusOK {
			t.Errorf("its own page: %d, want 200", code)
		}
	})

	t.Run("started once, opened again", func(t *testing.T) {
		again, err := e.StartDevUI(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if u, err := url.Parse(again); err != nil || u.Host != base.Host || again == open {
			t.Errorf("%s and then %s", open, again)
		}
		if code, _ := get(t, newBrowser(t), again, nil); code != http.StatusOK {
			t.Errorf("%d, want 200", code)
		}
		if code, _ := get(t, browser, list, nil); code != http.StatusOK {
			t.Errorf("the first browser: %d, want 200", code)
		}
	})

	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if resp, err := browser.Get(home); err == nil {
		_ = resp.Body.Close()
		t.Error("the UI outlived the engine")
	}
	if _, err := e.StartDevUI(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestTicketsExpire(t *testing.T) {
	g := newUIGate("127.0.0.1:1", http.NotFoundHandler())
	now := time.Now()
	g.now = func() time.Time { return now }
	ticket, err := g.issue()
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(ticketLife + time.Second)
	if _, err := g.redeem(ticket); !errors.Is(err, errNoTicket) {
		t.Errorf("an old ticket: %v", err)
	}
	if _, err := g.redeem(""); !errors.Is(err, errNoTicket) {
		t.Errorf("no ticket: %v", err)
	}
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func get(t *testing.T, c *http.Client, u string, set func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
	if err != nil {
		t.Fatal(err)
	}
	if set != nil {
		set(req)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}
