//go:build linux && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

#include "textflag.h"

// The functions of fast_amd64.s with the same labels in the same order, to be read beside
// it; its comments are not repeated. AX, BX, CX and DX are R0 to R3 here, SI and DI are R6
// and R7, R9 to R14 are the same, and R4, R5 and R8 replace amd64's memory operands. g has
// a register of its own.
//
// The package comment explains the barriers, which amd64 does not need: "Order".

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

#define func_gen     0
#define func_word    8
#define tally_skipped  0
#define tally_recorded 8
#define tally_limit    16

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
#define TAKEN        1

// WHERE finds the layout (R9), m (R10), p (R13) and the P's entry (R12).
// Clobbers R0.
#define WHERE(slow) \
	MOVD  $LAY, R9                   \
	MOVD  g_m(g), R10                     \
	MOVD  m_p(R10), R13                   \
	MOVWU p_id(R13), R0                   \
	CMP   $MAXPS, R0                      \
	BHS   slow                            \
	MOVD  $·entries(SB), R12              \
	ADD   R0<<8, R12, R12

// FIND finds m (R10), p (R13) and the P's entry (R12) by the shortest chain.
// Clobbers R1.
#define FIND(far) \
	MOVD  g_m(g), R10                     \
	MOVD  $·near(SB), R12                 \
	LSR   $11, R10, R1                    \
	AND   $(NEAR-1), R1                   \
	MOVD  (R12)(R1<<3), R12               \
	MOVD  m_p(R10), R13                   \
	MOVD  ent_p(R12), R1                  \
	CMP   R13, R1                         \
	BNE   far

// Clobbers R1, R14.
#define FAR(found, miss) \
	MOVWU p_id(R13), R12                  \
	CMP   $MAXPS, R12                     \
	BHS   miss                            \
	MOVD  $·entries(SB), R1               \
	ADD   R12<<8, R1, R12                 \
	MOVD  ent_p(R12), R1                  \
	CMP   R13, R1                         \
	BNE   miss                            \
	MOVD  $·near(SB), R1                  \
	LSR   $11, R10, R14                   \
	AND   $(NEAR-1), R14                  \
	MOVD  R12, (R1)(R14<<3)               \
	JMP   found

// THREAD loads the thread's cell into R11. Clobbers R1, R4.
#define THREAD(anchor) \
	MOVD  ent_m(R12), R1                  \
	CMP   R10, R1                         \
	BNE   anchor                          \
	MOVD  m_procid(R10), R1               \
	MOVD  ent_tid(R12), R4                \
	CMP   R1, R4                          \
	BNE   anchor                          \
	MOVD  ent_cell(R12), R11

// OWN leaves the generation in R0. Clobbers R1, R4.
#define OWN(chunk, anchor) \
	MOVD  lay_gen(R9), R0                 \
	MOVD  ent_gen(R12), R1                \
	CMP   R0, R1                          \
	BNE   chunk                           \
	THREAD(anchor)

// GIVEN checks that the caller's generation is the entry's. Clobbers R1, R4.
#define GIVEN(chunk) \
	MOVD  gen+8(FP), R1                   \
	MOVD  ent_gen(R12), R4                \
	CMP   R1, R4                          \
	BNE   chunk

// Clobbers R1, R4.
#define WITNESS(anchor) \
	MOVD  cell_witness(R11), R1           \
	MOVWU (R1), R1                        \
	MOVWU cell_expect(R11), R4            \
	CMPW  R1, R4                          \
	BNE   anchor

#define AHEAD(off) \
	PRFM  off(R7), PSTL1KEEP

// TSC reads the counter into R0. The ISB keeps it from being read before preceding
// instructions have executed: otherwise two readings of one thread might be reordered, and
// an end precede its begin.
#define TSC \
	ISB   $15                             \
	MRS   CNTVCT_EL0, R0

// Clobbers R2, R4.
#define WHEN(now, late) \
	MOVD  at+16(FP), R2                   \
	TSC                                   \
	CBZ   R2, now                         \
	SUB   R2, R0, R4                      \
	MOVD  R2, R0                          \
	LSL   $2, R4                          \
	MOVD  lay_exact(R9), R2               \
	CMP   R2, R4                          \
	BGE   late                            \
now:

// WITNESSES loads the yield witnesses into R2; amd64 calls it YIELD, which is an
// instruction here. Clobbers R1.
#define WITNESSES \
	MOVWU p_schedtick(R13), R2            \
	MOVBU g_seq(g), R1                    \
	ORR   R2<<8, R1, R2                   \
	MOVD  cell_tid(R11), R1               \
	ORR   R1, R2

// GOID loads the goroutine's id into R1.
#define GOID \
	MOVD  g_goid(g), R1                   \
	AND   $0xffffffffff, R1

// ANOTHER goes to other if the record at R7 belongs to another goroutine. Clobbers R1, R4.
#define ANOTHER(other) \
	MOVD  g_goid(g), R1                   \
	MOVD  16(R7), R4                      \
	EOR   R4, R1                          \
	LSL   $24, R1                         \
	CBNZ  R1, other

