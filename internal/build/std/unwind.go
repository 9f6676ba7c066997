package std

// unwindTable has the hook that keeps Go's execution tracer from crashing programs.
//
// # Why it crashes
//
// The tracer takes a stack with each event: when a goroutine blocks, is preempted, creates
// another, enters a system call (runtime.traceStack). On amd64 and arm64 it follows frame
// pointers (fpTracebackPCs), beginning with the register (BP, R29), or with its saved value
// in gobuf.bp and g.syscallbp. Each points to the one before, and above each is a return
// address. It dereferences them without a check, and stops only at 0. In Go code they are
// correct, as each function with a frame saves its caller's and sets its own. They are wrong
// where other code has written the register:
//
//   - Assembly. The assembler saves and restores the register in functions with a frame, but in none
//     with $0. Such a function may use it like any other, and often does, being short of them. It is
//     not preempted itself, but its value stays until its caller returns: the caller's
//     epilogue restores its own caller's from the stack. Meanwhile each function that the caller calls
//     saves the wrong one, and each event in these, including a preemption, follows it.
//   - C. A panic in a function that C has called runs deferred functions above the C frames still on the
//     stack. The frame of runtime.cgocallback has saved C's value of the register. During a call of C
//     the tracer uses tables (m.hasCgoOnStack), but unwindm has ended that before they run.
//   - Recovery recomputes the register (runtime.recovery), and if a signal panics in a function
//     without a frame, or in one that the compiler treats as such, it may be wrong: go.dev/issue/73664.
//
// GODEBUG=tracefpunwindoff=1 makes the tracer always use tables, which is slower. It is read
// once, when the program starts, and is not one of the settings that //go:debug accepts.
//
// # The fix
//
// The patched tracer follows frame pointers as long as they can be correct. Each must lie in
// the goroutine's stack, above the one before, and the last return address must be that of
// runtime.goexit, with which each goroutine begins. If one of these does not hold, this one
// stack is taken by tables, as with tracefpunwindoff. So only the goroutine's own stack is
// read, and the stack is complete, whatever assembly or C had in the register.
//
// Chains that are cut off, as a stack has more frames than the tracer takes, are not checked
// at their end. That is safe for memory, and no wrong chain is known that rises through 128
// addresses of the stack.
var unwindTable = []hook{{
	name: Unwind, what: "stacks of Go's execution trace where assembly or C has changed the frame pointer, which otherwise crashes the program",
	edits: []edit{
		{file: stacks, function: "traceStack", at: "nstk := 1", instead: true, insert: "nstk, scopeviewWrong := 1, false"},
		{file: stacks, function: "traceStack", at: "fpTracebackPCs(unsafe.Pointer(getfp()), ", instead: true, insert: "scopeviewWalk(gp, &scopeviewWrong, unsafe.Pointer(getfp()), "},
		{file: stacks, function: "traceStack", at: "fpTracebackPCs(unsafe.Pointer(gp.syscallbp), ", instead: true, insert: "scopeviewWalk(gp, &scopeviewWrong, unsafe.Pointer(gp.syscallbp), "},
		{file: stacks, function: "traceStack", at: "nstk += 2 + fpTracebackPCs(unsafe.Pointer(gp.sched.bp), ", instead: true, insert: "nstk += 2 + scopeviewWalk(gp, &scopeviewWrong, unsafe.Pointer(gp.sched.bp), "},
		{file: stacks, function: "traceStack", at: "nstk += 1 + fpTracebackPCs(unsafe.Pointer(gp.sched.bp), ", instead: true, insert: "nstk += 1 + scopeviewWalk(gp, &scopeviewWrong, unsafe.Pointer(gp.sched.bp), "},
		{file: stacks, function: "traceStack", at: "nstk-- // skip runtime.goexit",
			insert: "if scopeviewWrong { pcBuf[0] = logicalStackSentinel; if getg() == gp { nstk = 1 + callers(skip+1, pcBuf[1:]) } else { nstk = 1 + gcallers(gp, skip, pcBuf[1:]) } }; "},
	},
	code: []code{walking},
}}

// walking follows frame pointers of a goroutine as long as they can be correct. The
// runtime's functions for other hooks use it for stacks, too.
var walking = code{dir: "runtime", imports: []string{"internal/abi", "internal/goarch", "internal/runtime/sys", "unsafe"}, text: `func scopeviewWalk(gp *g, wrong *bool, fp unsafe.Pointer, pcBuf []uintptr) (i int) {
	at, least, most := uintptr(fp), gp.stack.lo, gp.stack.hi-2*goarch.PtrSize
	for i = 0; i < len(pcBuf) && at != 0; i++ {
		if at < least || at > most {
			*wrong = true
			return i
		}
		pcBuf[i] = *(*uintptr)(unsafe.Pointer(at + goarch.PtrSize))
		least = at + goarch.PtrSize
		at = *(*uintptr)(unsafe.Pointer(at))
	}
	if at == 0 && (i == 0 || pcBuf[i-1] != abi.FuncPCABI0(goexit)+sys.PCQuantum) {
		*wrong = true
	}
	return i
}`}

// Unwind is the hook's name.
const Unwind = "unwind"

// stacks is the file of the tracer's stacks.
const stacks = "runtime/tracestack.go"
