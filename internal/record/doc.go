// Package record is the engine behind package scope: it writes what a program does
// into a pool of chunks, and tells the trace what is needed to read them.
//
// # The life of a record
//
//  1. scope.Task is inlined into its caller: one load says whether a recording runs. If
//     so it calls sys.Begin.
//  2. Begin (assembly) finds the entry of the P that it runs on. Meanwhile Go can neither
//     preempt the goroutine nor take its P away, so the entry and its chunk are its own.
//     Begin looks the name up by the address of its bytes. It stores the goroutine, the
//     name, the kind, the yield witnesses and the thread's CPU constant, and reads the
//     counter. It checks that the thread has not left the CPU since its anchor, and
//     stores the start. That store makes the record exist.
//  3. The handle that is returned is two words: where the record is, and its start. It
//     holds no pointer and no generation; an end finds out by comparing the start.
//  4. The end (assembly) reads the counter. It checks that the record is in this P's
//     chunk, is the handle's, was begun by this goroutine and is open. It also checks
//     that the thread's clock was good, and that the goroutine has not yielded since the
//     begin. It stores the CPU time with its quality, then the stop.
//  5. Whatever is not so simple goes to Go: no chunk yet, another thread on this P,
//     arguments that are not ints, misuse, an end on another goroutine or after the chunk
//     was written out, a name that is new, whose place in the source is then told too. Go mends what was missing and calls the assembly again, which
//     checks everything again.
//  6. A full chunk is sealed by its owner, who takes the next one by an atomic bump. The
//     flusher marks sealed chunks as leaving, starts their write-back, and drops their
//     pages a round later. From the mark on, an end of a record in there is apart: a
//     record of its own.
//  7. A reader takes a record as begun when its start is there, and as ended when its
//     stop is not negative. It needs nothing else, so it works while the program runs
//     and after it was killed.
//  8. A record that finds no place is counted, by reason, in a row of its P in chunk 0.
//     That is memory that a kill leaves, like that of records. On the heap it goes with
//     the process, and readers say from when on nothing is known.
//
// # Paths
//
// The fast path is assembly: internal/sys. The Go path (gopath.go; the clock and g come
// from assembly stubs) serves Go versions without a verified layout, and the heap. The
// pure path (tag scope_pure, other systems) has the monotonic clock, and asks
// runtime.Stack for the goroutine's id. All three write the same records. CPU times are
// unknown on the last two.
//
// # Ends apart
//
// A handle is no pointer but a file offset, on the heap too. The chunk's state says
// whether it is still in memory, and an end that comes too late goes apart.
//
// An end apart takes 64 bytes, not 32. Its extension says where the begin is and who
// began it, so that it is skipped and read by the same rules as everything else, and a
// process scope's CPU times and the arguments known at the end have a place.
//
// An end apart of a scope whose chunk was written out has no CPU time, because the
// witnesses of its begin would have to be read back from disk. It concerns scopes that
// outlive their chunk by a round, which have nearly always yielded anyway.
//
// Two ends of one scope in the same 30 ns are both kept, if the first is on the assembly
// path and the second on another processor. Between its look at the record and its store
// the first does not see that the second has claimed it, and a compare-and-swap would
// cost every end 5 ns. The reader takes the first, and says that there were two. It is
// misuse: an end that was called before is found out.
//
// # Rings
//
// internal/pool uses the places of a ring's chunks again. What outlives its chunk is carried
// (carry.go). When a chunk leaves memory it is looked through once: how many records it
// has, which scopes in it are open, which rows it names. When it is overwritten, that
// number is added to what is overwritten. What is still true is told in carry blocks:
// open scopes each quarter of the ring, rows' names each half. Names, facts, frames,
// stacks and clock breaks lie in kept chunks, which no ring overwrites. An end apart says
// what it ends (slot begin), for readers to whom that is gone.
//
// A trigger costs a comparison in the end: one that took as long as the shortest limit
// goes to Go, which looks whether the name is meant. The snapshot is written by a
// goroutine of ours, by package snapshot, as scope.Snapshot's is.
//
// # Requests from outside
//
// Words in chunk 0 are read from the file once a round and answered there (control.go).
// scopeview ctl and scope/scopehttp write them: it takes no server and no signal.
//
// # Locks
//
// The locks are in package scope; what they tell is in locking.go, waiting.go, locksums.go
// and, of plain locks, in lock.go and holds.go.
//
//   - A lock that is had at once has a count and its holder's goroutine id, in plain words
//     that belong to whoever has the lock.
//   - Who has to wait reads the clock, notes the holder, and tries again until the
//     threshold or 1 µs. Then its wait has a record, which begins at the request and ends
//     when it has the lock. The hold's handle is in the lock.
//   - What is counted (lockSums) is made at a lock's first wait and pushed on a list. At
//     each heartbeat, snapshot and Stop what is new is told. Only the sums are kept, never
//     the lock, whose cleanup has them told once more.
//   - sys.Live.Locking is what a lock looks at first: 0 without a recording.
//   - A hold ends before its lock is released, by the one reading of the clock that ending
//     takes anyway. After Unlock, which may wake somebody who takes the CPU, the CPU time
//     of a third of the contended holds was not known any more.
//   - A Locker without TryLock (RWMutex.RLocker) is recorded as waited for at every Lock.
//     Whether it had to wait can't be known, only how long it took.
package record
