// Package otlp writes scopes as OpenTelemetry spans, in the JSON encoding of OTLP: for a file,
// a line for each request, and to a collector over HTTP.
//
// # Design
//
//  1. A scope with a link has its ids. One without has ids that are made of what the
//     recording is and of the record's place: who exports a trace again sends the
//     same spans, and a store keeps them once.
//  2. The parent of a scope without a link is the innermost exported scope that encloses it
//     on its row, and it is part of that one's OpenTelemetry trace. Without such a scope it
//     begins a trace of its own.
//  3. A span is written when all events in it are known, which is when the reading has
//     come to its end. Where very many are open at once, the one that ends first is
//     written, and what happens in it later is counted as dropped.
//  4. An event belongs to the span that its link names, if that is open, or to the innermost
//     one on its row. As OpenTelemetry's own library does, a span keeps the first events and
//     counts the others as dropped.
//  5. Text is never trusted: keys, names and strings are any bytes at all.
package otlp

import "github.com/scopeview/scopeview/internal/analysis"

// Options say what is written.
type Options struct {
	analysis.Selection
	// Unlinked tells that scopes without a link are wanted too.
	Unlinked bool
}

// Sum is what was written.
type Sum struct {
	Spans, Events int64
	Dropped       int64 // events beyond those that a span keeps
}

// Send takes a request: its JSON without a line feed, which is good until the call returns.
type Send func(request []byte) error

// Bounds of a request, of what a span has of its events, and of memory.
const (
	maxSpans      = 512
	maxRequest    = 1 << 20 // bytes; the last span may go beyond
	maxEvents     = 128
	maxEventBytes = 64 << 10
	maxWaiting    = 1 << 12 // spans that wait for events
)