// NAME finds the name's entry (R3). The mask is read before the table, whose own mask may
// be greater, and the address before what belongs to it. Clobbers R1, R2, R4.
#define NAME(miss, out) \
	MOVD  name_base+8(FP), R1             \
	ADD   $lay_mask, R9, R4               \
	LDAR  (R4), R4                        \
	MOVD  lay_names(R9), R3               \
	AND   R1<<5, R4, R4                   \
	ADD   R4, R3                          \
	LDAR  (R3), R4                        \
	CMP   R1, R4                          \
	BNE   miss                            \
	MOVD  name_len+16(FP), R2             \
	MOVD  8(R3), R4                       \
	CMP   R2, R4                          \
	BNE   out

// Clobbers R1, R4.
#define WHO \
	GOID                                  \
	MOVD  head+0(FP), R4                  \
	ORR   R4, R1                          \
	MOVD  16(R3), R4                      \
	ORR   R4, R1                          \
	MOVD  R1, 16(R7)

// Clobbers R1, R2.
#define BEGUN \
	WITNESSES                             \
	MOVD  R2, 8(R7)                       \
	MOVD  cell_k(R11), R1                 \
	MOVD  R1, 24(R7)

// Clobbers R1, R4.
#define INTACT(miss) \
	MOVWU (R14), R1                       \
	MOVWU ent_expect(R12), R4             \
	CMPW  R1, R4                          \
	BNE   miss

// PLUS adds n to a word of the entry. Clobbers R4.
#define PLUS(n, off) \
	MOVD  off(R12), R4                    \
	ADD   n, R4                           \
	MOVD  R4, off(R12)

// ROOM checks that the chunk extends to end. Clobbers R4.
#define ROOM(end, full) \
	MOVD  ent_end(R12), R4                \
	CMP   R4, end                         \
	BHI   full

// LACKS returns that there is no room, and why. Clobbers R1.
#define LACKS(why, loc, start) \
	MOVD  $why, R1                        \
	MOVD  R1, loc                         \
	MOVD  ZR, start                       \
	RET

// ENDS sets the chunk's FlagEnds. Clobbers R1, R4.
#define ENDS \
	MOVD  ent_lo(R12), R1                 \
	MOVWU 28(R1), R4                      \
	ORR   $1, R4                          \
	MOVW  R4, 28(R1)

// EXTEND leaves the address of the last unit in R2. A unit's first word is where a start
// would be, so it must become visible after the header. Clobbers R0, R1, R4, R6, R7.
#define EXTEND(next, done, full) \
	MOVD  units+24(FP), R2                \
	LSL   $5, R2                          \
	ADD   R7, R2                          \
	ADD   $32, R2, R0                     \
	ROOM(R0, full)                        \
	MOVD  ext+16(FP), R6                  \
next:                                     \
	CMP   R2, R7                          \
	BHS   done                            \
	ADD   $32, R7                         \
	LDP   0(R6), (R0, R1)                 \
	STLR  R0, (R7)                        \
	MOVD  R1, 8(R7)                       \
	LDP   16(R6), (R0, R1)                \
	STP   (R0, R1), 16(R7)                \
	ADD   $32, R6                         \
	JMP   next                            \
done:

// func Begin(head uint64, name string, args []any) Handle
TEXT ·Begin(SB), NOSPLIT|NOFRAME, $0-64
	MOVD $LAY, R9
	LDAR (R9), R2                  // lay_gen, before all other words of lay
	CBZ  R2, miss
	MOVD args_len+32(FP), R6
	CBNZ R6, types
typed:
	NAME(miss, out)
	FIND(far)
found:
	MOVD lay_gen(R9), R2
	MOVD ent_gen(R12), R1
	CMP  R2, R1
	BNE  full
	THREAD(moved)
	MOVD ent_cur(R12), R7
	MOVD ent_witness(R12), R14
	ADD  $32, R7, R6
	MOVD args_len+32(FP), R10
	CBNZ R10, args
	ROOM(R6, full)
	WHO
	TSC
	INTACT(miss)
	BEGUN
	MOVD R6, ent_cur(R12)
	STLR R0, (R7)
	MOVD R7, ret_Loc+48(FP)
	MOVD R0, ret_Start+56(FP)
	RET
out:
	ORR  $(1<<63), R2
	CMP  R2, R4
	BNE  miss
	MOVD ZR, ret_Loc+48(FP)
	MOVD ZR, ret_Start+56(FP)
	RET
args:
	ADD  $64, R7, R1
	ROOM(R1, full)
	AHEAD(512)
	MOVD args_base+24(FP), R2
	MOVD 8(R2), R1
	MOVD (R1), R1
	MOVD R1, 8(R6)
	MOVD $0x7000000000001001, R1
	CMP  $1, R10
	BEQ  header
	MOVD 24(R2), R1
	MOVD (R1), R1
	MOVD R1, 16(R6)
	MOVD $0x7000000000011001, R1
	CMP  $2, R10
	BEQ  header
	MOVD 40(R2), R1
	MOVD (R1), R1
	MOVD R1, 24(R6)
	MOVD $0x7000000000111001, R1
