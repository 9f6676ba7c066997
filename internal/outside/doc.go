// Package outside records an unmodified program into a trace: the stacks of its threads each
// time that they have used an amount of CPU time, take a page fault, or change the CPU; and the
// times when they are on a CPU.
//
// # Design
//
//  1. The program is started stopped (ptrace, up to its first instruction), so that nothing of
//     it is missed. Then the kernel watches it, and the threads and processes that it creates
//     (perf_event_open, inherited), and it is not traced any more. Recording costs it only the
//     kernel's time for a sample.
//  2. The kernel writes into rings, one for each counter and CPU, which are read some twenty
//     times a second (internal/perf). Records that did not fit are counted. If the disk gets
//     full the rings are not read any more, so that the kernel counts the lost records.
//  3. The addresses of code come from the program's mappings, as they were when the sample was
//     taken. Names come from the files: of Go's functions from their line tables, of others
//     from symbol tables. Code in no file is <Unknown>, and the kernel is one function.
//  4. Package unwind finds the callers, which needs some words of the stack in each
//     sample. The kernel keeps 127 addresses of a stack; a deeper one is marked as cut off.
//  5. Memory grows with the number of different stacks. Samples are written as they come.
package outside
