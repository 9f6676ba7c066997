// Package count counts, in the program, the data for advice: how containers, buffers and
// locks are created, grow, are used and die.
//
// # Design
//
// The standard library's hooks call Report. Each followed object is an instance in a table by
// its address; when it dies, or its address is reused, it is folded into the row of the call
// stack that created it. Each second all rows, and live instances, are written to the raw
// file.
//
// Packages compiled for it also report loads and stores: the runtime records them in bursts,
// and a goroutine derives lines and trails from them afterwards. See traffic.
//
// # Invariants
//
//   - Report runs on the program's goroutine, which the runtime has pinned to its thread. It neither
//     allocates nor parks, calls no method of the program's values, and never panics. A lock is a word
//     that is tried for a bounded time; if that fails the event is lost, and counted.
//   - Memory is bounded: for each kind by the parameter memory, for call stacks by a table. Objects without
//     room are counted, and not followed.
//   - Creations at one place of the code are sampled as they become many: after Full at one
//     rate, the rate is halved. A sample counts for all that it represents.
//   - Operations on followed objects are sampled for a share of the time, and represent the rest, too.
package count
