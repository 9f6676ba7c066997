// Package excerpt copies a range of a trace's time to a trace of its own, with everything that
// belongs to it.
//
// # Two ways
//
// A snapshot copies chunks as they are. A copy of the chunks that touch a range would be simple, but
// it would have some goroutines' records of the time around the range and not others': every sum over
// the whole file would be wrong. And a scope that lasts long lies in a chunk of its own time: a
// thousand of them would keep a thousand chunks, the whole trace.
//
// Merging writes records from the reader's events, on a clock of its own. That cuts exactly, but
// samples, Go's execution trace and switches are bound to the recording's clock, and ticks would be
// rounded to ns: scopes of one nanosecond would change their order.
//
// So this package does neither: the reader's events decide which records touch the range, and these
// are copied as they are, without the others, in chunks of the same owners. The header, the clock and
// the numbers of names and goroutines remain. Every report of the range equals that of the recording.
//
// # Design
//
//  1. Find the records: one run over the events up to the end of the range marks a bit for each record
//     that touches the range, or that names the row of one. Memory is a 256th of the marked chunks.
//  2. Copy records, chunk by chunk, in the order of the reader, which is by start and then by place. A
//     chunk without a record that begins in the range has long scopes only: those of several chunks
//     share one, or become carries in a ring, where a chunk's number orders it.
//  3. Copy ends apart of these records to chunks of their own, wherever they were.
//  4. Copy blocks: those that describe names, stacks, the clock or the recording, and of the others,
//     which are of a time, those of the range. A value that was valid when the range began is written
//     for it: the memory in use of a stack, a heartbeat before.
//  5. Copy Go's generations (a second each) of its execution trace that touch the range. Blocks have
//     what the goroutines bring along from earlier ones: why and where they wait, and who created them.
//     What scopes get from other generations is written into their records: the CPU time of a scope that
//     began before the range, or ended behind it.
//  6. Write the header: until then the file is no trace.
//
// # What an excerpt is
//
// It is a closed trace. Facts have its range (trace.Excerpt), to which reports limit themselves, so
// that the time around it does not count as idle or unknown. The recording's start and end remain:
// times and links of one are valid in the other, and scopes that never ended last as long. It has the
// losses of the whole recording, because the time of a loss is not known exactly. A ring's excerpt is
// a ring, and has what that has overwritten.
//
// It lacks what happened behind its last generation: the goroutine that ends a wait then. It lacks
// scopes that were left open by goroutines that ended before the range, which readers of the records
// as they are count as open for ever. Of a merged trace it lacks the blocks of 5. Outside of Linux, the
// wall clock relates Go's execution trace to the recording, as it was in the first generation: in an
// excerpt states may be off by what the wall clock was set meanwhile.
package excerpt
