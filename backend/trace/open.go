package trace

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
)

// Config says where traces go.
type Config struct {
	// Mode says what OpenAI gets; it is asked for every span and must be quick.
	// nil is ModeNone.
	Mode func() Mode
	// Credentials are asked for every batch, never in the way of a turn.
	Credentials func(context.Context) Credentials
	// Version is the app's, for OpenTelemetry.
	Version string
	// HTTP is http.DefaultClient if nil.
	HTTP *http.Client
	// Log gets a warning of each kind once; nil for none.
	Log *slog.Logger

	timing timing
}

// Open returns a tracer for OpenAI and, if OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, for OpenTelemetry over HTTP, which
// the other OTEL_EXPORTER_OTLP_ variables adjust. Nothing is connected to
// before there are spans. The tracer must be closed.
func Open(ctx context.Context, c Config) (Tracer, error) {
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.timing == (timing{}) {
		c.timing = timing{flush: flushEvery, first: firstWait, most: maxWait}
	}
	var tracers both
	if c.Mode != nil && c.Credentials != nil {
		tracers = append(tracers, &openAI{mode: c.Mode, export: newExporter(ctx, c)})
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		t, err := openOTLP(ctx, c)
		if err != nil {
			_ = tracers.Close(ctx)
			return nil, fmt.Errorf("open OpenTelemetry: %w", err)
		}
		tracers = append(tracers, t)
	}
	switch len(tracers) {
	case 0:
		return Off{}, nil
	case 1:
		return tracers[0], nil
	default:
		return tracers, nil
	}
}
