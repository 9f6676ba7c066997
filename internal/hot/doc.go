// Package hot reads a trace together with its hot file. With the backing shm the
// newest chunks lie there, in memory, until they are written to the trace file.
// docs/format.md §13 says what the two promise each other.
//
// # Design
//
// A hot file has slots of one chunk each, and a table of which chunk is in which. The
// writer (internal/pool) prepares slots ahead of the bump. It writes sealed chunks to the trace,
// takes them out of the table, and zeroes their slots for others, which are mapped at
// other addresses: a late store lands where nobody reads. In a ring a slot may stay that of
// its place, zeroed, when its chunk was overwritten before it was written. Once a round it copies the
// chunks that are open too. So a chunk is whole in its slot, or in no slot and whole in
// the trace.
//
//  1. A File is the trace as if it were one file. Readers need not know of hot
//     files: they read a File where they read an *os.File otherwise. What is joined
//     says so by the word joined of its state, also in copies that are made of it.
//
//  2. Nothing is remembered of the table. Each reading looks at it first, then at
//     the slot, then at the slot's word again. A table that is older than what was
//     read before would show chunks that have gone to the trace file since as not
//     handed out; so one reading uses one table, and the next one the next.
//
//  3. Stop writes all to the trace file, says so there, and removes the hot file,
//     whose last state is older. So with every reading of chunk 0 the trace file is
//     asked whether it is whole by now; if so the hot file is let go. Otherwise a
//     reader that has it open would wait forever for the trace to be closed.
//
//  4. A hot file is taken for the trace's only if it is a regular file of the same
//     user, and its header has the trace's ID. Whoever may write into /dev/shm can
//     put a file there under any name; it is not followed where it leads, opened in a
//     way that waits, or believed in a number that was not compared with its bounds.
//
//  5. A hot file belongs to one trace file, and copies have the same ID. A copy that
//     was made while the trace grew lacks what was written to the trace file since:
//     joined, the two would be a trace that never was. So who finds the trace itself
//     elsewhere is a copy, and is read without the hot file.
//
//  6. Containers may share /dev/shm, and have other disks at the same paths. A hot file names
//     its trace and the directory of that by device, inode and birth, and the system that its
//     maker saw, and the directory's disk by its number of this boot: a clone that is mounted
//     in its place has the same device, inodes and births. Adopt takes no other file for the
//     trace, and removes a hot file whose trace it does not find only where it sees that
//     directory. What it can't know it leaves for a day, or memory would fill up with what
//     containers left that never come back.
//
// Adopt does for traces whose writers were killed what these could not do any more: the
// next recording of the same user writes their chunks to their traces and removes the hot
// files. So a program that is killed again and again does not fill the machine's memory.
//
// A hot file is a name in /dev/shm and not a sealed memfd, because that would end with its
// process. So who may write it (the same user) can truncate it, and end the program.
//
// # Segments
//
// A trace in segments is read as one file too. A segment's name is looked at after each
// reading, so that what was deleted is gone for a reader that has it open too. Their code
// is in programs that ask for them, by way of the option.
package hot
