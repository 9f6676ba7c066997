//go:build linux && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

#include "textflag.h"

// Offsets of the fields of Go 1.26 and 1.27 that are read here; discover verifies each of
// them in the running process before the first record is written.
#define g_m          48
#define g_goid       152
#define g_wait       176
#define g_seq        191
#define m_procid     64
#define m_p          208
#define p_id         0
#define p_schedtick  16

// Offsets in the structs layout, entry and cell of fast.go.
#define lay_gen      0
#define lay_base     8
#define lay_exact    16
#define lay_states   24
#define lay_size     32
#define lay_coro     40
#define lay_names    48
#define lay_mask     56
#define lay_int      64
#define lay_trigger  72
#define lay_losses   80
#define lay_own      88
#define lay_dry      96

// Live.lay
#define LAY          ·Live+65552(SB)

#define MAXPS        65536
#define NEAR         1024

#define ent_cur      0
#define ent_end      8
#define ent_lo       16
#define ent_m        24
#define ent_tid      32
#define ent_cell     40
#define ent_gen      48
#define ent_extra    56
#define ent_clamped  64
#define ent_units    72
#define ent_witness  80
#define ent_expect   88
#define ent_foreign  96
#define ent_p        104
#define ent_tallies  112

// Func and Tally, in function.go.
#define func_gen     0
#define func_word    8
#define tally_skipped  0
#define tally_recorded 8
#define tally_limit    16

// FirstCredit: the calls that a P may record of a function before its limit is set.
#define FIRST        256

#define TOOK         1
#define LEFTOUT      2

#define cell_k       32
#define cell_tid     40
#define cell_mask    48
#define cell_witness 56
#define cell_expect  64
#define cell_os      72
#define cell_page    96

// K of a thread whose CPU clock is unknown: so far from every other value that a
// difference fails the range check of the ends.
#define NOCLOCK      0x8000000000000000

#define NEEDCHUNK    1
#define NEEDANCHOR   2
#define FLUSHED      3
#define STALE        4
#define FOREIGN      5
#define ENDED        6
#define MOVED        7
#define NOISY        8
#define LEFT         9

// The end of an entry whose chunk was taken by Fast.Reclaim.
#define TAKEN        1

// WHERE finds g (R8), the layout (R9), m (R10), p (R13; a thread that runs Go code has
// one) and the P's entry (R12). Clobbers AX.
#define WHERE(slow) \
	MOVQ (TLS), R8                        \
	LEAQ LAY, R9                          \
	MOVQ g_m(R8), R10                     \
	MOVQ m_p(R10), R13                    \
	MOVL p_id(R13), AX                    \
	CMPL AX, $MAXPS                       \
	JAE  slow                             \
	SHLQ $8, AX                           \
	LEAQ ·entries(SB), R12                \
	ADDQ AX, R12

// FIND finds g (R8; in compiled code R14 holds it, which is checked in parallel to the
// chain of loads), m (R10), p (R13) and the P's entry (R12) by the shortest chain: through
// the entry that this M, or one that shares its slot, used last. If that belongs to
// another P, FAR finds it by the P's number. Clobbers BX.
#define FIND(far, miss) \
	MOVQ g_m(R14), R10                    \
	MOVQ (TLS), R8                        \
	LEAQ ·near(SB), R12                   \
	MOVQ R10, BX                          \
	SHRQ $11, BX                          \
	ANDL $(NEAR-1), BX                    \
	MOVQ (R12)(BX*8), R12                 \
	MOVQ m_p(R10), R13                    \
	CMPQ R8, R14                          \
	JNE  miss                             \
	CMPQ R13, ent_p(R12)                  \
	JNE  far

#define FAR(found, miss) \
	MOVL p_id(R13), R12                   \
	CMPL R12, $MAXPS                      \
	JAE  miss                             \
	SHLQ $8, R12                          \
	LEAQ ·entries(SB), BX                 \
	ADDQ BX, R12                          \
	CMPQ R13, ent_p(R12)                  \
	JNE  miss                             \
	LEAQ ·near(SB), BX                    \
	MOVQ R10, R14                         \
	SHRQ $11, R14                         \
	ANDL $(NEAR-1), R14                   \
	MOVQ R12, (BX)(R14*8)                 \
	JMP  found

// THREAD checks that the entry's anchor is this thread's, and loads its cell into R11. An
// M may be reused for another thread, so the thread's id is compared too.
#define THREAD(anchor) \
	CMPQ R10, ent_m(R12)                  \
	JNE  anchor                           \
	MOVQ m_procid(R10), BX                \
	CMPQ BX, ent_tid(R12)                 \
	JNE  anchor                           \
	MOVQ ent_cell(R12), R11

// OWN checks that the entry is of this generation (else chunk), and then THREAD.
#define OWN(chunk, anchor) \
	MOVQ lay_gen(R9), AX                  \
	CMPQ AX, ent_gen(R12)                 \
	JNE  chunk                            \
	THREAD(anchor)

// WITNESS checks that the thread has been on the CPU since its anchor. It comes after TSC:
// invariant 3. Clobbers BX.
#define WITNESS(anchor) \
	MOVQ cell_witness(R11), BX            \
	MOVL (BX), BX                         \
	CMPL BX, cell_expect(R11)             \
	JNE  anchor

// AHEAD is PREFETCHW off(DI), which the assembler lacks: it fetches the cache line of
// later records for writing, because another CPU prepared the page. A processor without
// that instruction executes it as a no-op, and unmapped memory causes no fault. Without it
// a scope of 96 bytes takes 8 ns more.
#define AHEAD(off) \
	BYTE $0x0f; BYTE $0x0d; BYTE $0x8f; LONG $off

// TSC reads the counter into AX. Clobbers DX.
#define TSC \
	RDTSC                                 \
	SHLQ $32, DX                          \
	ORQ  DX, AX

