package std

// unwindTable has the hook that keeps Go's execution tracer from crashing programs.
//
// # Why it crashes
//
// The tracer takes a stack with each event: where a goroutine blocks, is preempted, makes another,
// enters a system call (runtime.traceStack). On amd64 and arm64 it follows frame pointers
// (fpTracebackPCs), beginning with the register (BP, R29), or with what was saved of it in
// gobuf.bp and g.syscallbp. Each points to the one before, and above each is a return address. It
// loads what these point to without a look, and stops at 0 alone. In Go code they are right, as
// each function with a frame saves its caller's and sets its own. It takes what it finds where
// something else has written the register:
//
//   - Assembly. The assembler saves and restores the register in functions with a frame, and in none
//     that has $0. Such a function may use it as any other, and often does, being short of them. It is
//     not preempted itself, but what it leaves behind stays until its caller returns: the caller's
//     epilogue takes its own caller's from the stack. Meanwhile each function that the caller calls
//     saves the wrong one, and each event in these, a preemption too, follows it.
//   - C. A panic in a function that C has called runs deferred functions above the C frames still on the
//     stack. The frame of runtime.cgocallback has saved what C had in the register. While C is called
//     the tracer goes by tables (m.hasCgoOnStack), but unwindm has ended that before they run.
//   - Recovery computes the register anew (runtime.recovery), and where a signal panics in a function
//     without a frame, or in one that the compiler treats as such, it may be wrong: go.dev/issue/73664.
//
// GODEBUG=tracefpunwindoff=1 has the tracer go by tables always, which is slower. It is read once, when
// the program begins, and is none of the settings that //go:debug takes.
//
// # What is done
//
// The patched tracer follows frame pointers as long as they can be right. Each must lie in the
// goroutine's stack, above the one before, and the last return address must be that of
// runtime.goexit, with which each goroutine begins. Where one of these does not hold, the stack is
// taken by tables, as with tracefpunwindoff, this once. So nothing is loaded but from the goroutine's own
// stack, and the stack is whole. What assembly or C had in the register need not be known for it.
//
// Chains that are cut off, since a stack has more frames than the tracer takes, are not checked at
// their end. It does not matter for memory, and a wrong chain that grows through 128 places of the
// stack is not known.
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

// walking follows frame pointers of a goroutine as long as they can be right. What the runtime calls for
// other hooks takes stacks by it, too.
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

// stacks is where the tracer takes stacks.
const stacks = "runtime/tracestack.go"
