package std

import "github.com/scopeview/scopeview/internal/advice/row"

// Memory is the group of the hooks for loads and stores. It is in builds whose packages are
// compiled with calls before these.
const Memory = "memory"

// accesses has the functions that the compiler calls in a package compiled as for the race
// detector, whose runtime this replaces. The words of scopeviewAccess: the mode (0 nothing,
// 1 count, 2 record), the address of the processors' buffers, the bytes of each, their
// number, and their capacity in accesses. A buffer begins with the numbers of recorded and
// of counted accesses.
//
// No function of package runtime is preempted, so a buffer has one writer; and nothing here
// grows the stack, as a nosplit function may call it.
var accesses = code{dir: "runtime", imports: []string{"unsafe", "internal/runtime/atomic", "internal/runtime/sys"}, text: `//go:nosplit
func racefuncenter(callpc uintptr) {}

//go:nosplit
func racefuncexit() {}

//go:nosplit
func scopeviewAccessed(addr, pc, what uintptr) {
	gp := getg()
	mp := gp.m
	if gp != mp.curg || mp.p == 0 || mp.locks != 0 { // as where this is counted
		return
	}
	p := uintptr(mp.p.ptr().id)
	if p >= scopeviewAccess[3] {
		return
	}
	buffer := scopeviewAccess[1] + p*scopeviewAccess[2]
	if scopeviewAccess[0] == 1 {
		(*[2]uintptr)(unsafe.Pointer(buffer))[1]++
		return
	}
	if gp.stack.lo <= addr && addr < gp.stack.hi {
		what |= 1 << 15 // no other goroutine has its stack
	}
	noted := (*uintptr)(unsafe.Pointer(buffer))
	n := *noted
	if n >= scopeviewAccess[4] {
		scopeviewAccess[0] = 0
		return
	}
	e := (*[5]uintptr)(unsafe.Pointer(buffer + 8*unsafe.Sizeof(n) + n*unsafe.Sizeof([5]uintptr{})))
	e[0], e[1], e[2], e[3], e[4] = uintptr(cputicks()), addr, pc, uintptr(gp.goid)<<16|what, 0
	if fp := getfp(); framepointer_enabled && fp != 0 {
		lo := gp.stack.lo
		size := gp.stack.hi - lo - 2*unsafe.Sizeof(fp)
		fp = *(*uintptr)(unsafe.Pointer(fp)) // of the caller, whose caller pc is in
		if fp-lo <= size { // else assembly or C has changed it
			if fp = *(*uintptr)(unsafe.Pointer(fp)); fp-lo <= size {
				e[4] = *(*uintptr)(unsafe.Pointer(fp + unsafe.Sizeof(fp)))
			}
		}
	}
	atomic.Storeuintptr(noted, n+1)
}

// scopeviewAtomic is an atomic store: it has a size that no other access has.
//
//go:linkname scopeviewAtomic
//go:nosplit
func scopeviewAtomic(addr unsafe.Pointer) {
	scopeviewAccessed(uintptr(addr), sys.GetCallerPC(), 0x7fff<<1|1)
}

// scopeviewObject returns the address and the size of the heap object that contains an address.
//
//go:linkname scopeviewObject
func scopeviewObject(addr uintptr) (base, size uintptr) {
	s := spanOfHeap(addr)
	if s == nil || s.elemsize == 0 {
		return 0, 0
	}
	return s.base() + (addr-s.base())/s.elemsize*s.elemsize, s.elemsize
}`}

