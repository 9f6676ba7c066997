package sys

// Span is a stretch of addresses.
type Span struct{ From, To uintptr }
