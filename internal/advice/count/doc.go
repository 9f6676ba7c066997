// Package count counts, in the program, what advice is given of: how containers, buffers and locks are
// created, grow, are used and die.
//
// # Design
//
// The standard library's hooks call Told. What is followed is an instance in a table by its address;
// when it dies, or its address is used again, it is folded into the row of the call stack that
// created it. Each second all rows, and what lives, are written to the raw file.
//
// Loads and stores of packages that are compiled for it are another way in: the runtime notes them in bursts, and
// a goroutine makes lines and trails of them afterwards. See traffic.
//
// # Invariants
//
//   - Told runs on the program's goroutine, which the runtime has pinned to its thread: it neither
//     allocates nor parks, calls no method of the program's values, and never panics. A lock is a word
//     that is tried for a bounded time; what is not had is lost, and counted.
//   - Memory is bounded: for each kind by the parameter memory, for call stacks by a table. What finds
//     no room is not followed, and counted.
//   - Creations at one place of the code are thinned out as they become many: after Full at one of a
//     rate, half as many are looked at. What is looked at counts as many times as it stands for.
//   - Operations on what is followed are looked at for a share of the time, and count for the rest, too.
package count
