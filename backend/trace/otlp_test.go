package trace

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlpspans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collect stands for an OpenTelemetry collector.
func collect(t *testing.T, status int) (url string, spans func() []*otlpspans.ResourceSpans) {
	t.Helper()
	var (
		mu  sync.Mutex
		got []*otlpspans.ResourceSpans
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != 0 {
			w.WriteHeader(status)
			return
		}
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var body collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(content, &body); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, body.ResourceSpans...)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []*otlpspans.ResourceSpans {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

func openTelemetry(t *testing.T, url string, l *log) Tracer {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	tr, err := Open(t.Context(), Config{Version: "1.2.3", Log: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestOpenTelemetry(t *testing.T) {
	url, received := collect(t, 0)
	tr := openTelemetry(t, url, &log{})
	work(tr, "s.3")
	shut(t, tr)

	spans := map[string]*otlpspans.Span{}
	for _, r := range received() {
		service := ""
		for _, a := range r.Resource.Attributes {
			if a.Key == "service.name" || a.Key == "service.version" {
				service += a.Value.GetStringValue() + " "
			}
		}
		if service != "temporal-sandbox-agent 1.2.3 " {
			t.Errorf("service %q", service)
		}
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				spans[hex.EncodeToString(span.SpanId)] = span
			}
		}
	}
	if len(spans) != 6 {
		t.Fatalf("%d spans", len(spans))
	}
	ids := turnIDs{"s", "s.3"}
	agent, trace := ids.agent(), ids.trace()
	root := hex.EncodeToString(agent[:8])
	names := map[string]int{}
	for id, s := range spans {
		names[s.Name]++
		if hex.EncodeToString(s.TraceId) != hex.EncodeToString(trace[:16]) {
			t.Errorf("%s is of trace %x", s.Name, s.TraceId)
		}
		if parent := hex.EncodeToString(s.ParentSpanId); id != root && parent != root || id == root && parent != "" {
			t.Errorf("%s has parent %q", s.Name, parent)
		}
		for _, a := range s.Attributes {
			// What was said and printed is nobody's business here.
			if v := a.Value.GetStringValue(); strings.Contains(v, "build") || strings.Contains(v, "make") || strings.Contains(v, "overloaded") && a.Key != "error.type" {
				t.Errorf("%s tells %s = %q", s.Name, a.Key, v)
			}
		}
	}
	if names["invoke_agent Sandbox agent"] != 1 || names["chat gpt-x"] != 3 || names["execute_tool exec_command"] != 2 {
		t.Errorf("names: %v", names)
	}
	good := ids.model(1, 2)
	s := spans[hex.EncodeToString(good[:8])]
	if s == nil || s.StartTimeUnixNano != uint64(at(150).UnixNano()) || s.EndTimeUnixNano != uint64(at(300).UnixNano()) {
		t.Fatalf("the good attempt: %v", s)
	}
	tokens := map[string]int64{}
	for _, a := range s.Attributes {
		tokens[a.Key] = a.Value.GetIntValue()
	}
	if tokens["gen_ai.usage.input_tokens"] != 120 || tokens["gen_ai.usage.output_tokens"] != 30 {
		t.Errorf("tokens: %v", tokens)
	}
	bad := ids.model(1, 1)
	if s := spans[hex.EncodeToString(bad[:8])]; s.Status.Code != otlpspans.Status_STATUS_CODE_ERROR || s.Status.Message != "overloaded" {
		t.Errorf("the failed attempt: %v", s.Status)
	}
}

func TestOpenTelemetryFails(t *testing.T) {
	url, _ := collect(t, http.StatusBadRequest)
	l := &log{}
	tr := openTelemetry(t, url, l)
	work(tr, "s.1")
	shut(t, tr)
	if strings.Count(l.String(), "WARN") != 1 {
		t.Errorf("log %s", l)
	}

	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	tr = openTelemetry(t, server.URL, l)
	begin := time.Now()
	work(tr, "s.1")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("telling took %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	err := tr.Close(ctx)
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("closing took %v: %v", took, err)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("what was not sent is not reported: %v", err)
	}
}

// Both at once.
func TestBoth(t *testing.T) {
	url, received := collect(t, 0)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url+"/v1/traces")
	in := ingest(t, nil)
	tr := open(t, ModeOpenAI, in.URL+"/v1", "test-key", nil)
	work(tr, "s.3")
	shut(t, tr)
	if len(received()) == 0 || len(in.all()) == 0 {
		t.Errorf("%d and %d", len(received()), len(in.all()))
	}
}
