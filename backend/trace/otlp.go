package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"temporal-sandbox-agent/backend/protocol"
)

const serviceName = "temporal-sandbox-agent"

// otlp sends spans by OpenTelemetry, named by its conventions for generative
// AI. What was said and printed is not sent: whoever collects telemetry is not
// meant to read conversations.
type otlp struct {
	ctx      context.Context // values only: spans are made outside of any call
	provider *sdk.TracerProvider
	tracer   oteltrace.Tracer
}

func openOTLP(ctx context.Context, c Config) (*otlp, error) {
	ctx = context.WithoutCancel(ctx)
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	// Attributes of the environment (OTEL_RESOURCE_ATTRIBUTES) count above ours.
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", serviceName), attribute.String("service.version", c.Version)),
		resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(&quietExporter{SpanExporter: exporter, log: c.Log}),
		sdk.WithResource(res),
		sdk.WithIDGenerator(givenIDs{}))
	return &otlp{ctx: ctx, provider: p, tracer: p.Tracer(serviceName, oteltrace.WithInstrumentationVersion(c.Version))}, nil
}

// quietExporter logs the first failure, where the library would write each to
// the standard error output.
type quietExporter struct {
	sdk.SpanExporter
	log  *slog.Logger
	once sync.Once
}

func (q *quietExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil {
		q.once.Do(func() { q.log.Warn("spans could not be sent by OpenTelemetry", "error", err) })
	}
	return nil
}

// Turn implements Tracer.
func (o *otlp) Turn(s TurnSpan) {
	ids := turnIDs{s.SessionID, s.TurnID}
	var err error
	if s.Fault != nil {
		err = s.Fault
	}
	o.span(ids, ids.agent(), nil, "invoke_agent "+agentName, oteltrace.SpanKindInternal, s.started(), s.Ended, err,
		attribute.String("gen_ai.operation.name", "invoke_agent"),
		attribute.String("gen_ai.agent.name", agentName),
		attribute.String("gen_ai.conversation.id", s.SessionID),
		attribute.String("tsa.turn.id", s.TurnID),
		attribute.Int("tsa.turn.index", s.Index),
		attribute.String("tsa.turn.outcome", s.Outcome))
}

// Model implements Tracer.
func (o *otlp) Model(s ModelSpan) {
	ids := turnIDs{s.SessionID, s.TurnID}
	parent := ids.agent()
	o.span(ids, ids.model(s.Step, s.Attempt), &parent, "chat "+s.Model, oteltrace.SpanKindClient, s.Started, s.Ended, s.Err,
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", s.Provider),
		attribute.String("gen_ai.request.model", s.Model),
		attribute.String("gen_ai.conversation.id", s.SessionID),
		attribute.Int64("gen_ai.usage.input_tokens", s.InputTokens),
		attribute.Int64("gen_ai.usage.output_tokens", s.OutputTokens),
		attribute.Int("tsa.step", s.Step),
		attribute.Int("tsa.attempt", s.Attempt))
}

// Tool implements Tracer.
func (o *otlp) Tool(s ToolSpan) {
	ids := turnIDs{s.SessionID, s.TurnID}
	parent := ids.agent()
	o.span(ids, ids.tool(s.CallID), &parent, "execute_tool "+s.Name, oteltrace.SpanKindInternal, s.Started, s.Ended, s.Err,
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", s.Name),
		attribute.String("gen_ai.tool.call.id", s.CallID),
		attribute.String("gen_ai.conversation.id", s.SessionID))
}

// Close implements Tracer.
func (o *otlp) Close(ctx context.Context) error {
	if err := o.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// span makes a span that has ended already.
func (o *otlp) span(ids turnIDs, id [32]byte, parent *[32]byte, name string, kind oteltrace.SpanKind, started, ended time.Time, err error, attributes ...attribute.KeyValue) {
	given := spanIDs{}
	trace := ids.trace()
	copy(given.trace[:], trace[:])
	copy(given.span[:], id[:])
	ctx := context.WithValue(o.ctx, idsKey{}, given)
	if parent != nil {
		var up oteltrace.SpanID
		copy(up[:], parent[:])
		ctx = oteltrace.ContextWithRemoteSpanContext(ctx, oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
			TraceID: given.trace, SpanID: up, TraceFlags: oteltrace.FlagsSampled, Remote: true,
		}))
	}
	_, span := o.tracer.Start(ctx, name, oteltrace.WithTimestamp(started), oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(attributes...))
	if err != nil {
		class := "error"
		if f, ok := errors.AsType[*protocol.Fault](err); ok {
			class = string(f.Class)
		}
		// The class only: a message may quote what was said.
		span.SetAttributes(attribute.String("error.type", class))
		span.SetStatus(codes.Error, class)
	}
	span.End(oteltrace.WithTimestamp(ended))
}

// idsKey is the key of the spanIDs that travel in a context to the generator.
type idsKey struct{}

type spanIDs struct {
	trace oteltrace.TraceID
	span  oteltrace.SpanID
}

// givenIDs gives out the ids that the context holds.
type givenIDs struct{}

func (givenIDs) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	given, _ := ctx.Value(idsKey{}).(spanIDs)
	return given.trace, given.span
}

func (givenIDs) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	given, _ := ctx.Value(idsKey{}).(spanIDs)
	return given.span
}
