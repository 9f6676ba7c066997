// Package perf records when each thread of the process comes onto a CPU and leaves it,
// and whether it left to wait, for a page or for something else, or was put off: switch blocks
// of the trace. It samples where threads are, by counters of the system and of the processor:
// samples blocks.
//
// # Design
//
// Every thread has an event on every CPU (perf_event_open, software, major page faults, with
// context_switch), and all events of a CPU write into that CPU's ring. The events are
// inherited: a thread that one of ours makes is watched from its first moment on, and
// nothing has to be polled. The goroutine of drain empties the rings, sorts what came
// by time, and keeps for each thread the list of what is not yet written.
//
// What the blocks say rests on:
//
//  1. A switch is believed to be in its ring when it is older than settle. One that
//     comes later still, because the CPU was taken from the kernel between its reading
//     the clock and writing, makes its thread's stretch a lost one. Otherwise a block
//     would say that all up to its Until is in it, and it were not.
//  2. A ring that is found full may have lost something from its last record on up to
//     its being read. Which threads', it does not say: so it is true for all.
//  3. A thread comes onto a CPU and leaves it in turn. What breaks that is a lost
//     stretch too.
//  4. A thread may have been made by one of ours while we were at giving that one its
//     events, and then have some by inheritance and get all once more. Records say
//     which event they come from; of a thread on a CPU those of one event count.
//  5. The kernel tells of a major page fault when the page is there, and which address was
//     asked for. The waits right before were for that page: of instructions, if the thread was
//     at that address. Of other faults that waited nothing tells; they stay waits.
//
// Before its first record it is not known whether a thread is on a CPU; the record
// then tells what it was before. Of those that never have one their CPU clock tells.
//
// # Samples
//
// A Sampler has the same events for each counter, with samples and callers. Each counter has
// a ring on each CPU, for the kernel tells how many records found no room, but neither of
// which thread nor of which event.
//
//  1. A sample that is older than settle has those before it in the rings of all CPUs.
//  2. A thread with events of its own has others by inheritance only if it was made while it
//     was given its own; those do not count. When it ends, its number is free for another.
//  3. A ring that has room tells how many records had none. What was lost behind the last one
//     that had room the event itself tells (PERF_FORMAT_LOST); it is asked at the end.
//  4. The kernel walks frame pointers; package unwind says which of its callers did call. An
//     address behind a call becomes one within it; names are found when a stack is new, by the
//     goroutine that reads.
//
// # Cost
//
// Each switch costs its thread about a microsecond, in the kernel, and 4 bytes of the
// trace; bench/sched.go measures it. A sample costs as much, but for those of task-clock:
// a timer takes these, which is some 20 µs in a virtual machine. The rings are 256 KiB for each CPU, less where there
// are more than 16, or where the system allows the user less (perf_event_mlock_kb,
// RLIMIT_MEMLOCK). There is a descriptor for each thread at Start on each CPU.
//
// # Where it is not possible
//
// Start says why: perf_event_paranoid is above 2 (Debian has 3), or the kernel was
// built without it. Under a seccomp filter it is not tried: the filter of a container
// refuses the call, but that of a service may end the program, and which it is can't
// be found out. Then there are the heartbeat's sums of the time that threads waited for
// a CPU, and what Go calls running is not told apart.
package perf
