// Package otlp writes scopes as OpenTelemetry spans, in the JSON encoding of OTLP: for a file,
// a line for each request, and to a collector over HTTP.
//
// # Design
//
//  1. A scope with a link has the link's ids. One without has ids computed from the
//     recording's identity and the record's place: exporting a trace again sends the
//     same spans, and a store keeps them once.
//  2. The parent of a scope without a link is the innermost exported scope that encloses it
//     on its row, and it is part of that one's OpenTelemetry trace. Without such a scope it
//     begins a trace of its own.
//  3. A span is written once all events in it are known, which is when the reading has
//     reached its end. If very many are open at once, the one that ends first is
//     written, and later events in it are counted as dropped.
//  4. An event belongs to the span that its link names, if that is open, or to the innermost
//     one on its row. As OpenTelemetry's own library does, a span keeps the first events and
//     counts the others as dropped.
//  5. Text is never trusted: keys, names and strings may have any bytes.
package otlp

import "github.com/scopeview/scopeview/internal/analysis"

// Options select the spans.
type Options struct {
	analysis.Selection
	// Unlinked includes scopes without a link.
	Unlinked bool
}

// Sum is the amount written.
type Sum struct {
	Spans, Events int64
	Dropped       int64 // events beyond the limit of a span
}

// Send sends a request: its JSON without a line feed, which is valid until the call returns.
type Send func(request []byte) error

// Limits of a request, of a span's events, and of memory.
const (
	maxSpans      = 512
	maxRequest    = 1 << 20 // bytes; the last span may exceed it
	maxEvents     = 128
	maxEventBytes = 64 << 10
	maxWaiting    = 1 << 12 // spans that wait for their end
)
