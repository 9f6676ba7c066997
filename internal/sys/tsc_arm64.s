//go:build linux && !scope_pure

#include "textflag.h"

// func tsc() int64
//
// The ISB keeps the counter from being read before preceding instructions have
// executed: otherwise two readings of one thread might be reordered.
TEXT ·tsc(SB), NOSPLIT|NOFRAME, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func getg() uintptr
TEXT ·getg(SB), NOSPLIT|NOFRAME, $0-8
	MOVD g, ret+0(FP)
	RET

// func tscg() (ticks int64, gp uintptr)
TEXT ·tscg(SB), NOSPLIT|NOFRAME, $0-16
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ticks+0(FP)
	MOVD g, gp+8(FP)
	RET

// func AddUnless(over *uint32, word *uint64, n uint64)
TEXT ·AddUnless(SB), NOSPLIT|NOFRAME, $0-24
	MOVD over+0(FP), R0
	MOVD word+8(FP), R1
	MOVD n+16(FP), R2
	LDARW (R0), R3
	CBNZ R3, out
again:
	LDXR (R1), R3
	ADD  R2, R3
	STXR R3, (R1), R4
	CBNZ R4, again
out:
	RET
