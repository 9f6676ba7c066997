// Package outside records a program that knows nothing of it: where its threads were each
// time that they had had so much CPU time, took a page fault, or changed the CPU; and when
// they had one. What comes of it is a trace.
//
// # Design
//
//  1. The program is started stopped (ptrace, up to its first instruction), so that nothing of
//     it is missed. Then the kernel watches it, and the threads and processes that it makes
//     (perf_event_open, inherited), and nobody traces it any more. Recording costs it what the
//     kernel takes for a sample.
//  2. The kernel writes into rings, one for each counter and CPU, which are read some twenty
//     times a second (internal/perf). What did not fit is counted. Where the disk gets full the
//     rings are not read any more, so that the kernel counts what is not kept.
//  3. Where code lies is known from the program's mappings, as they were when the sample was
//     taken. Names come from the files: of Go's functions from their line tables, of others
//     from symbol tables. What is in no file is <Unknown>, and the kernel is one function.
//  4. Callers are found as package unwind says, which needs some words of the stack in each
//     sample. The kernel keeps 127 addresses of a stack; a deeper one is marked as cut off.
//  5. Memory grows with the different stacks. Samples are written as they come.
package outside
