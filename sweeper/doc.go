// Package sweeper counts stacks. Where a call is too frequent to be recorded
// each time, what is worth knowing is who makes it and how often: callers leave
// their stacks in memory, one goroutine takes them out, counts equal ones, names
// their functions once, and tells at each round what is new. A program hands Put what
// runtime.Callers gave it; its Config has the functions that are told.
//
// # The life of a stack
//
//  1. The caller's stack is walked by its frame pointers, in assembly, where Go neither
//     preempts nor moves it, and never beyond the goroutine's stack: 17 ns for ten
//     callers, where runtime.Callers takes 540. At a process's first Start frame pointers
//     are compared with runtime.Callers on stacks of all shapes. Where they differ, and
//     on Go versions and processors that were not tested, runtime.Callers is used, and
//     scopeview info --json says why ("stacks").
//  2. The caller reserves words in its stripe's chunk by an atomic add, stores what it
//     has, and its first word last. Its stripe follows from where its stack is:
//     goroutines that run at once rarely share one, and no goroutine id is needed.
//  3. The sweeper goes through each stripe's chunks in the order in which they were
//     taken, record by record. It stops at one that is not ready, counts equal ones,
//     clears what it has counted, and uses the chunk again. What is not needed is freed
//     at the next round. There are at most 32 MiB; a call that finds none is lost, counted.
//  4. At each round it writes what is new: frames and stacks, named once, functions that
//     were inlined as frames of their own, and the counts since the last round.
//
// # Why it is so
//
//   - The pool is on the heap, not an mmpool over anonymous memory. A caller that comes too
//     late for Stop then stores into memory that is still there, so Stop needs no grace
//     period here, and the same code serves every path and system. Chunks are used again
//     and are not part of a long range, because nothing has to find a record later.
//   - Naming, the second stage, goes in small steps on the same goroutine, with sweeps in
//     between. A stack is named once, and a program has some thousands of them, so a
//     second pool for it would have nothing to do.
//   - scope makes its sweeper at the first call of Stack, so that a program without has
//     neither its code nor its goroutine.
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