header:
	MOVD R1, 0(R6)
	ADD  $32, R6
	WHO
	ORR  $(1<<47), R1
	MOVD R1, 16(R7)
	TSC
	INTACT(miss)
	BEGUN
	PLUS($1, ent_extra)
	MOVD R6, ent_cur(R12)
	STLR R0, (R7)
	MOVD R7, ret_Loc+48(FP)
	MOVD R0, ret_Start+56(FP)
	RET
types:
	CMP  $3, R6
	BHI  miss
	MOVD args_base+24(FP), R1
	MOVD lay_int(R9), R0
	MOVD 0(R1), R4
	CMP  R0, R4
	BNE  miss
	CMP  $1, R6
	BEQ  typed
	MOVD 16(R1), R4
	CMP  R0, R4
	BNE  miss
	CMP  $2, R6
	BEQ  typed
	MOVD 32(R1), R4
	CMP  R0, R4
	BNE  miss
	JMP  typed
moved:
	MOVD ent_cur(R12), R6
	ADD  $32, R6
	MOVD ent_end(R12), R1
	CMP  R1, R6
	BLS  miss
full:
	MOVWU lay_dry(R9), R1
	CBZ  R1, miss
	MOVWU p_id(R13), R0
	LSL  $7, R0
	MOVD lay_own(R9), R2
	CMP  R2, R0
	BHS  miss
	MOVD lay_losses(R9), R2
	ADD  R2, R0
	SUB  $8, R0
	MOVD (R0)(R1<<3), R2
	ADD  $1, R2
	MOVD R2, (R0)(R1<<3)
	MOVD ZR, ret_Loc+48(FP)
	MOVD ZR, ret_Start+56(FP)
	RET
far:
	FAR(found, full)
miss:
	JMP  ·beginMiss(SB)

// TALLY leaves the function's word in R2 and its tally in R6. Clobbers R0, R1, R4, R7.
#define TALLY(miss, skip) \
	MOVD  $LAY, R9                        \
	LDAR  (R9), R2                        \
	ADD   $func_gen, R3, R4               \
	LDAR  (R4), R4                        \
	CMP   R4, R2                          \
	BNE   miss                            \
	MOVD  g_m(g), R10                     \
	MOVD  m_p(R10), R13                   \
	MOVWU p_id(R13), R0                   \
	CMP   $MAXPS, R0                      \
	BHS   miss                            \
	MOVD  $·entries(SB), R12              \
	ADD   R0<<8, R12, R12                 \
	ADD   $ent_tallies, R12, R4           \
	LDAR  (R4), R6                        \
	CBZ   R6, miss                        \
	CBZ   R2, miss                        \
	MOVD  func_word(R3), R2               \
	AND   $0xffff, R2, R1                 \
	ADD   R1<<5, R6, R6                   \
	MOVD  tally_recorded(R6), R1          \
	MOVD  tally_limit(R6), R4             \
	SUB   R4, R1, R7                      \
	CMP   $FIRST, R7                      \
	BGE   skip                            \
	ADD   $1, R1                          \
	MOVD  R1, tally_recorded(R6)

// func Enter(f *FuncState) Handle
TEXT ·Enter(SB), NOSPLIT|NOFRAME, $0-24
	MOVD f+0(FP), R3
	TALLY(miss, skip)
	MOVD lay_gen(R9), R0
	MOVD ent_gen(R12), R1
	CMP  R0, R1
	BNE  counted
	THREAD(counted)
	MOVD ent_cur(R12), R7
	MOVD ent_witness(R12), R14
	ADD  $32, R7, R6
	ROOM(R6, counted)
	AND  $~0xffff, R2
	GOID
	ORR  R2, R1
	MOVD R1, 16(R7)
	TSC
	INTACT(counted)
	BEGUN
	MOVD R6, ent_cur(R12)
	STLR R0, (R7)
	MOVD R7, ret_Loc+8(FP)
	MOVD R0, ret_Start+16(FP)
	RET
skip:
	MOVD tally_skipped(R6), R1
	ADD  $1, R1
	MOVD R1, tally_skipped(R6)
	MOVD ZR, ret_Loc+8(FP)
	MOVD ZR, ret_Start+16(FP)
	RET
counted:
	JMP  ·enteredMiss(SB)
miss:
	JMP  ·enterMiss(SB)

// func Take(f *Func) int64
TEXT ·Take(SB), NOSPLIT|NOFRAME, $0-16
	MOVD f+0(FP), R3
	TALLY(miss, skip)
	MOVD $TOOK, R1
	MOVD R1, ret+8(FP)
	RET
skip:
	MOVD tally_skipped(R6), R1
	ADD  $1, R1
	MOVD R1, tally_skipped(R6)
	MOVD $LEFTOUT, R1
	MOVD R1, ret+8(FP)
	RET
miss:
	MOVD ZR, ret+8(FP)
	RET

// func end(loc, start int64)
TEXT ·end(SB), NOSPLIT|NOFRAME, $0-16
	MOVD $LAY, R9
	MOVD lay_gen(R9), R2
	CBZ  R2, miss
	TSC
	MOVD loc+0(FP), R7
	MOVD start+8(FP), R6
	FIND(far)
