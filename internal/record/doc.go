// Package record is the engine behind package scope: it writes records into a pool of
// chunks, and the blocks that are needed to read them.
//
// # The life of a record
//
//  1. scope.Task is inlined into its caller: one load decides whether a recording runs. If
//     so it calls sys.Begin.
//  2. Begin (assembly) finds the entry of the P that it runs on. Go can neither
//     preempt the goroutine nor take its P away there, so it owns the entry and its chunk.
//     Begin looks the name up by the address of its bytes. It stores the goroutine, the
//     name, the kind, the yield witnesses and the thread's CPU constant, and reads the
//     counter. It checks that the thread has not left the CPU since its anchor, and
//     stores the start. That store makes the record exist.
//  3. The returned handle is two words: the record's position, and its start. It
//     holds no pointer and no generation; an end compares the start.
//  4. The end (assembly) reads the counter. It checks that the record is in this P's
//     chunk, matches the handle, was begun by this goroutine and is open. It also checks
//     that the thread's clock was valid, and that the goroutine has not yielded since the
//     begin. It stores the CPU time with its quality, then the stop.
//  5. All other cases are left to Go: no chunk yet, another thread on this P, arguments that
//     are not ints, misuse, an end on another goroutine or after the chunk was written out, a
//     new name, whose place in the source is then recorded too. Go supplies what was missing
//     and calls the assembly again, which checks everything again.
//  6. A full chunk is sealed by its owner, which takes the next one by an atomic bump. The
//     flusher marks sealed chunks as leaving, starts their write-back, and drops their
//     pages a round later. From the mark on, an end of a record in there is apart: a
//     record of its own.
//  7. A reader takes a record as begun when its start is there, and as ended when its
//     stop is not negative. It needs nothing else, so it works while the program runs
//     and after it was killed.
//  8. A record that finds no room is counted, by reason, in a row of its P in chunk 0.
//     That memory survives a kill, as the records do. On the heap it is lost with
//     the process, and readers show since when losses are unknown.
//
// # Paths
//
// The fast path is assembly: internal/sys. The Go path (gopath.go; the clock and g come from
// assembly stubs) serves Go versions without a verified layout, and the heap. The pure path
// (tag scope_pure, other systems) has the monotonic clock, and asks runtime.Stack for the
// goroutine's id. All three write the same records. CPU times are unknown on the last two.
//
// # Ends apart
//
// A handle holds a file offset and no pointer, on the heap too. The chunk's state shows
// whether it is still in memory; an end that comes too late is written apart.
//
// An end apart takes 64 bytes, not 32. Its extension holds the position of the begin and the
// goroutine that began it, so that it is skipped and read by the same rules as everything
// else, and has room for a process scope's CPU times and the end's arguments.
//
// An end apart of a scope whose chunk was written out has no CPU time, because the witnesses
// of its begin would have to be read back from disk. This affects scopes that outlive their
// chunk by a round, which have nearly always yielded anyway.
//
// Two ends of one scope in the same 30 ns are both kept, if the first is on the assembly
// path and the second on another processor. Between its check of the record and its store
// the first does not see that the second has claimed it, and a compare-and-swap would add 5
// ns to every end. The reader takes the first, and reports that there were two. It is misuse
// anyway; an end that comes later is detected.
//
// # Rings
//
// internal/pool reuses the places of a ring's chunks. What outlives its chunk is carried
// (carry.go). When a chunk leaves memory it is scanned once, for its number of records, its
// open scopes, and the rows it names. When it is overwritten, that number is added to the
// overwritten records. What is still valid is written to carry blocks: open scopes each
// quarter of the ring, rows' names each half. Names, facts, frames, stacks and clock breaks
// lie in kept chunks, which no ring overwrites. An end apart identifies what it ends (slot
// begin), for readers that no longer have the begin.
//
// A trigger costs a comparison in the end: a scope that took at least the shortest limit
// goes to Go, which checks whether a trigger matches its name. A goroutine of the recorder
// writes the snapshot, by package snapshot, as for scope.Snapshot.
//
// # Requests from outside
//
// The recorder reads words in chunk 0 of the file once per round and answers there
// (control.go). scopeview ctl and scope/scopehttp write them, so there is no need for a
// server or a signal.
//
// # Locks
//
// The locks are in package scope; their records are written in locking.go, waiting.go,
// locksums.go and, for plain locks, in lock.go and holds.go.
//
//   - An acquisition without waiting updates a count and the holder's goroutine id, plain words
//     that belong to the lock's holder.
//   - A goroutine that has to wait reads the clock, notes the holder, and retries until the
//     threshold or 1 µs. Then its wait has a record, which begins at the request and ends
//     at the grant. The hold's handle is in the lock.
//   - The counts (lockSums) are created at a lock's first wait and pushed on a list. At
//     each heartbeat, snapshot and Stop the changes are written. Only the sums are kept, never
//     the lock, whose cleanup lets them be written a last time.
//   - A lock first loads sys.Live.Locking, which is 0 without a recording.
//   - A hold ends before its lock is released, with the one reading of the clock that an end
//     takes anyway. After Unlock, which may wake a goroutine that takes the CPU, the CPU time
//     of a third of the contended holds was unknown.
//   - For a Locker without TryLock (RWMutex.RLocker), every Lock is recorded as a wait.
//     Whether it had to wait is unknown, only how long it took.
package record
