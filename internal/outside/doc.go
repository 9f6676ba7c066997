// Package outside records a program that knows nothing of it: where its threads were each
// time that they had had so much CPU time, took a page fault, or changed the CPU; and when
// they had one. What comes of it is a trace.
//
// # Design
//
//  1. The program is started stopped (ptrace, up to its first instruction), so that nothing of
//     it is missed. Then the kernel watches it, and the threads and processes that it makes
//     (perf_event_open, inherited), and nobody traces it any more. Recording costs it what the
//     kernel takes for a sample, some microseconds.
//  2. The kernel writes into a ring for each CPU, which are read some ten times a second. What
//     did not fit is counted.
//  3. Where code lies is known from the program's mappings, as they were when the sample was
//     taken. Names come from the files: of Go's functions from their line tables, of others
//     from symbol tables. What is in no file is <Unknown>, and the kernel is one function.
//  4. Memory grows with the different stacks. Samples are written as they come.
package outside
