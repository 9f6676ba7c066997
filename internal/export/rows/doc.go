// Package rows lays a trace out for formats that draw rows of nested slices:
// those of packages chrome and perfetto.
//
// # Design
//
// A goroutine has a row, and overflow rows where it needs them. What both formats
// rest on:
//
//  1. On a row every two scopes are nested or apart. Otherwise the viewers drop
//     one of the two, cut it, or move it to where nobody looks for it: each of them
//     has done each of that.
//  2. A goroutine's first row has only scopes that it ended itself, so it is the
//     goroutine's call stack. What overlaps something on it, because ends came out
//     of order, and what another goroutine ended (a hand-over), is on the first
//     overflow row with room, called "worker 1 (2)". Nothing is left out. Rows, and
//     not the formats' asynchronous events, because viewers group those by name,
//     away from their goroutine, and show no CPU time for them.
//  3. Rows come in a fixed order: those with a name first, each in the order of
//     their first scope or event, an overflow row behind its goroutine's.
//
// Scopes come in the order of their starts, a parent before its children; their
// ends, for a sink that asks for them, in the order of time between them. What is
// open ends with the last moment that the trace knows, and says so.
//
// Memory grows with the rows and with what runs at once, not with the records. Of a Go
// execution trace 32 bytes for each sample of its CPU profile are kept until all else is
// handed over, and for CPU times what package open adds.
package rows
