// Package sys is the only package of the recorder with assembly, unsafe tricks
// and raw system calls: the clock, the goroutine's and the thread's identity,
// thread CPU time, and the fast path itself.
//
// # Design
//
// The fast path is a handful of assembly functions (fast_amd64.s). Go does not
// preempt a goroutine inside an assembly function, and its P can't change
// there, so a function that finds its entry by the number of its P owns that
// entry, and the chunk in it, until it returns. An entry tells where the next
// record goes and on which M (thread) the last one was written; the M's cell
// tells the thread's CPU clock: its CPU time is K + TSC as long as the thread
// has not left the CPU since the cell was armed, and the kernel itself clears
// the cell's rseq_cs word when the thread does.
//
// # Invariants
//
//  1. Only assembly reads or writes an entry's place in a chunk, and only the
//     assembly that runs on the entry's P. Otherwise a goroutine that was moved
//     between reading and writing would give one slot to two records.
//  2. Only assembly stores into a chunk of the fast path. Otherwise Stop could
//     not know that nobody is about to store into memory that it unmaps: the
//     world can't be stopped while assembly runs, so one stop of the world
//     after the generation has changed proves that every writer of the old
//     generation has returned.
//  3. A cell's K is used only if its witness is intact after the TSC was read.
//     Otherwise a switch between the two would count as CPU time.
//  4. A record's fields are stored before its start, its CPU time before its
//     stop. On amd64 stores are seen in program order, so a reader that sees
//     the later one sees the earlier. Otherwise a live reader would show times
//     of a record that was not there yet.
//  5. Private fields of the runtime are read, never written, and only at offsets
//     that Discover has verified in this process. Otherwise a new Go release
//     would yield wrong goroutine ids instead of a slower path.
//  6. rseq memory is never freed and a thread's cell never moves. Otherwise the
//     kernel would write into memory that belongs to something else.
package sys
