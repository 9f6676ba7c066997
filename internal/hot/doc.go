// Package hot reads a trace together with its hot file. With the backing shm the newest chunks are
// there, in memory, until they are written to the trace file. docs/format.md §13 specifies the
// rules between the two.
//
// # Design
//
// A hot file has slots of one chunk each, and a table of which chunk is in which. The writer
// (internal/pool) prepares slots ahead of the bump. It writes sealed chunks to the trace, removes
// them from the table, and zeroes their slots for others, which are mapped at other addresses, so
// that a late store has no effect on them. In a ring a place may keep its slot, zeroed, if its
// chunk was overwritten before it was written. Once a round the writer also copies the open chunks.
// So a chunk is complete in its slot, or it has no slot and is complete in the trace.
//
//  1. A File is the trace as if it were one file. Readers need no code for hot
//     files: they read a File in place of an *os.File. A joined trace
//     is marked by the word joined of its state, also in copies made of it.
//
//  2. The table is not cached. Each read reads it first, then
//     the slot, then the slot's word again. A table that is older than data
//     read before would show chunks that were moved to the trace file since as not
//     handed out; so each read uses a new table.
//
//  3. Stop writes everything to the trace file, marks it as closed, and removes the hot file,
//     whose last state is older. So each read of chunk 0 also checks whether the
//     trace file is complete; if so the hot file is closed. Otherwise a
//     reader that has it open would wait forever for the trace to be closed.
//
//  4. A hot file is accepted only if it is a regular file of the trace's
//     user, and its header has the trace's ID. Any user with access to /dev/shm can
//     put a file there under any name; links are not followed, opening does not
//     block, and each number is compared with its bounds.
//
//  5. A hot file belongs to one trace file, and copies have the same ID. A copy that
//     was made while the trace grew lacks the data written to the trace file since:
//     joined with it, it would be a trace that never existed. So if the trace itself is
//     elsewhere, the file is a copy, and is read without the hot file.
//
//  6. Containers may share /dev/shm, and have other disks at the same paths. A hot file names
//     its trace and the directory of that by device, inode and birth, and the system that its
//     writer saw, and the directory's disk by its number of this boot: a clone that is mounted
//     in its place has the same device, inodes and births. Adopt accepts no other file as the
//     trace, and removes a hot file whose trace it does not find only where it sees that
//     directory. If it can't decide it keeps the hot file for a day; otherwise memory would
//     fill up with hot files of containers that never come back.
//
// Adopt completes traces whose writers were killed: the next recording of the same user writes
// their chunks to their traces and removes the hot files. So a program that is killed again and
// again does not fill the machine's memory.
//
// A hot file is a file in /dev/shm and not a sealed memfd, because a memfd would end with its
// process. So a process of the same user can truncate it, and crash the program.
//
// # Segments
//
// A trace in segments is read as one file too. After each read the segment's name is checked, so
// that a deleted segment is gone also for a reader that has it open. The code for segments is only
// in programs that use the option for them.
package hot
