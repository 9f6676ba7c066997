// Package snapshot copies the contents of a trace at one moment to a new trace, while it is being
// written or after its writer died. The recorder copies its own trace, and the tool any trace, by
// the same code: it relies only on what docs/format.md promises every reader.
//
// # The moment
//
// The trace changes while it is copied, and copying takes longer than a caller can wait. So the
// moment is early: the chunks that may still change are read first, twice each. All others are
// final and change only by being overwritten, which their headers show. Copying them, oldest first,
// can take any time: records written since do not belong to the snapshot.
//
//  0. Determine which chunks of records are final, and a time that is not before
//     anything in them: records that begin later are not the snapshot's.
//  1. Read the headers of all chunks: these chunks, and of a ring none with
//     a later number, are the snapshot's. Where the file is a copy of the writer's
//     memory, it is updated in between: it may have a chunk and not yet one that
//     was handed out before.
//  2. Read chunks of records that are not final twice, and cut them where the
//     first reading ended, or at the time. Where an end apart has its begin beyond
//     such a cut, move the cut behind the begin. Then update a copy once more.
//  3. Now the moment is known: the latest time that was found.
//  4. Copy final chunks, a few at a time. A read is valid if the header is still
//     the same afterwards.
//  5. Compute how many records the ring overwrote: see account.
//  6. Read blocks last, so that every name, stack and carry that the copied
//     records need is among them. Leave out those of later moments.
//  7. Write the file's header: until then the file is no trace.
//
// scopeview join is a snapshot with more blocks: those of a Go execution trace. The copy has a
// temporary name until that trace is found to fit. scopeview archive is a snapshot with blocks of
// files.
package snapshot
