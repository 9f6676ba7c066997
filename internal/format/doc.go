// Package format defines the trace format: the meaning of each byte of a .scope file. The
// recorder writes with it and the reader reads with it; they share nothing else. It is a
// leaf: standard library only, no unsafe, no os. The same in prose, exact enough to write a
// reader from, is docs/format.md.
//
// # Shape
//
// A trace is a sequence of chunks of Header.ChunkSize bytes. Chunk 0 is the file header.
// Every other chunk begins with a chunk header (64 bytes). It holds either records, which
// the program's goroutines write (32 bytes each, no checksum), or blocks, which are written
// off the hot path (each with a CRC). A chunk whose magic is zero has not been handed out.
// All numbers are little-endian; all times are ticks of Header.Clock, converted to
// nanoseconds with the calibration blocks.
//
// # Records
//
// A record is four words of eight bytes:
//
//	word 0  start: ticks, never 0, below 1<<60. Stored last.
//	word 1  stop: ticks once ended; negative while open (see OpenStop)
//	word 2  goroutine (bits 0-39) | kind (40-46) | extension follows (47) | name (48-63)
//	word 3  CPU ticks (bits 2-63) | quality (0-1) once ended; meaningless while open
//
// Specs describes the words of kinds that are not scopes. A record whose word 0 is 0 was
// reserved and never begun; readers skip its 32 bytes. A record with the extension bit is
// followed by an extension: one header word (ExtHeader: its length in 32-byte units, its
// slots' types), then the slots' values. A header word differs from a time in its top four
// bits, so an extension whose record was never begun is skipped whole. Unknown kinds are
// skipped by the same two rules.
//
// # Publication
//
// The writer stores the extension's header, its values, words 1 to 3 and at last word 0. An
// end stores word 3, then word 1. A reader that finds an ended record reads it a second
// time and takes that: word 3 is then final too.
//
// # In place or apart
//
// A scope's end completes its record. If that record's chunk may have been written out, the
// end is a record of its own (KindEnd) anywhere later in the trace. It repeats the start,
// and has the position of the begin in an extension. So it is skipped and read by the rules
// for all records.
package format
