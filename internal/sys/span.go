package sys

// Span is a range of addresses.
type Span struct{ From, To uintptr }
