// Package rows lays out a trace for formats that draw rows of nested slices: those of
// packages chrome and perfetto.
//
// # Design
//
// A goroutine has a row, and overflow rows where it needs them. Both formats depend on these
// rules:
//
//  1. On a row every two scopes are nested or disjoint. Otherwise the viewers drop
//     one of the two, cut it, or move it to another row: each of them
//     has done all of that.
//  2. A goroutine's first row has only scopes that it ended itself, so it is the
//     goroutine's call stack. A scope that overlaps another one on it, because ends came out
//     of order, or that another goroutine ended (a hand-over), is on the first
//     overflow row with room, called "worker 1 (2)". Nothing is left out. Rows, and
//     not the formats' asynchronous events, because viewers group those by name,
//     away from their goroutine, and show no CPU time for them.
//  3. Rows come in a fixed order: those with a name first, each in the order of
//     their first scope or event, an overflow row behind its goroutine's.
//
// Scopes come in the order of their starts, a parent before its children; their ends, if the
// sink wants them, come in the order of time between them. An open scope ends at the trace's
// last known moment, and is marked.
//
// Memory grows with the rows and the scopes open at once, not with the records. With a Go
// execution trace, 32 bytes for each sample of its CPU profile are kept until everything
// else is done, and for CPU times the memory of package open.
package rows