found:
	MOVD ent_gen(R12), R1
	CMP  R2, R1
	BNE  miss
	SUB  R6, R0, R3
	MOVD lay_trigger(R9), R1
	CMP  R1, R3
	BGE  miss
	THREAD(miss)
	MOVD ent_witness(R12), R14
	MOVD ent_lo(R12), R1
	CMP  R1, R7
	BLO  other
	MOVD ent_cur(R12), R1
	CMP  R1, R7
	BHS  other
	MOVD 0(R7), R1
	CMP  R1, R6
	BNE  miss
	ANOTHER(foreign)
	INTACT(miss)
	WITNESSES
	MOVD 8(R7), R1
	CMP  R2, R1
	BNE  miss
	MOVBU g_wait(g), R1
	MOVD lay_coro(R9), R4
	CMP  R1, R4
	BEQ  miss
	MOVD cell_k(R11), R2
	MOVD 24(R7), R1
	SUB  R1, R2
	SUB  R6, R0, R6
	ADDS R2, R6, R3
	BMI  miss
	CMP  R6, R3
	BGT  miss
	MOVD lay_exact(R9), R1
	CMP  R1, R6
	CSET GE, R1
	ADD  $1, R1
	ADD  R3<<2, R1, R3
	MOVD cell_mask(R11), R1
	AND  R1, R3
	MOVD R3, 24(R7)
	ADD  $8, R7, R4
	STLR R0, (R4)
	RET
other:
	MOVD lay_base(R9), R1
	SUB  R1, R7, R2
	MOVD lay_size(R9), R1
	CMP  R1, R2
	BHS  miss
	LSR  $16, R2
	MOVD lay_states(R9), R1
	ADD  R2<<2, R1
	LDARW (R1), R1
	AND  $0xff, R1
	SUB  $1, R1
	CMPW $1, R1
	BHI  miss
	LDAR (R7), R1
	CMP  R1, R6
	BNE  miss
	MOVD g_goid(g), R1
	MOVD 16(R7), R4
	EOR  R4, R1
	LSL  $24, R1
	CBZ  R1, miss
foreign:
	MOVD 16(R7), R2
	CBZ  R2, miss
	MOVD 8(R7), R1
	TBZ  $63, R1, miss
	TBNZ $62, R1, miss
	ORR  $(1<<62), R1
	MOVD ent_cur(R12), R10
	ADD  $64, R10, R13
	ROOM(R13, miss)
	MOVD R1, 8(R7)
	MOVD $0x7000000000ea9001, R1   // an extension of one unit: loc, goid, begin
	MOVD R1, 32(R10)
	MOVD R2, 56(R10)
	MOVD lay_base(R9), R1
	SUB  R1, R7
	MOVD R7, 40(R10)
	AND  $0xffffffffff, R2
	MOVD R2, 48(R10)
	MOVD R6, 8(R10)
	GOID
	MOVD $0x8b0000000000, R2       // KindEnd, with an extension
	ORR  R2, R1
	MOVD R1, 16(R10)
	MOVD ZR, 24(R10)
	ENDS
	MOVD R13, ent_cur(R12)
	PLUS($2, ent_extra)
	PLUS($1, ent_foreign)
	STLR R0, (R10)
	RET
far:
	FAR(found, miss)
miss:
	JMP  ·endMiss(SB)

// func BeginFast(head uint64, gen int64) (loc, start int64)
TEXT ·BeginFast(SB), NOSPLIT|NOFRAME, $0-32
	WHERE(chunk)
	OWN(chunk, anchor)
	GIVEN(chunk)
	MOVD ent_cur(R12), R7
	ADD  $32, R7, R6
	ROOM(R6, chunk)
	TSC
	WITNESS(anchor)
	WITNESSES
	MOVD R2, 8(R7)
	GOID
	MOVD head+0(FP), R4
	ORR  R4, R1
	MOVD R1, 16(R7)
	MOVD cell_k(R11), R1
	MOVD R1, 24(R7)
	MOVD R6, ent_cur(R12)
	STLR R0, (R7)
	MOVD R7, loc+16(FP)
	MOVD R0, start+24(FP)
	RET
chunk:
	LACKS(NEEDCHUNK, loc+16(FP), start+24(FP))
anchor:
	LACKS(NEEDANCHOR, loc+16(FP), start+24(FP))

// func BeginExt(head uint64, gen int64, ext *uint64, units, at int64) (loc, start int64)
TEXT ·BeginExt(SB), NOSPLIT|NOFRAME, $0-56
	MOVD $LAY, R9
	FIND(far)
found:
	OWN(chunk, anchor)
	GIVEN(chunk)
	MOVD ent_cur(R12), R7
	AHEAD(512)
	AHEAD(576)
	EXTEND(copy, copied, chunk)
	ADD  $32, R2, R6
	MOVD ent_cur(R12), R7
	TSC
	WITNESS(undo)
	WITNESSES
	MOVD R2, 8(R7)
	GOID
	MOVD head+0(FP), R4
	ORR  R4, R1
	MOVD R1, 16(R7)
	MOVD cell_k(R11), R1
	MOVD at+32(FP), R2
	CBNZ R2, given