// WHEN loads the time of EndFast's end into AX. If it was taken a while ago (a quarter of
// lay_exact: 5 µs), WHEN goes to late: the thread may have left the CPU since, and its CPU
// clock is not valid for a time before it came back. Clobbers CX, DX.
#define WHEN(now, late) \
	MOVQ at+16(FP), CX                    \
	TSC                                   \
	TESTQ CX, CX                          \
	JZ   now                              \
	XCHGQ AX, CX                          \
	SUBQ AX, CX                           \
	SHLQ $2, CX                           \
	CMPQ CX, lay_exact(R9)                \
	JGE  late                             \
now:

// YIELD loads the yield witnesses into CX: thread, schedtick, trackingSeq and the sign
// bit, which means open. Clobbers BX.
#define YIELD \
	MOVL p_schedtick(R13), CX             \
	SHLQ $8, CX                           \
	MOVBQZX g_seq(R8), BX                 \
	ORQ  BX, CX                           \
	ORQ  cell_tid(R11), CX

// GOID loads the goroutine's id into BX.
#define GOID \
	MOVQ g_goid(R8), BX                   \
	SHLQ $24, BX                          \
	SHRQ $24, BX

// NAME finds the name's entry (DX) by its address and length. Clobbers BX, CX.
#define NAME(miss, out) \
	MOVQ name_base+8(FP), BX              \
	MOVQ BX, DX                           \
	SHLQ $5, DX                           \
	ANDQ lay_mask(R9), DX                 \
	ADDQ lay_names(R9), DX                \
	CMPQ BX, 0(DX)                        \
	JNE  miss                             \
	MOVQ name_len+16(FP), CX              \
	CMPQ CX, 8(DX)                        \
	JNE  out

// WHO stores word 2 of a record. Clobbers BX.
#define WHO \
	GOID                                  \
	ORQ  head+0(FP), BX                   \
	ORQ  16(DX), BX                       \
	MOVQ BX, 16(DI)

// BEGUN stores words 1 and 3. It comes after TSC, not for correctness, but because its
// loads end the longest chain of loads, for which TSC would wait. Clobbers BX, CX.
#define BEGUN \
	YIELD                                 \
	MOVQ CX, 8(DI)                        \
	MOVQ cell_k(R11), BX                  \
	MOVQ BX, 24(DI)

// INTACT is WITNESS by the entry's copy of the witness's address (R14).
#define INTACT(miss) \
	MOVL (R14), BX                        \
	CMPL BX, ent_expect(R12)              \
	JNE  miss

// EXTEND stores the units of ext after the record at DI, if the chunk has room (else
// full), and leaves the address of the last one in CX. Clobbers AX, BX, SI and DI.
#define EXTEND(next, done, full) \
	MOVQ units+24(FP), CX                 \
	SHLQ $5, CX                           \
	LEAQ 32(DI)(CX*1), AX                 \
	CMPQ AX, ent_end(R12)                 \
	JA   full                             \
	MOVQ ext+16(FP), SI                   \
	ADDQ DI, CX                           \
next:                                     \
	CMPQ DI, CX                           \
	JAE  done                             \
	MOVQ 0(SI), AX                        \
	MOVQ 8(SI), BX                        \
	MOVQ AX, 32(DI)                       \
	MOVQ BX, 40(DI)                       \
	MOVQ 16(SI), AX                       \
	MOVQ 24(SI), BX                       \
	MOVQ AX, 48(DI)                       \
	MOVQ BX, 56(DI)                       \
	ADDQ $32, SI                          \
	ADDQ $32, DI                          \
	JMP  next                             \
done:

// func Begin(head uint64, name string, args []any) Handle
//
// The path of nearly every scope's begin: a name whose address is in the table of names,
// no arguments, room in the P's chunk, an intact anchor. All other cases are left to Go.
TEXT ·Begin(SB), NOSPLIT|NOFRAME, $0-64
	// Is there a recording on this path? Its generation is not 0.
	LEAQ LAY, R9
	MOVQ lay_gen(R9), CX
	TESTQ CX, CX
	JZ   miss
	MOVQ args_len+32(FP), SI
	TESTQ SI, SI
	JNE  types
typed:
	// The name's id, by its address and length.
	NAME(miss, out)
	// The goroutine, the thread and the P.
	FIND(far, miss)
found:
	MOVQ lay_gen(R9), CX
	CMPQ CX, ent_gen(R12)
	JNE  full
	THREAD(moved)
	MOVQ ent_cur(R12), DI
	MOVQ ent_witness(R12), R14
	LEAQ 32(DI), SI
	MOVQ args_len+32(FP), R10
	TESTQ R10, R10
	JNE  args
	CMPQ SI, ent_end(R12)
	JA   full
	WHO
	TSC
	INTACT(miss)
	BEGUN
	MOVQ SI, ent_cur(R12)
	MOVQ AX, 0(DI)
	MOVQ DI, ret_Loc+48(FP)
	MOVQ AX, ret_Start+56(FP)
	RET
out:
	// A filtered-out name has the sign bit in its length.
	BTSQ $63, CX
	CMPQ CX, 8(DX)
	JNE  miss
	MOVQ $0, ret_Loc+48(FP)
	MOVQ $0, ret_Start+56(FP)
	RET
args:
	// One to three ints make an extension of one unit: its header, then their values. SI
	// is the unit's address, the record's end so far.
	LEAQ 64(DI), BX
	CMPQ BX, ent_end(R12)
	JA   full
	AHEAD(512)
	MOVQ args_base+24(FP), CX
	MOVQ 8(CX), BX
	MOVQ (BX), BX
	MOVQ BX, 8(SI)
	MOVQ $0x7000000000001001, BX
	CMPQ R10, $1
	JEQ  header
	MOVQ 24(CX), BX
	MOVQ (BX), BX
	MOVQ BX, 16(SI)
	MOVQ $0x7000000000011001, BX
	CMPQ R10, $2
	JEQ  header
	MOVQ 40(CX), BX
	MOVQ (BX), BX
	MOVQ BX, 24(SI)
	MOVQ $0x7000000000111001, BX
header:
	MOVQ BX, 0(SI)
	ADDQ $32, SI
	WHO
	BTSQ $47, 16(DI)
	TSC
	INTACT(miss)
	BEGUN
	INCQ ent_extra(R12)
	MOVQ SI, ent_cur(R12)
	MOVQ AX, 0(DI)
	MOVQ DI, ret_Loc+48(FP)
	MOVQ AX, ret_Start+56(FP)
	RET
