// Package snapshot copies what a trace holds at one moment to a new trace,
// while it is being written or after its writer died. The recorder does it for
// its own trace, and the tool for any trace, by the same code: it needs nothing
// of the writer but what docs/format.md promises every reader.
//
// # Which moment
//
// The trace changes while it is copied, and copying takes longer than what can
// be waited for. So the moment is early: the chunks that may still change are
// read first, twice each. All others are final and change by being overwritten
// alone, which their headers tell. Copying them, oldest first, can take as long
// as it likes: what was written since does not belong to the snapshot.
//
//  0. It is settled which chunks of records are final, and a time that is not before
//     anything in them: what begins later is not the snapshot's.
//  1. The headers of all chunks are read: these chunks, and of a ring none with
//     a later number, are the snapshot's. Where the file is a copy of what the writer has
//     in memory, it is brought up to date in between: it may have a chunk and not
//     yet one that was handed out before.
//  2. Chunks of records that are not settled are read twice and cut where the
//     first reading ended, or the time. Where an end apart has its begin beyond
//     such a cut, the cut is moved behind the begin. A copy is brought up to date
//     once more then.
//  3. Now the moment is known: the latest time that was found.
//  4. Final chunks are copied, a few at a time. What was read counts if the
//     header is still the same afterwards.
//  5. What the ring let go of is reckoned: see account.
//  6. Blocks are read last, so that every name, stack and carry that the copied
//     records need is among them. Those that tell of later moments are left out.
//  7. The file's header is written: until then the file is no trace.
//
// scopeview join is a snapshot with more blocks: those of a Go execution trace. The copy
// has a temporary name until that trace is found to fit. So is scopeview archive, with
// those of files.
package snapshot
