//go:build go1.26 && !go1.28 && !scope_pure

#include "textflag.h"

// func framePCs(pcs *uintptr, n int) int
//
// Each frame pointer points to the caller's, and the return address is next to
// it. Here Go neither preempts nor moves the stack, and pointers outside the
// rest of the goroutine's stack (up to g.stack.hi, at 8) are not followed: so
// whatever the words are, only this stack is read.
TEXT ·framePCs(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ pcs+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ (TLS), AX
	MOVQ 8(AX), BX
	SUBQ $16, BX
	MOVQ SP, SI
	MOVQ BP, DX
	XORL R8, R8
next:
	CMPQ R8, CX
	JGE  done
	CMPQ DX, SI // callers are further up
	JLS  done
	CMPQ DX, BX
	JHI  done
	MOVQ 8(DX), AX
	MOVQ AX, (DI)(R8*8)
	INCQ R8
	MOVQ DX, SI
	MOVQ (DX), DX
	JMP  next
done:
	MOVQ R8, ret+16(FP)
	RET
