//go:build !scope_pure

#include "textflag.h"

// func tsc() int64
TEXT ·tsc(SB), NOSPLIT|NOFRAME, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT|NOFRAME, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func getg() uintptr
TEXT ·getg(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func SwapLocal(p *uint64, old, new uint64) bool
//
// Compare-and-swap in one instruction without the bus lock: the thread can't
// lose the CPU in between, but another CPU may store between its two halves.
TEXT ·SwapLocal(SB), NOSPLIT|NOFRAME, $0-25
	MOVQ p+0(FP), BX
	MOVQ old+8(FP), AX
	MOVQ new+16(FP), CX
	CMPXCHGQ CX, (BX)
	SETEQ ret+24(FP)
	RET

// func tscg() (ticks int64, gp uintptr)
TEXT ·tscg(SB), NOSPLIT|NOFRAME, $0-16
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ticks+0(FP)
	MOVQ (TLS), CX
	MOVQ CX, gp+8(FP)
	RET

// func AddUnless(over *uint32, word *uint64, n uint64)
TEXT ·AddUnless(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ over+0(FP), AX
	MOVQ word+8(FP), BX
	MOVQ n+16(FP), CX
	MOVL (AX), DX
	TESTL DX, DX
	JNZ  out
	LOCK
	ADDQ CX, (BX)
out:
	RET
