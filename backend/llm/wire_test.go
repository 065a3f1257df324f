package llm

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/backend/protocol"
)

func TestSlowFirstPiece(t *testing.T) {
	both(t, Timeouts{First: 60 * time.Millisecond, Idle: time.Hour}, func(t *testing.T, s *llmtest.Server, m Model) {
		s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "late"}}, Delay: time.Hour})
		within(t, 5*time.Second, func() {
			f := streamFault(t, m, protocol.ClassConnection)
			if !strings.HasSuffix(f.Happened, "did not begin to answer in time") {
				t.Errorf("happened: %s", f.Happened)
			}
		})
	})
}

// An answer that has begun without a piece of it (response.created) still has
// to come.
func TestCreatedIsNotTheFirstPiece(t *testing.T) {
	both(t, Timeouts{First: 60 * time.Millisecond, Idle: time.Hour}, func(t *testing.T, s *llmtest.Server, m Model) {
		s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "late"}}, HangAfter: 1})
		within(t, 5*time.Second, func() { streamFault(t, m, protocol.ClassConnection) })
	})
}

func TestSlowButInTime(t *testing.T) {
	both(t, Timeouts{First: 5 * time.Second, Idle: 5 * time.Second}, func(t *testing.T, s *llmtest.Server, m Model) {
		s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "late"}}, Delay: 100 * time.Millisecond})
		if out := stream(t, m, ask("go")); out.Output[0].Text != "late" {
			t.Errorf("got %+v", out)
		}
	})
}

func TestSilenceInTheMiddle(t *testing.T) {
	both(t, Timeouts{First: time.Hour, Idle: 80 * time.Millisecond}, func(t *testing.T, s *llmtest.Server, m Model) {
		s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "a b c d e f"}}, HangAfter: 7})
		within(t, 5*time.Second, func() {
			f := streamFault(t, m, protocol.ClassConnection)
			if !strings.HasSuffix(f.Happened, "stopped in the middle of its answer") {
				t.Errorf("happened: %s", f.Happened)
			}
		})
	})
}

// Each event, even a comment, shows that the other side is alive.
func TestEventsKeepAnAnswerAlive(t *testing.T) {
	both(t, Timeouts{First: time.Hour, Idle: time.Second}, func(t *testing.T, s *llmtest.Server, m Model) {
		s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: strings.Repeat("word ", 12)}}, Pace: 100 * time.Millisecond})
		if out := stream(t, m, ask("go")); out.Output[0].Text != strings.Repeat("word ", 12) {
			t.Errorf("got %+v", out)
		}
	})
}

func TestCancelIsImmediate(t *testing.T) {
	t.Run("before the answer", func(t *testing.T) {
		both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
			s.Push(llmtest.Answer{Delay: time.Hour})
			ctx, cancel := withContext(t)
			time.AfterFunc(30*time.Millisecond, cancel)
			within(t, 5*time.Second, func() {
				_, err := m.Stream(ctx, ask("go"), func(Delta) {})
				faultOf(t, err, protocol.ClassCancelled)
			})
		})
	})
	t.Run("in its middle", func(t *testing.T) {
		both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
			s.Push(llmtest.Answer{Items: []llmtest.Item{{Text: "a b c d e f"}}, HangAfter: 7})
			ctx, cancel := withContext(t)
			r := recorder{cancel: cancel}
			within(t, 5*time.Second, func() {
				_, err := m.Stream(ctx, ask("go"), r.sink)
				faultOf(t, err, protocol.ClassCancelled)
			})
			if len(r.deltas) == 0 {
				t.Error("nothing had come")
			}
		})
	})
	t.Run("a deadline is no stop", func(t *testing.T) {
		both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
			s.Push(llmtest.Answer{Delay: time.Hour})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			_, err := m.Stream(ctx, ask("go"), func(Delta) {})
			faultOf(t, err, protocol.ClassConnection)
		})
	})
}

