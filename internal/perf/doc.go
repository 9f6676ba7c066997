// Package perf records thread switches: when each thread of the process gets a CPU and leaves
// it, and whether it left to wait, for a page or for something else, or was preempted. It
// writes them in switch blocks. It also samples the stacks of threads by counters of the
// system and of the processor, and writes the samples in samples blocks.
//
// # Design
//
// Every thread has an event on every CPU (perf_event_open, software, major page faults, with
// context_switch), and all events of a CPU write into that CPU's ring. The events are
// inherited: a new thread is watched from its first moment on, and nothing has to be polled.
// The goroutine of drain empties the rings, sorts the records by time, and keeps for each
// thread the list of those not yet written.
//
// The blocks rely on these rules:
//
//  1. A switch is assumed to be in its ring when it is older than settle. One that
//     comes later still, because the hypervisor took the CPU between the kernel's reading
//     the clock and writing, makes its thread's stretch a lost one. Otherwise a block
//     would claim to be complete up to its Until, and would not be.
//  2. A ring that is found full may have lost records between its last record and
//     the time of reading. It does not show of which threads, so the gap applies to all.
//  3. A thread gets a CPU and leaves it in turn. Anything else means a lost
//     stretch too.
//  4. A thread may have been created while its creator was being given its
//     events. It then inherits some of them and gets all of its own too. Records name
//     their event; for a thread on a CPU the records of one event count.
//  5. The kernel reports a major page fault when the page is there, with the address that
//     was accessed. The waits right before were for that page: of instructions, if the thread was
//     at that address. Other faults that waited are not reported; they stay waits.
//
// Before its first record it is unknown whether a thread is on a CPU; the record then shows
// the state before it. For threads without records the CPU clock shows it.
//
// # Samples
//
// A Sampler has the same events for each counter, with samples and callers. Each counter has a
// ring on each CPU, because the kernel reports how many records found no room, but neither
// their threads nor their events.
//
//  1. When a sample is older than settle, all earlier ones are in the rings of all CPUs.
//  2. A thread with events of its own has inherited others only if it was created while it
//     was given its own; those do not count. When it ends, its id may be reused.
//  3. A ring that has room again reports how many records had none. Losses after the last record
//     are read from the event itself at the end (PERF_FORMAT_LOST).
//  4. The kernel walks frame pointers; package unwind verifies the callers. An
//     address after a call becomes one within it; names are looked up when a stack is new, by the
//     goroutine that reads.
//
// # Cost
//
// Each switch costs its thread about a microsecond, in the kernel, and 4 bytes of the trace;
// bench/sched.go measures it. A sample costs as much, except those of task-clock, which a
// timer takes: some 20 µs in a virtual machine. The rings are 256 KiB for each CPU, less with
// more than 16 CPUs, or if the system allows the user less (perf_event_mlock_kb,
// RLIMIT_MEMLOCK). Each thread that exists at Start takes a descriptor on each CPU.
//
// # Unsupported systems
//
// Start returns the reason: perf_event_paranoid is above 2 (Debian has 3), or the kernel was
// built without perf events. Under a seccomp filter Start does not try: the filter of a
// container refuses the call, but that of a service may end the program, and the two can't be
// distinguished. Then the trace has only the heartbeat's sums of the time that threads waited
// for a CPU, and a goroutine that Go calls running may be off the CPU.
package perf