begun:
	MOVD R1, 24(R7)
	MOVD R6, ent_cur(R12)
	MOVD units+24(FP), R1
	PLUS(R1, ent_extra)
	STLR R0, (R7)
	MOVD R7, loc+40(FP)
	MOVD R0, start+48(FP)
	RET
given:
	MOVD ent_lo(R12), R1
	MOVD 16(R1), R1
	CMP  R1, R2
	CSEL LT, R1, R2, R0
	MOVD $NOCLOCK, R1
	JMP  begun
far:
	FAR(found, chunk)
undo:
	// Clear what was copied: another goroutine's record may come next here, and what lies
	// behind it would be read as records. From the last unit to the first, so that the
	// header covers what is still there.
	STP  (ZR, ZR), 16(R2)
	MOVD ZR, 8(R2)
	STLR ZR, (R2)
	SUB  $32, R2
	CMP  R7, R2
	BHI  undo
	JMP  anchor
chunk:
	LACKS(NEEDCHUNK, loc+40(FP), start+48(FP))
anchor:
	LACKS(NEEDANCHOR, loc+40(FP), start+48(FP))

// func EndFast(loc, start, at int64, out *[2]uint64) int64
TEXT ·EndFast(SB), NOSPLIT|NOFRAME, $0-40
	WHERE(chunk)
	OWN(chunk, anchor)
	MOVD loc+0(FP), R7
	MOVD lay_base(R9), R1
	SUB  R1, R7, R6
	MOVD ZR, R10
	MOVD ent_lo(R12), R1
	CMP  R1, R7
	BLO  other
	MOVD ent_cur(R12), R1
	CMP  R1, R7
	BHS  other
mine:
	MOVD start+8(FP), R6
	LDAR (R7), R1
	CMP  R1, R6
	BNE  stale
	ANOTHER(foreign)
	MOVD 8(R7), R14
	CBZ  R14, flushed
	TBNZ $62, R14, ended
	TBZ  $63, R14, ended
	WHEN(given, late)
	WITNESS(anchor)
	SUB  R6, R0, R6
	MOVD cell_k(R11), R3
	MOVD 24(R7), R1
	SUB  R1, R3
	ADDS R6, R3
	BMI  low
	CMP  R6, R3
	BGT  high
clamped:
	WITNESSES
	EOR  R14, R2
	CBNZ R2, yielded
	MOVBU g_wait(g), R1
	MOVD lay_coro(R9), R4
	CMP  R1, R4
	BEQ  atmost
	MOVD lay_exact(R9), R4
	MOVD $1, R1
	CMP  R4, R6
	BLT  store
	MOVD $2, R1
store:
	ORR  R3<<2, R1, R3
	MOVD cell_mask(R11), R4
	AND  R4, R3
	MOVD out+24(FP), R1
	CBNZ R1, apart
	MOVD R3, 24(R7)
	ADD  $8, R7, R4
	STLR R0, (R4)
	CBNZ R10, again
	MOVD ZR, ret+32(FP)
	RET
again:
	DMB  $0xb
	LDARW (R10), R2
	AND  $0xff, R2
	CMP  $2, R2
	BHI  left
	MOVD ZR, ret+32(FP)
	RET
apart:
	ORR  $(1<<62), R14
	MOVD R14, 8(R7)
	MOVD R0, 0(R1)
	MOVD R3, 8(R1)
	MOVD ZR, ret+32(FP)
	RET
yielded:
	LSR  $40, R2
	CBNZ R2, unknown
bound:
	MOVBU g_seq(g), R2
	SUB  R14, R2
	AND  $0xff, R2
	CMP  $1, R2
	BHI  unknown
	MOVBU g_wait(g), R1
	MOVD lay_coro(R9), R4
	CMP  R1, R4
	BEQ  unknown
atmost:
	MOVD $3, R1
	JMP  store
late:
unknown:
	MOVD ZR, R3
	MOVD ZR, R1
	JMP  store
low:
	MOVD ZR, R3
	JMP  count
high:
	MOVD R6, R3
count:
	MOVD $NOCLOCK, R1
	MOVD 24(R7), R4
	CMP  R1, R4
	BEQ  unknown
	MOVD cell_mask(R11), R4
	CBZ  R4, unknown
	MOVD cell_tid(R11), R4
	EOR  R14, R4
	LSR  $40, R4
	CBNZ R4, clamped
	PLUS($1, ent_clamped)
	JMP  clamped

