// Package sys is the only package of the recorder with assembly, unsafe tricks and raw system
// calls: the clock, the goroutine's and the thread's identity, thread CPU time, and the fast path
// itself.
//
// # Design
//
// The fast path is a handful of assembly functions (fast_amd64.s, fast_arm64.s). Go does not
// preempt a goroutine inside an assembly function, and its P can't change there, so a function that
// finds its entry by the number of its P owns that entry, and the chunk in it, until it returns. An
// entry holds the position of the next record and the M (thread) on which the last one was written;
// the M's cell holds the thread's CPU clock: its CPU time is K + TSC as long as the thread has not
// left the CPU since the cell was armed, and the kernel itself clears the cell's rseq_cs word when
// the thread does. (Not on arm64: see below.)
//
// # The fast path, step by step
//
// Begin, in the order in which the processor executes it, with what would be wrong otherwise:
//
//	instructions                     what they do                         without them
//	MOVQ lay_gen; TESTQ; JZ          a recording runs that has this       a read at a wrong offset; a store
//	                                 path, so all offsets are verified.   where the child has no memory
//	                                 In a child of fork(2) lay_gen is 0:
//	                                 the kernel zeroes its page (Live)
//	MOVQ g_m(R14), m_p, p_id;        g, m, P, the P's entry: four
//	  SHLQ $7; ADDQ entries          dependent loads, the path's length
//	MOVQ (TLS); CMPQ R14             R14 is g: checked beside the loads,
//	                                 not before them
//	CMPQ ent_gen                     the entry is of this recording       a store into a chunk that Stop has
//	                                                                      unmapped
//	CMPQ ent_m, CMPQ ent_tid,        the entry's anchor is of this        another thread's CPU time
//	  m_procid                       thread: an M can be reused
//	LEAQ 32(cur); CMPQ ent_end       there is room in the chunk
//	NAME: SHLQ $5; ANDQ mask;        the name's id, or that the filter
//	  CMPQ addr; CMPQ len            leaves it out (sign bit of the length)
//	WHO: goid, kind and name         word 2 of the record
//	RDTSC                            the time, last, so that our own work
//	                                 is not in the scope
//	INTACT: MOVL (witness);          the thread has been on the CPU       time off the CPU counted as CPU time
//	  CMPL expect                    since its anchor; asked after the
//	                                 counter
//	BEGUN: schedtick, trackingSeq,   words 1 and 3, behind the reading:
//	  thread; K                      they end the longest chain of loads
//	MOVQ SI, ent_cur; MOVQ AX, 0(DI) the place is taken; the record is
//	                                 published, all else being stored
//
// The end reads the counter first and does everything else afterwards. On processors where RDTSC
// waits for older instructions, the chain of loads in the end then overlaps with that of the next
// Begin. With both readings on the same side a scope costs a fifth more (measured on an Intel Xeon:
// 1.5× against 1.23× of two bare readings).
//
// fast_arm64.s is the same for arm64, label by label. g is a register there, the stores that
// publish are STLR, and the loads that decide are LDAR: see Order. The counter (CNTVCT_EL0) is read
// after an ISB. CPU times are unknown: a switch witness that misses a switch would make them wrong,
// and the kernel's handling of rseq and the perf page there has not been verified on a real
// processor yet. The assembly has everything else that they need, and its test acts as the witness.
//
// # Private fields of the runtime
//
// They are read, never written, on Go 1.26 and 1.27 (go1.26 && !go1.28), linux on amd64 and arm64,
// at the same offsets:
//
//	field              for                        how it is verified at the first Start
//	g.goid             the row                    equals what runtime.Stack prints, on four goroutines
//	g.m, m.procid      the thread                 the m points back to g and holds what gettid says
//	m.p, p.id          the entry                  the p points back to m and begins with a number below
//	                                              GOMAXPROCS
//	p.schedtick        did it yield?              grows with runtime.Gosched, not with a system call
//	g.trackingSeq      did it yield?              one byte that grows by exactly one per Gosched, and by
//	                                              nothing per system call
//	g.stack.hi         the end of the stack,      we are below it, and above g.stack.lo; the frame pointers
//	                   for frame pointers         lead where runtime.Callers does
//	g.waitreason       was it switched as a       one value after a sleep, another after iter.Pull's switch,
//	                   coroutine?                 each time
//
// Memory at values that might not be pointers is read through a pipe, where an invalid one causes
// an error and not a signal. (/proc/self/mem would not do: a process that may not be dumped can't
// open it, and under an emulator its addresses are not the program's.) If a check fails the Go path
// is used; the trace's header, Stats and scopeview info report why. The tags scope_nogoid,
// scope_noyield and scope_norseq make each witness fail, so that the fallbacks are tested.
//
// # Reasons
//
//   - Offsets are constants in the assembly, verified in the process. Variables set
//     at run time would cost nine more loads per scope. A Go version with another layout gets
//     the Go path until the constants are adapted.
//   - rseq in cgo programs is glibc's: since 2.35 it registers every thread's area itself,
//     and a program that imports net with cgo on is a cgo program. The kernel reveals which
//     area is registered: rseq(2) answers EBUSY for that address and EINVAL for every
//     other. So we find glibc's and use its rseq_cs word, which is there for any code
//     on the thread. If another library uses it too, that costs us a new anchor, but never a
//     wrong time. Otherwise CPU times would be unknown in most programs that were built
//     on a developer's machine.
//   - Under a seccomp filter rseq is tried only with WithCPU(CPUAlways): a filter may kill a
//     process for a call that it does not know.
//   - "At most" requires a single yield. A goroutine that yields twice can be on its
//     thread, on another one, and on its thread again: the first thread's time then lacks
//     the second's and is no bound. (97 % of the bounds were too low when a goroutine
//     calls a partner that is locked to a thread.) So a bound is given only if the yield
//     counter moved by one, and after a switch between coroutines only if all else is
//     equal. Go's execution trace is the way to exact times of long scopes.
//
// # Invariants
//
//  1. Only assembly reads or writes an entry's place in a chunk, and only the
//     assembly that runs on the entry's P. Otherwise a goroutine that was moved
//     between reading and writing would give one slot to two records.
//  2. Only assembly stores into a chunk of the fast path. Otherwise Stop could
//     not know that no goroutine is about to store into memory that it unmaps: the
//     world can't be stopped while assembly runs, so one stop of the world
//     after the generation has changed proves that every writer of the old
//     generation has returned.
//  3. A cell's K is used only if its witness is intact after the TSC was read.
//     Otherwise a switch between the two would count as CPU time.
//  4. A record's fields are stored before its start, its CPU time before its
//     stop, and seen in that order: see Order. Otherwise a live reader would
//     show times of a record that was not there yet.
//  5. Private fields of the runtime are read, never written, and only at offsets
//     that Discover has verified in this process. Otherwise a new Go release
//     would yield wrong goroutine ids instead of a slower path.
//  6. rseq memory is never freed and a thread's cell never moves. Otherwise the
//     kernel would write into memory that is used for something else.
//
// # Order
//
// On amd64 stores become visible in program order and loads are executed in it, so the order of the
// instructions suffices. On arm64 either may take effect in any order, except for accesses to one
// word, unless an instruction orders them. These do:
//
//   - A store that publishes something is STLR: a thread that sees it, by whatever
//     means orders its own loads, sees all that the storing thread stored or had seen
//     before (arm64 is multi-copy atomic, so that holds for third parties too).
//   - A load whose value decides whether other words are valid is LDAR:
//     what follows it is loaded later.
//   - What a P owns needs neither. Two functions that use an entry run on its P one
//     after the other, on one thread or with the runtime's hand-over of the P
//     in between, which synchronizes.
//   - Readers in other processes copy by system calls, each word whole, in no
//     particular order, twice (internal/trace, readChunk); the kernel takes
//     and drops references to the page in between, with full barriers. So what
//     was seen in the first reading orders the second one, not the first itself.
//
// What a writer does, and what a reader may see in between:
//
//	writer's step                    may be seen                         why that is right
//	begin: words 1 to 3 stored       any of them, in any order           start is 0: none is read
//	begin: an extension's words      any, but of a later unit's word 0   those words are STLR, so a walk that finds one
//	                                 only with the header                as if it were a start has skipped it by the header
//	begin: cur moved                 start 0 below cur: a hole           cur is read by the P's owner, and by Count and Leave,
//	                                                                     which add up, the latter with the world stopped
//	begin: start (STLR)              start without the rest, in the      the second reading has the rest; where only
//	                                 first reading only                  the second has start, it is left for later
//	end: CPU stored                  open, with the end's CPU            word 1 is negative: CPU is not read
//	end: stop (STLR)                 stop without CPU, in the first      the second reading has it; where only the
//	                                 reading only                        second has stop, the record counts as open
//	end elsewhere: the mark (word 1) open, marked, no end apart          it is open until the end apart is there
//	end apart: its words, then       as begin                            as begin
//	  FlagEnds, then start (STLR)    the flag without an end             one scan in vain
//	                                 an end without the flag             in a first reading only
//	Claim: the mark, by LDAXR and    two ends at one time                one of them gets it; the other finds that
//	  STLXR                                                              it has ended
//	install: the old chunk's bytes   not sealed, or with bytes and       the state is loaded atomically by Go, LDAR
//	  used, then its state (STLR)    every record in it                  here, and means: nothing follows
//	install: words 1 to 4, then the  a chunk without magic               it is not read
//	  magic (STLR), the state (STLR) magic, state 0                      an end in there takes its scope for stale: no one
//	                                                                     has a handle before the entry has the chunk
//	install: the entry, gen last     an old gen with a new chunk         Count leaves it out, once
//	flusher: a state goes on, while  a store into a chunk that has       the end checks again, and is repeated apart: see
//	an end has looked (LDAR)         left                                Late ends
//	end elsewhere: the state, then   a state and an older record         LDAR of the state; the start is LDAR and compared
//	  the record's start             in the chunk                        with the handle's, so that the rest is its own
//	Run: lay's words, then gen       the new gen with an old word        never: Begin's gen is LDAR, and elsewhere the
//	  (Go, atomic)                                                       entry is of that gen, which its installer saw
//	SetNames: lay.names, then        old mask, new table                 fine: no table is smaller than the one before it
//	  lay.mask (Go, atomic)          new mask, old table                 never: the mask is LDAR, and loaded first
//	names: length and head, then     an address without its length       never: the address is LDAR, and loaded first
//	  the address (Go, atomic)
//	Lose: a row's word, loaded and    the old count                       one loss is seen later; no other thread stores there
//	  stored
//	near: an entry's address         any that was ever stored there      the entry holds its P
//	Expire: an entry's end (CAS)     the old end, once more              one more record in a chunk that is open anyway
//	Reclaim: the end, a stop of the  an old end with a new cur           an install in between seals the old chunk:
//	world, cur, the end (CAS), lo                                        its state shows that after the second stop
//	(CAS), a stop; install loads lo  an end that is TAKEN behind a lo    never: lo is LDAR, and the end is stored before it
//	  (LDAR), then the end             that is none
//	Run(0), a stop of the world      a writer of the old generation      before the stop: Stop waits for it; after it every
//	                                                                     P has gone through the runtime's locks
//
// On arm64 the counter is read after an ISB, because the processor may otherwise read it before
// preceding instructions: two readings of a thread could be reordered, and an end precede its
// begin. (RDTSC may run ahead too, but two of a thread keep their order, which is all that amd64
// relies on.) Loading the witness after the counter (invariant 3) needs no barrier on either: the
// only event that could be seen in the wrong order is a switch between the two, which is an
// interrupt, and an interrupt completes all instructions before it and none after it. The counter
// ticks at 24 to 1000 MHz, so scopes of one tick and of none are common there.
//
// This is an argument, not a measurement. The tests run the arm64 code under qemu on amd64, which
// checks code and layout but, because amd64's order is stronger, not the order.
//
// # Late ends
//
// A thread may lose the CPU between its check of a chunk's state and its store of a stop, for so
// long that the chunk is marked as leaving, copied, and taken out of memory. In the P's own open
// chunk that can't happen: only this P seals it. An end in any other chunk (EndFast) and the
// flusher execute
//
//	the end                            the flusher
//	E1 checks: not leaving             F1 the state becomes leaving
//	E2 stores the stop                 F2 loads the stop, to copy it, and to find what
//	E3 full barrier                       is open (ring)
//	E4 checks again                    F3 takes the chunk out of memory
//
// and either E4 finds the chunk leaving or F2 finds the stop:
//
//   - amd64: E2 and E3 are one XCHG. F1 is a LOCK CMPXCHG (Advance), a full barrier
//     too. If E4 does not see F1, it was before F1 in the one order that LOCKed
//     instructions have, and so E2 was before F2.
//   - arm64: E2 is STLR, E3 a DMB ISH, E4 LDAR. F1 is a CASAL or an LDAXR and STLXR, F2
//     an LDAR: a load-acquire is not seen before a store-release that stands before
//     it. So both sides have their store before their load in the one order of those.
//
// If E4 finds the chunk leaving, the scope is ended apart once more, at the same time. That may be
// unnecessary, and readers ignore an end apart if the record itself has an end. An end that finds a
// start or a stop of 0, which neither ever is, comes after F3, and goes apart. Marks (of an end
// that is a record of its own in any case) need no second check: a ring closes what it carries as
// open when it scans that record's chunk.
//
// The Go path's ends are the same in Go (a LOCKed compare-and-swap). Its usual scope, whose chunk
// was open at the first check, has no barrier between the store and the second check, which would
// be a quarter of its cost: if no other thread runs on its CPU in between, the store stays in the
// CPU's own buffer only briefly, while the chunk would have to be sealed, marked in one round of
// the flusher and copied in another. If another thread has run on the CPU, that was a barrier.
package sys
