package peer

import (
	"context"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// OTel is OpenTelemetry's Go SDK, all spans sampled, with its batch processor
// in front of an exporter that does nothing but count.
type OTel struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exported *counting
	// Wait makes span ends wait for room in the batch processor's queue; by default the SDK
	// drops spans if it is full.
	Wait bool
}

func (*OTel) Name() string { return "OpenTelemetry Go SDK, batch, no-op exporter" }

// Start makes a provider.
func (o *OTel) Start(string) error {
	o.exported = &counting{rec: Recorded{Paths: make(map[string]int64)}, names: make(map[trace.SpanID]string)}
	var opts []sdk.BatchSpanProcessorOption
	if o.Wait {
		opts = append(opts, sdk.WithBlocking())
		o.exported.paths = true
	}
	o.provider = sdk.NewTracerProvider(sdk.WithBatcher(o.exported, opts...))
	o.tracer = o.provider.Tracer("bench")
	return nil
}

//go:noinline
func (o *OTel) span(ctx context.Context) {
	_, s := o.tracer.Start(ctx, "f1")
	defer s.End()
}

// Loop records n spans, each the root of a trace.
func (o *OTel) Loop(n int) {
	ctx := context.Background()
	for range n {
		o.span(ctx)
	}
}

// Nest records spans with a parent.
func (o *OTel) Nest(outer string, inner ...string) {
	ctx, s := o.tracer.Start(context.Background(), outer)
	defer s.End()
	for _, name := range inner {
		_, s := o.tracer.Start(ctx, name)
		s.End()
	}
}

// Stop flushes what is queued.
func (o *OTel) Stop() (Recorded, error) {
	err := o.provider.Shutdown(context.Background())
	return o.exported.done(), err
}

// counting is an exporter; the batch processor calls it from one goroutine.
type counting struct {
	rec   Recorded
	paths bool
	names map[trace.SpanID]string
	kids  []sdk.ReadOnlySpan
}

// ExportSpans counts, and keeps spans with a parent: children are exported
// before it.
func (c *counting) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	c.rec.Scopes += int64(len(spans))
	if !c.paths {
		return nil
	}
	for _, s := range spans {
		if s.Parent().IsValid() {
			c.kids = append(c.kids, s)
			continue
		}
		c.rec.Paths[s.Name()]++
		c.names[s.SpanContext().SpanID()] = s.Name()
	}
	return nil
}

// Shutdown does nothing.
func (*counting) Shutdown(context.Context) error { return nil }

func (c *counting) done() Recorded {
	if !c.paths {
		return Recorded{Scopes: c.rec.Scopes}
	}
	for _, s := range c.kids {
		c.rec.Paths[c.names[s.Parent().SpanID()]+"/"+s.Name()]++
	}
	return c.rec
}
