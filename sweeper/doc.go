// Package sweeper counts stacks. Where a call is too frequent to be recorded
// each time, what is worth knowing is who makes it and how often: callers leave
// their stacks in memory, one goroutine takes them out, counts equal ones, names
// their functions once, and tells the trace, at each tick, what is new.
//
// # Design
//
// The pool is anonymous: chunks of the Go heap, which nothing writes to disk.
// Its stripes have a chunk each; a caller reserves words in one by an atomic
// add, stores what it has, and its first word last. The sweeper goes through
// each stripe's chunks in the order in which they were taken, record by record,
// clears what it has counted, and gives chunks back that it is through with, to
// be used again or, from tick to tick, to be freed.
//
// Counting is by a table of (name, return addresses). The second stage, naming,
// happens on the same goroutine in small steps, with sweeps in between: a stack
// is named once, and a program has some thousands of them, so a second pool for
// it would have nothing to do.
//
// # Invariants
//
//  1. A record's first word is stored after the others, and is not zero. The
//     sweeper stops at a word that is zero and comes back; otherwise it would
//     count what is not written yet.
//  2. A chunk is used again only when all that was reserved in it was counted,
//     and all its words are zero. Otherwise a caller that was interrupted
//     between reserving and storing would store into another's record.
//  3. Callers never wait for the sweeper. There are at most maxChunks chunks;
//     where none is left a record is lost, counted.
//  4. What was counted is told to the trace exactly once: an entry remembers
//     what of it was told, and only a block that was written changes that.
package sweeper