// A step of a turn costs no new connection.
func TestOneConnection(t *testing.T) {
	both(t, Timeouts{}, func(t *testing.T, s *llmtest.Server, m Model) {
		for range 20 {
			stream(t, m, ask("go"))
		}
		if n := s.Connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// A server that keeps the connection open after its last event does not hold
// the answer back.
func TestOpenEndDoesNotHold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	p := openAI{settings: OpenAISettings{Key: testKey, BaseURL: server.URL}, client: newClient(nil), mem: newMemory()}
	began := time.Now()
	if _, err := p.Open("m").Stream(t.Context(), ask("go"), func(Delta) {}); err != nil {
		t.Error(err)
	}
	// The end is read in the background, for a second at most.
	if took := time.Since(began); took >= time.Second {
		t.Errorf("took %v", took)
	}
}

// Keys go nowhere but where they were meant to.
func TestRedirectsToOtherHosts(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	mem := newMemory()
	for _, p := range []Provider{
		openAI{settings: OpenAISettings{Key: testKey, BaseURL: first.URL}, client: newClient(nil), mem: mem},
		compatible{ep: Endpoint{Name: "a", BaseURL: first.URL, Key: testKey}, client: newClient(nil), mem: mem},
	} {
		f := streamFault(t, p.Open("m"), protocol.ClassRequest)
		if !strings.Contains(f.Detail, other.URL) {
			t.Errorf("detail %q", f.Detail)
		}
		if _, err := p.Models(t.Context()); err == nil {
			t.Error("listing follows the redirect")
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d requests reached the other host", reached.Load())
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String() + "/v1"
	_ = l.Close()
	remote := compatible{ep: Endpoint{Name: "x", Label: "Box", BaseURL: gone}, client: newClient(nil), mem: newMemory()}
	if f := streamFault(t, remote.Open("m"), protocol.ClassConnection); f.Happened != "Box can't be reached at "+gone || !strings.Contains(f.Remedy, "Is it running?") {
		t.Errorf("%s | %s", f.Happened, f.Remedy)
	}
	remote.ep.Local, remote.ep.Label = true, "Ollama"
	if f := streamFault(t, remote.Open("m"), protocol.ClassConnection); f.Happened != "Ollama isn't running" || f.Remedy != "Start Ollama, or choose another provider." {
		t.Errorf("%s | %s", f.Happened, f.Remedy)
	}
	remote.ep.BaseURL = "http://no-such-host.invalid/v1"
	if f := streamFault(t, remote.Open("m"), protocol.ClassConnection); !strings.Contains(f.Happened, "can't be") {
		t.Errorf("%s", f.Happened)
	}
	remote.ep.BaseURL = "::not a url::"
	streamFault(t, remote.Open("m"), protocol.ClassConnection)
	o := openAI{settings: OpenAISettings{Key: testKey, BaseURL: "::not a url::"}, client: newClient(nil), mem: newMemory()}
	streamFault(t, o.Open("m"), protocol.ClassConnection)
}

func TestUntrustedCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	p := openAI{settings: OpenAISettings{Key: testKey, BaseURL: s.URL}, client: newClient(nil), mem: newMemory()}
	f := streamFault(t, p.Open("m"), protocol.ClassConnection)
	if !strings.Contains(f.Happened, "certificate") {
		t.Errorf("%s | %s", f.Happened, f.Detail)
	}
}

func TestResetBeforeTheAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
		}
	}()
	p := openAI{settings: OpenAISettings{Key: testKey, BaseURL: "http://" + l.Addr().String()}, client: newClient(nil), mem: newMemory()}
	f := streamFault(t, p.Open("m"), protocol.ClassConnection)
	if !strings.Contains(f.Happened, "lost") {
		t.Errorf("%s | %s", f.Happened, f.Detail)
	}
}

func TestOrganizationAndProject(t *testing.T) {
	s := llmtest.New(t)
	p := openAIAt(s, Timeouts{})
	p.settings.Organization, p.settings.Project = "org-a", "proj-b"
	stream(t, p.Open(DefaultModel), ask("go"))
	if _, err := p.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Requests() {
		if r.Header.Get("OpenAI-Organization") != "org-a" || r.Header.Get("OpenAI-Project") != "proj-b" {
			t.Errorf("%s: header %v", r.API, r.Header)
		}
	}
}

// The environment is for the settings to read, not for the client library.
func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("OPENAI_ORG_ID", "org-env")
	s := llmtest.New(t)
	stream(t, openAIAt(s, Timeouts{}).Open(DefaultModel), ask("go"))
	if h := s.Last().Header; h.Get("Authorization") != "Bearer "+testKey || h.Get("OpenAI-Organization") != "" {
		t.Errorf("header %v", h)
	}
}
