// Package timeline holds a whole trace such that any part of it can be drawn at
// any scale: what the page of `scopeview html` and of `scopeview serve` is fed
// with.
//
//   - Index: every scope, in lanes; see its comment
//   - Tile: what is in a stretch of time, at a resolution, as packed columns
//   - States: what goroutines did at every moment, with tiles of their own
//   - LockTile: who held which lock, and how many waited
//   - Meta: what is to be said about the trace as a whole, losses first
//   - Container: all of them as the bytes that the page reads
//
// # Container
//
// A raw deflate stream of "SVC1", the length of the header (u32, little-endian),
// the header (JSON) and the columns, back to back in the order in which the
// header lists them:
//
//	{"meta": Meta, "tile": Tile, "open": Open, "states": StateTile, "locks": LockTile,
//	 "pending": …, "problems": …, "doctor": doctor.Report, "columns": [[name, type, values, bytes], …]}
//
// A column's type is u (LEB128 varints), z (varints in zigzag), d (the same, of
// the differences to the value before, through the whole column), b (bytes) or
// f (IEEE 754 doubles, little-endian). The comments of Tile, StateTile and LockTile
// say which there are.
package timeline