// calling are the functions that the compiler calls before loads and stores. Most of their
// cost is the call itself: on amd64 they need no frame when there is nothing to do.
var calling = []source{
	{"runtime/scopeview_access_amd64.s", `#include "textflag.h"

// The compiler calls these with their arguments in registers, and the function that is jumped to returns to it.

TEXT runtime·raceread<ABIInternal>(SB), NOSPLIT|NOFRAME, $0-0
	CMPQ runtime·scopeviewAccess(SB), $0
	JNE 2(PC)
	RET
	JMP runtime·scopeviewRead<ABIInternal>(SB)

TEXT runtime·racewrite<ABIInternal>(SB), NOSPLIT|NOFRAME, $0-0
	CMPQ runtime·scopeviewAccess(SB), $0
	JNE 2(PC)
	RET
	JMP runtime·scopeviewWrite<ABIInternal>(SB)

TEXT runtime·racereadrange<ABIInternal>(SB), NOSPLIT|NOFRAME, $0-0
	CMPQ runtime·scopeviewAccess(SB), $0
	JNE 2(PC)
	RET
	JMP runtime·scopeviewReadRange<ABIInternal>(SB)

TEXT runtime·racewriterange<ABIInternal>(SB), NOSPLIT|NOFRAME, $0-0
	CMPQ runtime·scopeviewAccess(SB), $0
	JNE 2(PC)
	RET
	JMP runtime·scopeviewWriteRange<ABIInternal>(SB)
`},
	{"runtime/scopeview_access_amd64.go", `package runtime

import "internal/runtime/sys"

func raceread(addr uintptr)
func racewrite(addr uintptr)
func racereadrange(addr, size uintptr)
func racewriterange(addr, size uintptr)

//go:nosplit
func scopeviewRead(addr uintptr) { scopeviewAccessed(addr, sys.GetCallerPC(), 8<<1) }

//go:nosplit
func scopeviewWrite(addr uintptr) { scopeviewAccessed(addr, sys.GetCallerPC(), 8<<1|1) }

//go:nosplit
func scopeviewReadRange(addr, size uintptr) {
	scopeviewAccessed(addr, sys.GetCallerPC(), min(size, 1<<13)<<1)
}

//go:nosplit
func scopeviewWriteRange(addr, size uintptr) {
	scopeviewAccessed(addr, sys.GetCallerPC(), min(size, 1<<13)<<1|1)
}
`},
	{"runtime/scopeview_access.go", `//go:build !amd64

package runtime

import "internal/runtime/sys"

//go:nosplit
func raceread(addr uintptr) {
	if scopeviewAccess[0] != 0 {
		scopeviewAccessed(addr, sys.GetCallerPC(), 8<<1)
	}
}

//go:nosplit
func racewrite(addr uintptr) {
	if scopeviewAccess[0] != 0 {
		scopeviewAccessed(addr, sys.GetCallerPC(), 8<<1|1)
	}
}

//go:nosplit
func racereadrange(addr, size uintptr) {
	if scopeviewAccess[0] != 0 {
		scopeviewAccessed(addr, sys.GetCallerPC(), min(size, 1<<13)<<1)
	}
}

//go:nosplit
func racewriterange(addr, size uintptr) {
	if scopeviewAccess[0] != 0 {
		scopeviewAccessed(addr, sys.GetCallerPC(), min(size, 1<<13)<<1|1)
	}
}
`},
}

// memoryTable has the hooks for loads and stores. Copies are reported only by packages
// compiled so: elsewhere the compiler calls memmove directly.
var memoryTable = []hook{
	{name: "memory", group: Memory, what: "loads and stores of chosen packages, in bursts",
		vars: append(append([]variable{}, advisedVars...), variable{"runtime", "scopeviewAccess", "[8]uintptr", "count.Accesses"}),
		code: append([]code{objects, accesses}, advisedCode...), added: calling},
	adviceHook("atomics", Memory, "atomic stores by the methods of package sync/atomic's types", atomicStores(), nil, atomically),
	sectionHook,
	adviceHook("copies", Memory, "copies of elements within their own slice", []edit{
		{file: "runtime/slice.go", function: "slicecopy", at: "memmove(toPtr, fromPtr, size)",
			insert: "if scopeviewCounter != nil && uintptr(toPtr)-uintptr(fromPtr)+size < 2*size { scopeviewThin(" + number(row.ShiftSlice) +
				", sys.GetCallerPC(), width, uintptr(toPtr), uintptr(fromPtr), size, width, 0, 0, 0) }; "},
	}, nil),
}

// atomically makes package sync/atomic report stores. Loads are left out: they must stay
// small enough to be inlined.
var atomically = code{dir: "sync/atomic", text: `//go:linkname scopeviewAccess runtime.scopeviewAccess
var scopeviewAccess [8]uintptr

//go:noescape
//go:linkname scopeviewAtomic runtime.scopeviewAtomic
func scopeviewAtomic(addr unsafe.Pointer)`}

// atomicStores returns the edits of package sync/atomic's methods that store.
func atomicStores() (list []edit) {
	for _, t := range []string{"Int32", "Int64", "Uint32", "Uint64", "Uintptr"} {
		for _, f := range []string{"Add", "Store", "Swap", "CompareAndSwap"} {
			call := f + t + "(&x.v"
			if f != "Store" {
				call = "return " + call
			}
			list = append(list, edit{file: "sync/atomic/type.go", function: t + "." + f, at: call,
				insert: "if scopeviewAccess[0] != 0 { scopeviewAtomic(unsafe.Pointer(x)) }; "})
		}
	}
	return list
}

var objects = code{dir: hooksDir, text: `//go:linkname stdObject runtime.scopeviewObject
func stdObject(addr uintptr) (base, size uintptr)

func init() { count.Objects(stdObject) }`}
