// Package scopeotel has the spans that a program makes with OpenTelemetry be scopes too, with
// the spans' ids:
//
//	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(scopeotel.NewSpanProcessor()))
//	otel.SetTracerProvider(provider)
//	ctx, span := otel.Tracer("shop").Start(ctx, "checkout")
//
// A span's scope is on the row of the goroutine that started it. It may end on another goroutine,
// and beside others instead of in them. Its name is the one that the span has at its end. Until
// then, and for filters and triggers, it is the one that the span was started with. Only spans
// that a sampler chooses come here.
//
// A kind that is not internal is the argument span.kind. Up to three of the attributes that a span
// was started with are arguments, and of those that it has at its end as many as there is room for,
// four at most; others are counted as cut. An error is failed: true; its text is not recorded, nor
// are a span's events and links.
//
// The first 1,000 names and the first 1,000 keys are kept, the others are called (other
// spans) and (other keys). Up to 65,536 spans are followed at once. Those that are started
// while there are so many are not recorded, and the counter "OpenTelemetry spans left out"
// says how many there were so far.
//
// Context has scopes be parts of a span, and Parent spans be parts of a scope. The way out,
// from what was recorded to spans, is scopeview export otlp.
package scopeotel
