// Package timeline holds a whole trace such that any part of it can be drawn at any scale,
// for the page of `scopeview html` and of `scopeview serve`.
//
//   - Index: every scope, in lanes, or for a large trace an index of them; see its comment
//   - Tile: the scopes in a stretch of time, at a resolution, as packed columns
//   - States: the states of goroutines, with tiles of their own
//   - lockTile: the holders of locks, and the numbers of waiters
//   - Meta: the facts about the trace as a whole, losses first
//   - Container: all of them as the bytes that the page reads
//
// # Design
//
// The Go side makes containers from a trace; the browser computes the views from them
// (export/html).
//
//  1. Events become rows (goroutines) and lanes (a row's nesting depths). The items of a
//     lane are sorted and do not overlap, so both their begins and their ends allow
//     binary search.
//  2. A tile is the lanes in a stretch of time at a resolution. At 0 it has every scope.
//     Else narrow neighbours are one item, with their number and their time. The
//     rule is in docs/merging.md; the page merges by the same one.
//  3. The index of a large trace that does not change is thin: the items stay in the trace.
//     Its lanes have runs, merged while they are loaded, instead of items: columns of bits, of
//     about a dozen bytes per run. When there are more of them than allowed, their resolution
//     gets coarser. Finer data is read again from the trace,
//     by stretches. For that it keeps the items that run when a stretch begins: so each lane
//     is known then. See Window; the last stretches read are cached, up to a limit in bytes.
//     Results are, byte for byte, those of an index of every item. It is loaded in batches,
//     which are made on all processors; one goroutine finds the lanes of their items.
//     It does not replace the index of every item, for files and smaller traces: a stretch read again
//     is one, and of a trace of 500,000 scopes in memory the thin index takes five times as long for
//     the first picture of all scopes (119 ms, not 22) and one and a half to twice as long for a part
//     (6.7 ms, not 3.7, for a quarter), for 10 bytes per scope instead of 32.
//  4. Counters, and waits and holds of locks, are always in memory.
//  5. States keeps some 4 to 8 bytes for each interval, coded as the difference to the one
//     before, in blocks that are decoded from their begin. It returns any stretch at any
//     resolution. A run has the state that took most of it, and its time of waiting for locks.
//     lockTile has an object's holders and its number of waiters over time.
//
// # Container
//
// A container is a raw deflate stream of "SVC1", the length of the header (u32,
// little-endian), the header (JSON), and the columns in the order in which it lists them:
//
//	{"meta": Meta, "tile": Tile, "open": openScope list, "states": StateTile, "locks": lockTile,
//	 "pending": …, "problems": …, "doctor": doctor.Report, "advice": page.Advice, "columns": [[name, type, values, bytes], …]}
//
// A column's type is u (LEB128 varints), z (zigzag varints), b (bytes), f (IEEE 754 doubles,
// little-endian) or d (like z, of the difference to the value before, through the whole
// column). The comments of Tile, StateTile and lockTile list the columns.
package timeline