other:
	MOVD lay_size(R9), R1
	CMP  R1, R6
	BHS  stale
	LSR  $16, R6
	MOVD lay_states(R9), R1
	ADD  R6<<2, R1, R14
	LDARW (R14), R1
	ANDS $0xff, R1, R2
	BEQ  stale
	CMP  $2, R2
	BHI  flushed
	MOVD R14, R10
	LSR  $8, R1
	MOVWU p_id(R13), R4
	CMPW R4, R1
	BEQ  mine
	MOVD start+8(FP), R6
	LDAR (R7), R1
	CMP  R1, R6
	BNE  stale
	ANOTHER(foreign)
	MOVD 8(R7), R14
	CBZ  R14, flushed
	TBNZ $62, R14, ended
	TBZ  $63, R14, ended
	WHEN(given2, late)
	WITNESS(anchor)
	SUB  R6, R0, R6
	MOVD cell_k(R11), R3
	MOVD 24(R7), R1
	SUB  R1, R3
	ADD  R6, R3
	MOVD cell_tid(R11), R2
	EOR  R14, R2
	LSR  $40, R2
	CBNZ R2, unknown
	MOVD $NOCLOCK, R1
	MOVD 24(R7), R4
	CMP  R1, R4
	BEQ  unknown
	MOVD cell_mask(R11), R4
	CBZ  R4, unknown
	TBZ  $63, R3, notlow
	MOVD ZR, R3
	PLUS($1, ent_clamped)
notlow:
	CMP  R6, R3
	BLE  bound
	MOVD R6, R3
	PLUS($1, ent_clamped)
	JMP  bound

chunk:
	MOVD $NEEDCHUNK, R1
	JMP  out
anchor:
	MOVD $NEEDANCHOR, R1
	JMP  out
flushed:
	MOVD $FLUSHED, R1
	JMP  out
stale:
	CBZ  R10, wrong
	MOVD (R7), R1
	CBZ  R1, flushed
wrong:
	MOVD $STALE, R1
	JMP  out
left:
	MOVD $LEFT, R1
	JMP  out
foreign:
	MOVD $FOREIGN, R1
	JMP  out
ended:
	MOVD $ENDED, R1
out:
	MOVD R1, ret+32(FP)
	RET

// func PutFast(rec *[4]uint64, gen int64, ext *uint64, units, count int64) (loc, at int64)
TEXT ·PutFast(SB), NOSPLIT|NOFRAME, $0-56
	WHERE(chunk)
	OWN(chunk, anchor)
	GIVEN(chunk)
	MOVD ent_cur(R12), R7
	EXTEND(copy, copied, chunk)
	ADD  $32, R2
	MOVD ent_cur(R12), R7
	MOVD rec+0(FP), R6
	MOVD 0(R6), R0
	CBNZ R0, given
	TSC
given:
	MOVD 8(R6), R1
	MOVD R1, 8(R7)
	GOID
	MOVD 16(R6), R4
	ORR  R4, R1
	MOVD R1, 16(R7)
	MOVD 24(R6), R1
	MOVD R1, 24(R7)
	MOVD R2, ent_cur(R12)
	MOVD units+24(FP), R1
	PLUS(R1, ent_extra)
	MOVD count+32(FP), R1
	CBNZ R1, publish
	PLUS($1, ent_extra)
	ENDS
publish:
	STLR R0, (R7)
	MOVD R7, loc+40(FP)
	MOVD R0, at+48(FP)
	RET
chunk:
	LACKS(NEEDCHUNK, loc+40(FP), at+48(FP))
anchor:
	LACKS(NEEDANCHOR, loc+40(FP), at+48(FP))

// func Claim(loc, start int64, out *[4]uint64) int64
TEXT ·Claim(SB), NOSPLIT|NOFRAME, $0-32
	WHERE(chunk)
	MOVD lay_gen(R9), R0
	CBZ  R0, chunk
	MOVD ent_gen(R12), R1
	CMP  R0, R1
	BNE  chunk
	MOVD loc+0(FP), R7
	MOVD lay_base(R9), R1
	SUB  R1, R7, R6
	MOVD lay_size(R9), R1
	CMP  R1, R6
	BHS  stale
	LSR  $16, R6
	MOVD lay_states(R9), R1
	ADD  R6<<2, R1
	LDARW (R1), R2
	ANDS $0xff, R2
	BEQ  stale
	CMP  $2, R2
	BHI  flushed
	MOVD start+8(FP), R6
	LDAR (R7), R0
	CBZ  R0, flushed
	CMP  R0, R6
	BNE  stale
	MOVD out+16(FP), R1
	MOVD R0, 0(R1)
	MOVD 24(R7), R0
	MOVD R0, 24(R1)
	MOVD 16(R7), R0
	CBZ  R0, flushed
	MOVD R0, 16(R1)
	ADD  $8, R7, R5
again:
	LDAXR (R5), R0
	CBZ  R0, flushed
	TBZ  $63, R0, ended
	TBNZ $62, R0, ended
	ORR  $(1<<62), R0, R4
	STLXR R4, (R5), R8
	CBNZW R8, again
	MOVD R0, 8(R1)
	MOVD ZR, ret+24(FP)
	RET
chunk:
	MOVD $NEEDCHUNK, R1
	MOVD R1, ret+24(FP)
	RET
stale:
	MOVD $STALE, R1
	MOVD R1, ret+24(FP)
	RET
flushed:
	MOVD $FLUSHED, R1
	MOVD R1, ret+24(FP)
	RET
ended:
	MOVD $ENDED, R1
	MOVD R1, ret+24(FP)
	RET

