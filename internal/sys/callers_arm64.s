//go:build linux && go1.26 && !go1.28 && !scope_pure

#include "textflag.h"

// func framePCs(pcs *uintptr, n int) int
//
// See callers_amd64.s.
TEXT ·framePCs(SB), NOSPLIT|NOFRAME, $0-24
	MOVD pcs+0(FP), R0
	MOVD n+8(FP), R1
	MOVD 8(g), R2
	SUB  $16, R2
	MOVD RSP, R3
	SUB  $16, R3 // a frame pointer is 8 below the stack pointer
	MOVD R29, R4
	MOVD $0, R5
next:
	CMP  R1, R5
	BGE  done
	CMP  R3, R4
	BLS  done
	CMP  R2, R4
	BHI  done
	MOVD 8(R4), R6
	MOVD R6, (R0)
	ADD  $8, R0
	ADD  $1, R5
	MOVD R4, R3
	MOVD (R4), R4
	B    next
done:
	MOVD R5, ret+16(FP)
	RET