types:
	// Up to three arguments, all ints: otherwise leave it to Go, before anything is done.
	CMPQ SI, $3
	JA   miss
	MOVQ args_base+24(FP), BX
	MOVQ lay_int(R9), AX
	CMPQ AX, 0(BX)
	JNE  miss
	CMPQ SI, $1
	JEQ  typed
	CMPQ AX, 16(BX)
	JNE  miss
	CMPQ SI, $2
	JEQ  typed
	CMPQ AX, 32(BX)
	JNE  miss
	JMP  typed
moved:
	// An anchor takes room too.
	MOVQ ent_cur(R12), SI
	ADDQ $32, SI
	CMPQ SI, ent_end(R12)
	JLS  miss
full:
	// There is no room here. If no goroutine gets another chunk, the scope is lost, and
	// counted in the row of this P, as by Lose.
	MOVL lay_dry(R9), BX
	TESTL BX, BX
	JZ   miss
	MOVL p_id(R13), CX
	SHLQ $7, CX
	CMPQ CX, lay_own(R9)
	JAE  miss
	ADDQ lay_losses(R9), CX
	INCQ -8(CX)(BX*8)
	MOVQ $0, ret_Loc+48(FP)
	MOVQ $0, ret_Start+56(FP)
	RET
far:
	FAR(found, full)
miss:
	JMP  ·beginMiss(SB)

// TALLY finds this P's counts of the function DX, and counts this call there (at SI): as
// recorded if the P may record one more, else as skipped. It leaves the function's word in
// CX, for word 2 of the record. A generation of 0 belongs to no recording, so it is
// checked last. Clobbers AX, BX, DI.
#define TALLY(miss, skip) \
	LEAQ LAY, R9                          \
	MOVQ lay_gen(R9), CX                  \
	CMPQ CX, func_gen(DX)                 \
	JNE  miss                             \
	MOVQ (TLS), R8                        \
	MOVQ g_m(R8), R10                     \
	MOVQ m_p(R10), R13                    \
	MOVL p_id(R13), AX                    \
	CMPL AX, $MAXPS                       \
	JAE  miss                             \
	SHLQ $8, AX                           \
	LEAQ ·entries(SB), R12                \
	ADDQ AX, R12                          \
	MOVQ ent_tallies(R12), SI             \
	TESTQ SI, SI                          \
	JZ   miss                             \
	TESTQ CX, CX                          \
	JZ   miss                             \
	MOVQ func_word(DX), CX                \
	MOVWLZX CX, BX                        \
	SHLQ $5, BX                           \
	ADDQ BX, SI                           \
	MOVQ tally_recorded(SI), BX           \
	MOVQ BX, DI                           \
	SUBQ tally_limit(SI), DI              \
	CMPQ DI, $FIRST                       \
	JGE  skip                             \
	INCQ BX                               \
	MOVQ BX, tally_recorded(SI)