// func Lose(gen, why, need int64) bool
TEXT ·Lose(SB), NOSPLIT|NOFRAME, $0-25
	WHERE(none)
	MOVD lay_gen(R9), R1
	MOVD gen+0(FP), R2
	CMP  R1, R2
	BNE  none
	MOVD ent_gen(R12), R2
	CMP  R1, R2
	BNE  count
	MOVD ent_cur(R12), R1
	MOVD need+16(FP), R2
	ADD  R2, R1
	MOVD ent_end(R12), R2
	CMP  R2, R1
	BLS  none
count:
	LSL  $7, R0
	MOVD lay_own(R9), R1
	CMP  R1, R0
	BHS  none
	MOVD lay_losses(R9), R1
	ADD  R1, R0
	SUB  $8, R0
	MOVD why+8(FP), R2
	MOVD (R0)(R2<<3), R1
	ADD  $1, R1
	MOVD R1, (R0)(R2<<3)
	MOVD $1, R1
	MOVB R1, ret+24(FP)
	RET
none:
	MOVB ZR, ret+24(FP)
	RET

// func where(out *place)
TEXT ·where(SB), NOSPLIT|NOFRAME, $0-8
	MOVD out+0(FP), R7
	WHERE(none)
	MOVD R10, 0(R7)
	MOVD m_procid(R10), R0
	MOVD R0, 8(R7)
	MOVWU p_id(R13), R0
	MOVD R0, 16(R7)
	RET
none:
	MOVD ZR, 0(R7)
	RET

// func install(header *[8]uint64, addr, size uintptr, gen int64, out *Left)
TEXT ·install(SB), NOSPLIT|NOFRAME, $0-40
	MOVD out+32(FP), R6
	WHERE(none)
	MOVD lay_gen(R9), R0
	MOVD gen+24(FP), R1
	CMP  R0, R1
	BNE  none
	MOVD ZR, 0(R6)
	MOVWU p_id(R13), R5
	ADD  $ent_lo, R12, R1
	LDAR (R1), R1
	MOVD ent_gen(R12), R2
	CMP  R0, R2
	BNE  first
	MOVD ent_end(R12), R2
	CMP  $TAKEN, R2
	BEQ  fresh
	MOVD R1, 0(R6)
	MOVD ent_cur(R12), R2
	SUB  R1, R2
	MOVD R2, 8(R6)
	MOVD R2, 32(R1)
	SUB  $64, R2
	LSR  $5, R2
	PLUS(R2, ent_units)
	MOVD lay_base(R9), R2
	SUB  R2, R1
	LSR  $16, R1
	MOVD lay_states(R9), R3
	ADD  R1<<2, R3
	// Store the whole word, not its low byte: only accesses of the same size are ordered.
	LSL  $8, R5, R1
	ORR  $2, R1
	STLRW R1, (R3)
	B    fresh
first:
	// See fast_amd64.s.
	MOVD ZR, ent_extra(R12)
	MOVD ZR, ent_clamped(R12)
	MOVD ZR, ent_units(R12)
	MOVD ZR, ent_foreign(R12)
fresh:
	MOVD R5, 16(R6)
	MOVD header+0(FP), R6
	MOVD addr+8(FP), R7
	MOVWU 8(R6), R2
	ORR  R5<<32, R2
	MOVD R2, 8(R7)
	MOVD 16(R6), R2
	MOVD R2, 16(R7)
	MOVD 24(R6), R2
	MOVD R2, 24(R7)
	MOVD 32(R6), R2
	MOVD R2, 32(R7)
	MOVD 40(R6), R2
	MOVD R2, 40(R7)
	MOVD 0(R6), R2
	STLR R2, (R7)
	MOVD lay_base(R9), R1
	SUB  R1, R7, R2
	LSR  $16, R2
	MOVD lay_states(R9), R3
	ADD  R2<<2, R3
	LSL  $8, R5, R1
	ORR  $1, R1
	STLRW R1, (R3)
	MOVD R7, ent_lo(R12)
	ADD  $64, R7, R1
	MOVD R1, ent_cur(R12)
	MOVD size+16(FP), R1
	ADD  R1, R7
	MOVD R7, ent_end(R12)
	MOVD ZR, ent_m(R12)
	MOVD R13, ent_p(R12)
	// Count reads entries after it has seen their generation.
	ADD  $ent_gen, R12, R1
	STLR R0, (R1)
	RET
none:
	MOVD $-1, R1
	MOVD R1, 16(R6)
	RET

// func anchor(a *anchorArgs) int64
TEXT ·anchor(SB), NOSPLIT, $24-16
	MOVD a+0(FP), R14
	WHERE(chunk)
	MOVD lay_gen(R9), R0
	MOVD ent_gen(R12), R1
	CMP  R0, R1
	BNE  chunk
	MOVD 0(R14), R1
	CMP  R10, R1
	BNE  moved
	MOVD m_procid(R10), R0
	MOVD 8(R14), R1
	CMP  R0, R1
	BNE  moved
	MOVD ent_cur(R12), R7
	ADD  $32, R7, R6
	ROOM(R6, chunk)
	MOVD 16(R14), R11              // cell
	MOVD R11, ent_cell(R12)
	MOVD 24(R14), R2               // may CPU time be measured?
	CBZ  R2, nocpu
	MOVD cell_witness(R11), R2
	TSC
	MOVWU (R2), R2
	MOVWU cell_expect(R11), R4
	CMPW R2, R4
	BNE  arm
	MOVD cell_mask(R11), R4
	CBNZ R4, keep
