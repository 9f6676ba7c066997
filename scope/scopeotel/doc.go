// Package scopeotel records a program's OpenTelemetry spans as scopes, with the spans' ids:
//
//	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(scopeotel.NewSpanProcessor()))
//	otel.SetTracerProvider(provider)
//	ctx, span := otel.Tracer("shop").Start(ctx, "checkout")
//
// A span's scope is on the row of the goroutine that started it. It may end on another goroutine,
// and need not nest with other scopes. Its name is the one that the span has at its end. Until
// then, and for filters and triggers, it is the one that the span was started with. Spans that a
// sampler drops are not recorded.
//
// A kind other than internal is the argument span.kind. Up to three of the attributes at a span's
// start are arguments, and up to four of those added by its end, if there is room; others are
// counted as cut. An error is failed: true; its text is not recorded, nor are a span's events and
// links.
//
// The first 1,000 names and the first 1,000 keys are kept, the others are called (other spans) and
// (other keys). Up to 65,536 spans may be open at once. Spans started beyond that are not recorded,
// but counted by the counter "OpenTelemetry spans left out".
//
// Context makes scopes children of a span, and Parent makes spans children of a scope. To export a
// recording as spans, use scopeview export otlp.
package scopeotel
