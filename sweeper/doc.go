// Package sweeper counts stacks, for calls that are too frequent to be recorded each time.
// Callers store their stacks in memory. One goroutine reads them, counts equal ones, names
// their functions once, and reports new counts at each round. A program passes the result
// of runtime.Callers to Put; the functions of its Config receive the counts.
//
// # The life of a stack
//
//  1. The caller's stack is walked by its frame pointers, in assembly, where Go neither
//     preempts nor moves it, and never beyond the goroutine's stack: 17 ns for ten
//     callers, where runtime.Callers takes 540. At a process's first Start frame pointers
//     are compared with runtime.Callers on stacks of all shapes. If they differ, and
//     on Go versions and processors that were not tested, runtime.Callers is used, and
//     scopeview info --json has the reason ("stacks").
//  2. The caller reserves words in its stripe's chunk by an atomic add and stores its
//     record, the first word last. Its stripe depends on the address of its stack:
//     goroutines that run at once rarely share one, and no goroutine id is needed.
//  3. The sweeper goes through each stripe's chunks in the order in which they were
//     taken, record by record. It counts equal records and stops at one that is not ready.
//     It clears the records it has counted, and reuses the chunk; chunks that are not
//     needed are freed at the next round. There are at most 32 MiB; a record that finds no
//     room is lost, and counted as lost.
//  4. At each round it reports frames and stacks that are new, each once, with functions
//     that were inlined as frames of their own, and the counts since the last round.
//
// # Reasons for the design
//
//   - The pool is on the heap, not an mmpool over anonymous memory. A caller that comes too
//     late for Stop then stores into memory that still exists, so Stop needs no grace
//     period here, and the same code serves every path and system. Chunks are reused
//     and are not part of a long range, because nothing has to find a record later.
//   - Naming, the second stage, goes in small steps on the same goroutine, with sweeps in
//     between. A stack is named once, and a program has some thousands of them, so a
//     second pool for it would have nothing to do.
//   - scope creates its sweeper at the first call of Stack, so that a program without such
//     calls has neither its code nor its goroutine.
//
// # Invariants
//
//  1. A record's first word is stored after the others, and is not zero. The
//     sweeper stops at a word that is zero and comes back; otherwise it would
//     count a record that is not written yet.
//  2. A chunk is reused only when all that was reserved in it was counted,
//     and all its words are zero. Otherwise a caller that was interrupted
//     between reserving and storing would store into another's record.
//  3. Callers never wait for the sweeper. There are at most maxChunks chunks;
//     if none is left a record is lost, and counted as lost.
//  4. Each record is reported to the trace exactly once: an entry has the part of its
//     counts that was reported, and only a block that was written changes that.
package sweeper