arm:
	MOVD ZR, cell_mask(R11)
	MOVD cell_page(R11), R2
	MOVD R2, cell_witness(R11)
	MOVD 24(R14), R4
	CMP  $2, R4
	BEQ  perf
	MOVD 32(R14), R3
	MOVD R3, cell_expect(R11)
	MOVD R3, (R2)                  // the descriptor; the kernel clears it
	JMP  read
perf:
	MOVWU (R2), R2
	MOVW R2, cell_expect(R11)
read:
	TSC
	MOVD R0, R13
	MOVD $3, R0                    // CLOCK_THREAD_CPUTIME_ID
	MOVD $ts-24(SP), R1
	MOVD $113, R8                  // clock_gettime
	SVC
	CBNZ R0, noisy
	TSC
	SUB  R13, R0, R2
	MOVD 40(R14), R4
	CMP  R4, R2
	BGT  noisy
	LSR  $1, R2
	ADD  R13, R2                   // R2: the middle
	MOVD ts-24(SP), R0
	MOVD $1000000000, R4
	MUL  R4, R0
	MOVD ts-16(SP), R4
	ADD  R4, R0, R13               // CPU ns
	MOVD 48(R14), R4               // × ticks per ns, 32.32
	UMULH R4, R13, R3
	MUL  R4, R13, R0
	LSR  $32, R0
	ORR  R3<<32, R0
	SUB  R2, R0
	MOVD R0, cell_k(R11)
	MOVD $-1, R0
	MOVD R0, cell_mask(R11)
	MOVD 8(R14), R0
	LSL  $42, R0
	LSR  $2, R0
	ORR  $(1<<63), R0
	MOVD R0, cell_tid(R11)
	WITNESS(noisy)
	MOVD R2, R0                    // R0: when
	JMP  record
keep:
	MOVD $-1, R13
	JMP  record
nocpu:
	MOVD $NOCLOCK, R2
	MOVD R2, cell_k(R11)
	MOVD ZR, cell_mask(R11)
	MOVD 8(R14), R2
	LSL  $42, R2
	LSR  $2, R2
	ORR  $(1<<63), R2
	MOVD R2, cell_tid(R11)
	ADD  $cell_expect, R11, R2
	MOVD R2, cell_witness(R11)
	MOVD $-1, R13
	TSC
record:
	MOVD ent_cur(R12), R7
	MOVD 8(R14), R2
	MOVD R2, 8(R7)
	MOVD $0x0a0000000000, R2       // KindAnchor
	MOVD R2, 16(R7)
	MOVD R13, 24(R7)
	ADD  $32, R7, R6
	MOVD R6, ent_cur(R12)
	PLUS($1, ent_extra)
	MOVD cell_witness(R11), R2
	MOVD R2, ent_witness(R12)
	MOVD cell_expect(R11), R2
	MOVD R2, ent_expect(R12)
	MOVD R10, ent_m(R12)
	MOVD 8(R14), R2
	MOVD R2, ent_tid(R12)
	STLR R0, (R7)
	MOVD ZR, ret+8(FP)
	RET
chunk:
	MOVD $NEEDCHUNK, R0
	MOVD R0, ret+8(FP)
	RET
moved:
	MOVD $MOVED, R0
	MOVD R0, ret+8(FP)
	RET
noisy:
	MOVD ZR, ent_m(R12)
	MOVD ZR, cell_mask(R11)
	MOVD 24(R14), R2
	CMP  $2, R2
	BEQ  disarmed
	MOVD cell_witness(R11), R2
	MOVD ZR, (R2)
disarmed:
	MOVD $NOISY, R0
	MOVD R0, ret+8(FP)
	RET

// func park(inside, leave *uint32)
TEXT ·park(SB), NOSPLIT|NOFRAME, $0-16
	MOVD inside+0(FP), R0
	MOVD leave+8(FP), R1
	MOVD $1, R2
	STLRW R2, (R0)
spin:
	YIELD
	LDARW (R1), R2
	CBZW R2, spin
	RET

// func linger(ticks int64, before, after *place)
TEXT ·linger(SB), NOSPLIT|NOFRAME, $0-24
	MOVD before+8(FP), R7
	MOVD after+16(FP), R6
	WHERE(none)
	MOVD R10, 0(R7)
	MOVD m_procid(R10), R0
	MOVD R0, 8(R7)
	MOVWU p_id(R13), R0
	MOVD R0, 16(R7)
	TSC
	MOVD ticks+0(FP), R2
	ADD  R0, R2
stay:
	YIELD
	TSC
	CMP  R2, R0
	BLT  stay
	WHERE(none)
	MOVD R10, 0(R6)
	MOVD m_procid(R10), R0
	MOVD R0, 8(R6)
	MOVWU p_id(R13), R0
	MOVD R0, 16(R6)
none:
	RET