// func Enter(f *FuncState) Handle
//
// Begins the scope of a function call if it may be recorded now: Begin with a known name
// id, and without arguments.
TEXT ·Enter(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ f+0(FP), DX
	TALLY(miss, skip)
	MOVQ lay_gen(R9), AX
	CMPQ AX, ent_gen(R12)
	JNE  counted
	THREAD(counted)
	MOVQ ent_cur(R12), DI
	MOVQ ent_witness(R12), R14
	LEAQ 32(DI), SI
	CMPQ SI, ent_end(R12)
	JA   counted
	SHRQ $16, CX
	SHLQ $16, CX
	GOID
	ORQ  CX, BX
	MOVQ BX, 16(DI)
	TSC
	INTACT(counted)
	BEGUN
	MOVQ SI, ent_cur(R12)
	MOVQ AX, 0(DI)
	MOVQ DI, ret_Loc+8(FP)
	MOVQ AX, ret_Start+16(FP)
	RET
skip:
	INCQ tally_skipped(SI)
	MOVQ $0, ret_Loc+8(FP)
	MOVQ $0, ret_Start+16(FP)
	RET
counted:
	JMP  ·enteredMiss(SB)
miss:
	JMP  ·enterMiss(SB)

// func Take(f *Func) int64
//
// Counts a call as Enter does; the caller begins the scope. It returns 0 if nothing was
// counted.
TEXT ·Take(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ f+0(FP), DX
	TALLY(miss, skip)
	MOVQ $TOOK, ret+8(FP)
	RET
skip:
	INCQ tally_skipped(SI)
	MOVQ $LEFTOUT, ret+8(FP)
	RET
miss:
	MOVQ $0, ret+8(FP)
	RET

// func end(loc, start int64)
//
// The path of nearly every scope's end: its record is in the chunk of this P, begun by
// this goroutine, open, and the goroutine has not yielded since. All other cases are left
// to EndFast.
TEXT ·end(SB), NOSPLIT|NOFRAME, $0-16
	LEAQ LAY, R9
	MOVQ lay_gen(R9), CX
	TESTQ CX, CX
	JZ   miss
	// The time.
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	// The goroutine, the thread and the P.
	MOVQ loc+0(FP), DI
	MOVQ start+8(FP), SI
	FIND(far, miss)
found:
	CMPQ CX, ent_gen(R12)
	JNE  miss
	// A scope that took long enough for a trigger is left to Go.
	MOVQ AX, DX
	SUBQ SI, DX
	CMPQ DX, lay_trigger(R9)
	JGE  miss
	THREAD(miss)
	MOVQ ent_witness(R12), R14
	CMPQ DI, ent_lo(R12)
	JB   other
	CMPQ DI, ent_cur(R12)
	JAE  other
	CMPQ SI, 0(DI)
	JNE  miss
	MOVQ g_goid(R8), BX
	XORQ 16(DI), BX
	SHLQ $24, BX
	JNE  foreign
	// The thread's CPU clock was valid when the counter was read.
	INTACT(miss)
	// Did the goroutine yield? The same test finds records that have ended.
	YIELD
	CMPQ CX, 8(DI)
	JNE  miss
	MOVBQZX g_wait(R8), BX
	CMPQ BX, lay_coro(R9)
	JE   miss
	MOVQ cell_k(R11), CX
	SUBQ 24(DI), CX
	// CPU time: wall + how far the thread's clock moved against the counter, which is 0
	// without a new anchor in between.
	MOVQ DX, SI
	ADDQ CX, DX
	JS   miss
	CMPQ DX, SI
	JG   miss
	XORL BX, BX
	CMPQ SI, lay_exact(R9)
	SETGE BX
	LEAQ 1(BX)(DX*4), DX
	ANDQ cell_mask(R11), DX
	MOVQ DX, 24(DI)
	MOVQ AX, 8(DI)
	RET
other:
	// Not in this P's chunk. A chunk that is open or sealed may still be read, to find
	// which goroutine began the scope.
	MOVQ DI, CX
	SUBQ lay_base(R9), CX
	CMPQ CX, lay_size(R9)
	JAE  miss
	SHRQ $16, CX
	MOVQ lay_states(R9), BX
	MOVL (BX)(CX*4), BX
	ANDL $0xff, BX
	DECL BX
	CMPL BX, $1
	JHI  miss
	CMPQ SI, 0(DI)
	JNE  miss
	MOVQ g_goid(R8), BX
	XORQ 16(DI), BX
	SHLQ $24, BX
	JEQ  miss
foreign:
	// Another goroutine began it: write an end apart. The record is marked, so that a
	// second end is detected; of two at the same moment both may pass, and the reader
	// takes the first. The needed words are loaded before: its chunk may leave at any
	// moment.
	MOVQ 16(DI), CX
	MOVQ 8(DI), BX
	TESTQ BX, BX
	JNS  miss
	BTSQ $62, BX
	JCS  miss
	MOVQ ent_cur(R12), R10
	LEAQ 64(R10), R13
	CMPQ R13, ent_end(R12)
	JA   miss
	MOVQ BX, 8(DI)
	MOVQ $0x7000000000ea9001, BX   // an extension of one unit: loc, goid, begin
	MOVQ BX, 32(R10)
	MOVQ CX, 56(R10)
	SUBQ lay_base(R9), DI
	MOVQ DI, 40(R10)
	SHLQ $24, CX
	SHRQ $24, CX
	MOVQ CX, 48(R10)
	MOVQ SI, 8(R10)
	GOID
	MOVQ $0x8b0000000000, CX       // KindEnd, with an extension
	ORQ  CX, BX
	MOVQ BX, 16(R10)
	MOVQ $0, 24(R10)
	MOVQ ent_lo(R12), BX
	ORL  $1, 28(BX)                // FlagEnds
	MOVQ R13, ent_cur(R12)
	ADDQ $2, ent_extra(R12)
	INCQ ent_foreign(R12)
	MOVQ AX, 0(R10)
	RET
far:
	FAR(found, miss)
miss:
	JMP  ·endMiss(SB)

// func BeginFast(head uint64, gen int64) (loc, start int64)
//
// One scope's begin. If start is 0, nothing was written, and loc is the reason.
TEXT ·BeginFast(SB), NOSPLIT|NOFRAME, $0-32
	// The goroutine, the thread and the P.
	WHERE(chunk)
	OWN(chunk, anchor)
	MOVQ gen+8(FP), BX
	CMPQ BX, ent_gen(R12)
	JNE  chunk
	MOVQ ent_cur(R12), DI
	LEAQ 32(DI), SI
	CMPQ SI, ent_end(R12)
	JA   chunk
	// The time; the thread's CPU clock is valid.
	TSC
	WITNESS(anchor)
	// The record, its start last: invariant 4.
	YIELD
	MOVQ CX, 8(DI)
	GOID
	ORQ  head+0(FP), BX
	MOVQ BX, 16(DI)
	MOVQ cell_k(R11), BX
	MOVQ BX, 24(DI)
	MOVQ SI, ent_cur(R12)
	MOVQ AX, 0(DI)
	// The handle.
	MOVQ DI, loc+16(FP)
	MOVQ AX, start+24(FP)
	RET
chunk:
	MOVQ $NEEDCHUNK, loc+16(FP)
	MOVQ $0, start+24(FP)
	RET
anchor:
	MOVQ $NEEDANCHOR, loc+16(FP)
	MOVQ $0, start+24(FP)
	RET

// func BeginExt(head uint64, gen int64, ext *uint64, units, at int64) (loc, start int64)
//
// BeginFast with an extension of units×32 bytes, whose header word is stored before its
// values, so that it can be skipped if its record is never begun. If at is not 0, it is
// the start, and the CPU time is unknown.
TEXT ·BeginExt(SB), NOSPLIT|NOFRAME, $0-56
	LEAQ LAY, R9
	FIND(far, chunk)
found:
	OWN(chunk, anchor)
	MOVQ gen+8(FP), BX
	CMPQ BX, ent_gen(R12)
	JNE  chunk
	MOVQ ent_cur(R12), DI
	AHEAD(512)
	AHEAD(576)
	EXTEND(copy, copied, chunk)
	LEAQ 32(CX), SI
	MOVQ ent_cur(R12), DI
	TSC
	WITNESS(undo)
	YIELD
	MOVQ CX, 8(DI)
	GOID
	ORQ  head+0(FP), BX
	MOVQ BX, 16(DI)
	MOVQ cell_k(R11), BX
	MOVQ at+32(FP), CX
	TESTQ CX, CX
	JNZ  given
begun:
	MOVQ BX, 24(DI)
	MOVQ SI, ent_cur(R12)
	MOVQ units+24(FP), BX
	ADDQ BX, ent_extra(R12)
	MOVQ AX, 0(DI)
	MOVQ DI, loc+40(FP)
	MOVQ AX, start+48(FP)
	RET
given:
	// A record must not begin before its chunk.
	MOVQ CX, AX
	MOVQ ent_lo(R12), BX
	CMPQ AX, 16(BX)
	CMOVQLT 16(BX), AX
	MOVQ $NOCLOCK, BX
	JMP  begun
far:
	FAR(found, chunk)
undo:
	// Clear what was copied: another goroutine's record may come next here, and what lies
	// behind it would be read as records. From the last unit to the first, so that the
	// header covers what is still there.
	XORL BX, BX
wipe:
	MOVQ BX, 24(CX)
	MOVQ BX, 16(CX)
	MOVQ BX, 8(CX)
	MOVQ BX, 0(CX)
	SUBQ $32, CX
	CMPQ CX, DI
	JHI  wipe
	JMP  anchor
chunk:
	MOVQ $NEEDCHUNK, loc+40(FP)
	MOVQ $0, start+48(FP)
	RET
anchor:
	MOVQ $NEEDANCHOR, loc+40(FP)
	MOVQ $0, start+48(FP)
	RET

// func EndFast(loc, start, at int64, out *[2]uint64) int64
//
// Completes the record at loc in place, at the time at (0: now); the CPU time is unknown
// if that was more than 5 µs ago. With out, it marks the record as ended apart instead and
// stores the two words to be written into out. It returns 0, the reason why nothing was
// written, or LEFT: the record was completed, but perhaps in memory that is no longer
// read.
TEXT ·EndFast(SB), NOSPLIT|NOFRAME, $0-40
	WHERE(chunk)
	OWN(chunk, anchor)
	MOVQ loc+0(FP), DI
	MOVQ DI, SI
	SUBQ lay_base(R9), SI
	XORL R10, R10                  // address of the state of another chunk; 0: this P's
	// Is it in the chunk of this P?
	CMPQ DI, ent_lo(R12)
	JB   other
	CMPQ DI, ent_cur(R12)
	JAE  other
mine:
	// Is it the record that this handle began, open, of this goroutine?
	MOVQ start+8(FP), SI
	CMPQ SI, 0(DI)
	JNE  stale
	MOVQ g_goid(R8), BX
	XORQ 16(DI), BX
	SHLQ $24, BX
	JNE  foreign
	MOVQ 8(DI), R14
	BTQ  $62, R14
	JCS  ended
	TESTQ R14, R14
	JZ   flushed                   // a stop is never 0 either
	JNS  ended
	WHEN(given, late)
	WITNESS(anchor)
	// CPU time: wall + how far the thread's clock moved against the counter.
	MOVQ AX, SI
	SUBQ start+8(FP), SI
	MOVQ cell_k(R11), DX
	SUBQ 24(DI), DX
	ADDQ SI, DX
	JS   low
	CMPQ DX, SI
	JG   high
clamped:
	// Its quality: did the goroutine yield?
	YIELD
	XORQ R14, CX
	JNZ  yielded
	MOVBQZX g_wait(R8), BX
	CMPQ BX, lay_coro(R9)
	JE   atmost
	MOVQ $1, BX
	CMPQ SI, lay_exact(R9)
	JLT  store
	MOVQ $2, BX
store:
	SHLQ $2, DX
	ORQ  BX, DX
	ANDQ cell_mask(R11), DX
	MOVQ out+24(FP), BX
	TESTQ BX, BX
	JNZ  apart
	MOVQ DX, 24(DI)
	TESTQ R10, R10
	JNZ  again
	MOVQ AX, 8(DI)
	MOVQ $0, ret+32(FP)
	RET
again:
	// The chunk may have left since its state was checked, so that the stop is stored in
	// memory that is no longer read. XCHG is a full barrier: if the chunk is not found
	// left here, the store precedes the copy. See Order.
	XCHGQ AX, 8(DI)
	MOVL (R10), CX
	ANDL $0xff, CX
	CMPL CX, $2
	JA   left
	MOVQ $0, ret+32(FP)
	RET
apart:
	BTSQ $62, R14
	MOVQ R14, 8(DI)
	MOVQ AX, 0(BX)
	MOVQ DX, 8(BX)
	MOVQ $0, ret+32(FP)
	RET
yielded:
	SHRQ $40, CX
	JNZ  unknown
bound:
	// The goroutine left its thread and came back. If it left once, its thread was this
	// one before and after, and the thread's time bounds the goroutine's. If it left more
	// than once it may have run on other threads in between; and as a coroutine, wherever
	// the other side ran.
	MOVBQZX g_seq(R8), CX
	SUBB R14, CX
	CMPB CX, $1
	JHI  unknown
	MOVBQZX g_wait(R8), BX
	CMPQ BX, lay_coro(R9)
	JE   unknown
atmost:
	MOVQ $3, BX
	JMP  store
late:
unknown:
	XORQ DX, DX
	XORQ BX, BX
	JMP  store
low:
	XORQ DX, DX
	JMP  count
high:
	MOVQ SI, DX
count:
	// Count only a time that will be kept; one that began without a CPU clock is unknown.
	MOVQ $NOCLOCK, BX
	CMPQ BX, 24(DI)
	JEQ  unknown
	CMPQ cell_mask(R11), $0
	JEQ  unknown
	MOVQ R14, BX
	XORQ cell_tid(R11), BX
	SHRQ $40, BX
	JNZ  clamped
	INCQ ent_clamped(R12)
	JMP  clamped

other:
	// Another chunk: its state shows whether it may still be written, and which P owns it.
	CMPQ SI, lay_size(R9)
	JAE  stale
	SHRQ $16, SI
	MOVQ lay_states(R9), BX
	LEAQ (BX)(SI*4), R14
	MOVL (R14), BX
	MOVL BX, CX
	ANDL $0xff, CX
	JZ   stale
	CMPL CX, $2
	JA   flushed
	MOVQ R14, R10
	SHRL $8, BX
	CMPL BX, p_id(R13)
	JE   mine
	// The P is another one, so the goroutine yielded. It remains to check whether the
	// thread is the same.
	MOVQ start+8(FP), SI
	CMPQ SI, 0(DI)
	JNE  stale
	MOVQ g_goid(R8), BX
	XORQ 16(DI), BX
	SHLQ $24, BX
	JNE  foreign
	MOVQ 8(DI), R14
	BTQ  $62, R14
	JCS  ended
	TESTQ R14, R14
	JZ   flushed
	JNS  ended
	WHEN(given2, late)
	WITNESS(anchor)
	MOVQ AX, SI
	SUBQ start+8(FP), SI
	MOVQ cell_k(R11), DX
	SUBQ 24(DI), DX
	ADDQ SI, DX
	MOVQ cell_tid(R11), CX
	XORQ R14, CX
	SHRQ $40, CX
	JNZ  unknown
	MOVQ $NOCLOCK, BX
	CMPQ BX, 24(DI)
	JEQ  unknown
	CMPQ cell_mask(R11), $0
	JEQ  unknown
	TESTQ DX, DX
	JNS  notlow
	XORQ DX, DX
	INCQ ent_clamped(R12)
notlow:
	CMPQ DX, SI
	JLE  bound
	MOVQ SI, DX
	INCQ ent_clamped(R12)
	JMP  bound

chunk:
	MOVQ $NEEDCHUNK, ret+32(FP)
	JMP  out
anchor:
	MOVQ $NEEDANCHOR, ret+32(FP)
	JMP  out
flushed:
	MOVQ $FLUSHED, ret+32(FP)
	JMP  out
stale:
	// A start is never 0: if it is, a page is here that is no longer read.
	TESTQ R10, R10
	JZ   wrong
	CMPQ 0(DI), $0
	JEQ  flushed
wrong:
	MOVQ $STALE, ret+32(FP)
	JMP  out
foreign:
	MOVQ $FOREIGN, ret+32(FP)
	JMP  out
left:
	MOVQ $LEFT, ret+32(FP)
	JMP  out
ended:
	MOVQ $ENDED, ret+32(FP)
out:
	RET

// func PutFast(rec *[4]uint64, gen int64, ext *uint64, units, count int64) (loc, at int64)
//
// Appends a complete record: rec's words as they are, except that word 0 becomes now if it
// is 0; the goroutine is filled in. It does not use the thread's CPU clock. With count 0
// the record is an end apart, and the chunk's flag for these is set.
TEXT ·PutFast(SB), NOSPLIT|NOFRAME, $0-56
	WHERE(chunk)
	OWN(chunk, anchor)
	MOVQ gen+8(FP), BX
	CMPQ BX, ent_gen(R12)
	JNE  chunk
	MOVQ ent_cur(R12), DI
	EXTEND(copy, copied, chunk)
	LEAQ 32(CX), CX
	MOVQ ent_cur(R12), DI
	MOVQ rec+0(FP), SI
	MOVQ 0(SI), AX
	TESTQ AX, AX
	JNZ  given
	TSC
given:
	MOVQ 8(SI), BX
	MOVQ BX, 8(DI)
	GOID
	ORQ  16(SI), BX
	MOVQ BX, 16(DI)
	MOVQ 24(SI), BX
	MOVQ BX, 24(DI)
	MOVQ CX, ent_cur(R12)
	MOVQ units+24(FP), BX
	ADDQ BX, ent_extra(R12)
	CMPQ count+32(FP), $0
	JNE  publish
	INCQ ent_extra(R12)
	MOVQ ent_lo(R12), BX
	ORL  $1, 28(BX)                // FlagEnds
publish:
	MOVQ AX, 0(DI)
	MOVQ DI, loc+40(FP)
	MOVQ AX, at+48(FP)
	RET
chunk:
	MOVQ $NEEDCHUNK, loc+40(FP)
	MOVQ $0, at+48(FP)
	RET
anchor:
	MOVQ $NEEDANCHOR, loc+40(FP)
	MOVQ $0, at+48(FP)
	RET

// func Claim(loc, start int64, out *[4]uint64) int64
//
// Copies the record at loc if it is the one begun at start, open, and in a chunk that has
// not been written out, and marks it as ended apart. It returns 0 or the reason why not.
TEXT ·Claim(SB), NOSPLIT|NOFRAME, $0-32
	WHERE(chunk)
	MOVQ lay_gen(R9), AX
	TESTQ AX, AX
	JZ   chunk
	CMPQ AX, ent_gen(R12)
	JNE  chunk
	MOVQ loc+0(FP), DI
	MOVQ DI, SI
	SUBQ lay_base(R9), SI
	CMPQ SI, lay_size(R9)
	JAE  stale
	SHRQ $16, SI
	MOVQ lay_states(R9), BX
	MOVL (BX)(SI*4), CX
	ANDL $0xff, CX
	JZ   stale
	CMPL CX, $2
	JA   flushed
	MOVQ start+8(FP), SI
	MOVQ 0(DI), AX
	TESTQ AX, AX
	JZ   flushed                   // see EndFast
	CMPQ AX, SI
	JNE  stale
	MOVQ out+16(FP), BX
	MOVQ AX, 0(BX)
	MOVQ 24(DI), AX
	MOVQ AX, 24(BX)
	MOVQ 16(DI), AX
	MOVQ AX, 16(BX)
	MOVQ 8(DI), AX                 // last: if it is there, so were the others
	TESTQ AX, AX
	JZ   flushed
	JNS  ended
	LOCK
	BTSQ $62, 8(DI)
	JCS  ended
	MOVQ AX, 8(BX)
	MOVQ $0, ret+24(FP)
	RET
chunk:
	MOVQ $NEEDCHUNK, ret+24(FP)
	RET
stale:
	MOVQ $STALE, ret+24(FP)
	RET
flushed:
	MOVQ $FLUSHED, ret+24(FP)
	RET
ended:
	MOVQ $ENDED, ret+24(FP)
	RET

// func Lose(gen, why, need int64) bool
//
// Counts a lost record in the row of this P, unless its chunk has room for need bytes.
// Only this P adds to that row, so the addition need not be atomic; because it is in
// assembly, it can't hit the memory of a recording that has ended.
TEXT ·Lose(SB), NOSPLIT|NOFRAME, $0-25
	WHERE(none)
	MOVQ lay_gen(R9), BX
	CMPQ BX, gen+0(FP)
	JNE  none
	CMPQ BX, ent_gen(R12)
	JNE  count                     // it has no chunk
	MOVQ ent_cur(R12), BX
	ADDQ need+16(FP), BX
	CMPQ BX, ent_end(R12)
	JLS  none
count:
	MOVL p_id(R13), AX
	SHLQ $7, AX
	CMPQ AX, lay_own(R9)
	JAE  none
	ADDQ lay_losses(R9), AX
	MOVQ why+8(FP), BX
	INCQ -8(AX)(BX*8)
	MOVB $1, ret+24(FP)
	RET
none:
	MOVB $0, ret+24(FP)
	RET

// func where(out *Place)
//
// Returns the m, the thread and the P that the caller was on a moment ago, as a hint.
TEXT ·where(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ out+0(FP), DI
	WHERE(none)
	MOVQ R10, 0(DI)
	MOVQ m_procid(R10), AX
	MOVQ AX, 8(DI)
	MOVL p_id(R13), AX
	MOVQ AX, 16(DI)
	RET
none:
	MOVQ $0, 0(DI)
	RET

// func install(header *[8]uint64, addr, size uintptr, gen int64, out *Left)
//
// Gives the chunk at addr to the current P, writes its header with the P as its owner, and
// seals the P's previous chunk; out receives that chunk's address, the bytes used in it,
// and the P (-1: nothing was done).
TEXT ·install(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ out+32(FP), SI
	WHERE(none)
	MOVQ lay_gen(R9), AX
	CMPQ AX, gen+24(FP)
	JNE  none
	MOVQ $0, 0(SI)
	MOVQ ent_lo(R12), BX
	CMPQ AX, ent_gen(R12)
	JNE  first
	CMPQ ent_end(R12), $TAKEN      // after ent_lo, which then no longer belongs to a chunk
	JEQ  fresh
	// Seal the P's previous chunk: bytes used, then the state table.
	MOVQ BX, 0(SI)
	MOVQ ent_cur(R12), CX
	SUBQ BX, CX
	MOVQ CX, 8(SI)
	MOVQ CX, 32(BX)
	SUBQ $64, CX
	SHRQ $5, CX
	ADDQ CX, ent_units(R12)
	SUBQ lay_base(R9), BX
	SHRQ $16, BX
	MOVQ lay_states(R9), DX
	MOVB $2, (DX)(BX*4)
	JMP  fresh
first:
	// What the P counted for another recording does not belong to this one. Setup clears
	// the entries that it knows; this one may not have been noted in time.
	XORL CX, CX
	MOVQ CX, ent_extra(R12)
	MOVQ CX, ent_clamped(R12)
	MOVQ CX, ent_units(R12)
	MOVQ CX, ent_foreign(R12)
fresh:
	MOVL p_id(R13), BX
	MOVQ BX, 16(SI)
	MOVQ header+0(FP), SI
	MOVQ addr+8(FP), DI
	// Words 1 to 7, then word 0, which has the magic.
	MOVQ 8(SI), CX
	SHLQ $32, BX
	MOVL CX, CX
	ORQ  BX, CX
	MOVQ CX, 8(DI)
	MOVQ 16(SI), CX
	MOVQ CX, 16(DI)
	MOVQ 24(SI), CX
	MOVQ CX, 24(DI)
	MOVQ 32(SI), CX
	MOVQ CX, 32(DI)
	MOVQ 40(SI), CX
	MOVQ CX, 40(DI)
	MOVQ 0(SI), CX
	MOVQ CX, 0(DI)
	// The state table: open, owned by this P.
	MOVQ DI, CX
	SUBQ lay_base(R9), CX
	SHRQ $16, CX
	SHRQ $24, BX
	ORQ  $1, BX
	MOVQ lay_states(R9), DX
	MOVL BX, (DX)(CX*4)
	MOVQ DI, ent_lo(R12)
	LEAQ 64(DI), BX
	MOVQ BX, ent_cur(R12)
	ADDQ size+16(FP), DI
	MOVQ DI, ent_end(R12)
	MOVQ $0, ent_m(R12)
	MOVQ R13, ent_p(R12)
	MOVQ AX, ent_gen(R12)
	RET
none:
	MOVQ $-1, 16(SI)
	RET

// func anchor(a *anchorArgs) int64
//
// Connects the entry of this P to this thread, arms the thread's witness and reads its CPU
// clock if the witness was not intact, and appends an anchor record.
TEXT ·anchor(SB), NOSPLIT, $24-16
	MOVQ a+0(FP), R14
	WHERE(chunk)
	MOVQ lay_gen(R9), AX
	CMPQ AX, ent_gen(R12)
	JNE  chunk
	CMPQ R10, 0(R14)
	JNE  moved
	MOVQ m_procid(R10), AX
	CMPQ AX, 8(R14)
	JNE  moved
	MOVQ ent_cur(R12), DI
	LEAQ 32(DI), SI
	CMPQ SI, ent_end(R12)
	JA   chunk
	MOVQ 16(R14), BX               // cell
	MOVQ BX, ent_cell(R12)
	MOVQ 24(R14), CX               // may CPU time be measured?
	TESTQ CX, CX
	JZ   nocpu
	// Intact since the last anchor of this thread: K is still valid.
	MOVQ cell_witness(BX), CX
	TSC
	MOVL (CX), CX
	CMPL CX, cell_expect(BX)
	JNE  arm
	CMPQ cell_mask(BX), $0
	JNE  keep
arm:
	MOVQ $0, cell_mask(BX)         // K is invalid until it is read again
	MOVQ cell_page(BX), CX
	MOVQ CX, cell_witness(BX)
	CMPQ 24(R14), $2
	JEQ  perf
	MOVQ 32(R14), DX
	MOVQ DX, cell_expect(BX)
	MOVQ DX, (CX)                  // the descriptor; the kernel clears it
	JMP  read
perf:
	MOVQ cell_witness(BX), CX
	MOVL (CX), CX
	MOVL CX, cell_expect(BX)
read:
	TSC
	MOVQ AX, R13
	MOVQ $228, AX                  // clock_gettime
	MOVQ $3, DI                    // CLOCK_THREAD_CPUTIME_ID
	LEAQ ts-24(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE  noisy
	TSC
	MOVQ AX, CX
	SUBQ R13, CX
	CMPQ CX, 40(R14)
	JG   noisy
	SHRQ $1, CX
	ADDQ R13, CX                   // CX: the middle
	MOVQ ts-24(SP), AX
	IMULQ $1000000000, AX
	ADDQ ts-16(SP), AX             // CPU ns
	MOVQ AX, R13
	MULQ 48(R14)                   // × ticks per ns, 32.32
	SHRQ $32, AX
	SHLQ $32, DX
	ORQ  DX, AX
	SUBQ CX, AX
	MOVQ AX, cell_k(BX)
	MOVQ $-1, cell_mask(BX)
	MOVQ 8(R14), AX
	SHLQ $42, AX
	SHRQ $2, AX
	BTSQ $63, AX
	MOVQ AX, cell_tid(BX)
	// The witness must still be intact.
	MOVQ cell_witness(BX), AX
	MOVL (AX), AX
	CMPL AX, cell_expect(BX)
	JNE  noisy
	MOVQ CX, AX                    // AX: when
	JMP  record
keep:
	MOVQ $-1, R13
	JMP  record
nocpu:
	MOVQ $NOCLOCK, CX
	MOVQ CX, cell_k(BX)
	MOVQ $0, cell_mask(BX)
	MOVQ 8(R14), CX
	SHLQ $42, CX
	SHRQ $2, CX
	BTSQ $63, CX
	MOVQ CX, cell_tid(BX)
	MOVQ BX, CX
	ADDQ $cell_expect, CX
	MOVQ CX, cell_witness(BX)
	MOVQ $-1, R13
	TSC
record:
	MOVQ ent_cur(R12), DI
	MOVQ 8(R14), CX
	MOVQ CX, 8(DI)
	MOVQ $0x0a0000000000, CX       // KindAnchor
	MOVQ CX, 16(DI)
	MOVQ R13, 24(DI)
	LEAQ 32(DI), SI
	MOVQ SI, ent_cur(R12)
	INCQ ent_extra(R12)
	MOVQ cell_witness(BX), CX
	MOVQ CX, ent_witness(R12)
	MOVQ cell_expect(BX), CX
	MOVQ CX, ent_expect(R12)
	MOVQ R10, ent_m(R12)
	MOVQ 8(R14), CX
	MOVQ CX, ent_tid(R12)
	MOVQ AX, 0(DI)
	MOVQ $0, ret+8(FP)
	RET
chunk:
	MOVQ $NEEDCHUNK, ret+8(FP)
	RET
moved:
	MOVQ $MOVED, ret+8(FP)
	RET
noisy:
	// The witness is armed but K was not read: they must not be combined, neither here nor
	// by the entry of a P that the thread was on before.
	MOVQ $0, ent_m(R12)
	MOVQ $0, cell_mask(BX)
	CMPQ 24(R14), $2
	JEQ  disarmed
	MOVQ cell_witness(BX), CX
	MOVQ $0, (CX)
disarmed:
	MOVQ $NOISY, ret+8(FP)
	RET

// func registerRseq(m uintptr, area uintptr, sig uint64) int64
//
// Registers the area with the kernel for this thread, if it is m's. It returns 0, MOVED,
// or minus the errno.
TEXT ·registerRseq(SB), NOSPLIT|NOFRAME, $0-32
	WHERE(moved)
	CMPQ R10, m+0(FP)
	JNE  moved
	MOVQ area+8(FP), DI
	MOVQ $32, SI
	MOVQ $0, DX
	MOVQ sig+16(FP), R10
	MOVQ $334, AX
	SYSCALL
	MOVQ AX, ret+24(FP)
	RET
moved:
	MOVQ $MOVED, ret+24(FP)
	RET

// func probeRseq(m uintptr, off int64, size, sig uint64) (area uintptr, r int64)
//
// Checks whether this thread's rseq area is the size bytes at off from its thread pointer:
// r is -EBUSY if so. Nothing is registered or modified. r is MOVED if the thread is not
// m's.
TEXT ·probeRseq(SB), NOSPLIT|NOFRAME, $0-48
	WHERE(moved)
	CMPQ R10, m+0(FP)
	JNE  moved
	// MOVQ FS:0, DI: the thread pointer, which the x86-64 ABI keeps there
	BYTE $0x64; BYTE $0x48; BYTE $0x8b; BYTE $0x3c; BYTE $0x25
	LONG $0
	ADDQ off+8(FP), DI
	MOVQ DI, area+32(FP)
	MOVQ size+16(FP), SI
	MOVQ $0, DX
	MOVQ sig+24(FP), R10
	MOVQ $334, AX
	SYSCALL
	MOVQ AX, r+40(FP)
	RET
moved:
	MOVQ $0, area+32(FP)
	MOVQ $MOVED, r+40(FP)
	RET

// func park(inside, leave *uint32)
//
// Stays inside the assembly until leave is set, like a writer that the system has
// preempted within a record. For the tests of Stop.
TEXT ·park(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ inside+0(FP), AX
	MOVQ leave+8(FP), BX
	MOVL $1, (AX)
spin:
	PAUSE
	MOVL (BX), CX
	TESTL CX, CX
	JZ   spin
	RET

// func linger(ticks int64, before, after *place)
//
// Stays inside the assembly for ticks and stores where it was at the beginning and at the
// end. For the test that these are the same.
TEXT ·linger(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ before+8(FP), DI
	MOVQ after+16(FP), SI
	WHERE(none)
	MOVQ R10, 0(DI)
	MOVQ m_procid(R10), AX
	MOVQ AX, 8(DI)
	MOVL p_id(R13), AX
	MOVQ AX, 16(DI)
	TSC
	MOVQ ticks+0(FP), CX
	ADDQ AX, CX
stay:
	PAUSE
	TSC
	CMPQ AX, CX
	JLT  stay
	WHERE(none)
	MOVQ R10, 0(SI)
	MOVQ m_procid(R10), AX
	MOVQ AX, 8(SI)
	MOVL p_id(R13), AX
	MOVQ AX, 16(SI)
none:
	RET
