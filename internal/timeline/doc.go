// Package timeline holds a whole trace such that any part of it can be drawn at
// any scale. The page of `scopeview html` and of `scopeview serve` is fed with it.
//
//   - Index: every scope, in lanes, or of a large trace what leads to them; see its comment
//   - Tile: what is in a stretch of time, at a resolution, as packed columns
//   - States: what goroutines did at every moment, with tiles of their own
//   - lockTile: who held which lock, and how many waited
//   - Meta: what is to be said about the trace as a whole, losses first
//   - Container: all of them as the bytes that the page reads
//
// # Design
//
// The Go side makes containers of a trace; all that a view computes from them, the
// browser computes (export/html).
//
//  1. Events become rows (goroutines) and lanes (a row's nesting depths). The items of a
//     lane are sorted and do not overlap, so that both their begins and their ends can be
//     searched by halves.
//  2. A tile is the lanes in a stretch of time at a resolution. At 0 it has every scope.
//     Else narrow neighbours are one item, with their number and their time. By which
//     rule is told in docs/merging.md; the page merges by the same one.
//  3. The index of a large trace that does not change is thin: the trace itself is the store.
//     Its lanes have runs, merged while they are loaded, in place of items: columns of bits, of
//     some dozen bytes a run. When there are more of them than by then may be, their resolution
//     gets coarser. What is finer is read of the trace again,
//     by stretches. For that the items are kept that run when a stretch begins: so each lane
//     is known then. See Window; stretches that were read last are kept, to some bytes.
//     Answers are, byte for byte, those of an index of every item. It is loaded by batches,
//     which are made on all processors; one goroutine finds the lanes of what is in them.
//  4. Counters, and waits and holds of locks, are all in memory in any case.
//  5. States keeps some 4 to 8 bytes for each interval, coded as what differs from the one
//     before, in blocks that are decoded from their begins on. It tells any stretch at any
//     resolution. A run has the state that took most of it, and how much of it was waiting for locks.
//     lockTile tells who held an object and how many waited.
//
// # Container
//
// It is a raw deflate stream of "SVC1", the length of the header (u32, little-endian)
// and the header (JSON). Then follow the columns in the order in which it lists them:
//
//	{"meta": Meta, "tile": Tile, "open": openScope list, "states": StateTile, "locks": lockTile,
//	 "pending": …, "problems": …, "doctor": doctor.Report, "advice": page.Advice, "columns": [[name, type, values, bytes], …]}
//
// A column's type is u (LEB128 varints), z (varints in zigzag), b (bytes) or f (IEEE
// 754 doubles, little-endian). With d it is as z, of the differences to the value
// before, through the whole column. The comments of Tile, StateTile and lockTile
// say which there are.
package timeline
