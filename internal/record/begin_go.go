//go:build (!(linux && (amd64 || arm64) && go1.26 && !go1.28) || scope_pure || scope_go || race) && !scope_off

package record

import "github.com/scopeview/scopeview/internal/sys"

// These functions begin a scope. They are direct calls, so that args need not escape.
// With the kind as an argument, Task would exceed the compiler's inlining budget.
func BeginTask(name string, args []any) Handle    { return begin(headTask, name, args) }
func BeginTaskf(name string, args []any) Handle   { return begin(headTaskf, name, args) }
func BeginPending(name string, args []any) Handle { return begin(headPending, name, args) }

// Enter begins the scope of a function call, if it is to be recorded.
func Enter(f *sys.FuncState) Handle { return enter(sys.FuncOf(f)) }

// entered begins the scope of a call that was counted.
func entered(f *Func) Handle { return begin(headTask, f.Name, nil) }

// onEnter does nothing: Enter is written in Go.
func onEnter() {}

// Handle is a scope that was begun: the position of its record in the file, and its
// start, by which the end checks that the record is still there. It holds no pointer, so
// a Handle that outlives its recording does no harm.
type Handle struct {
	Loc   int64 // file offset of the record; 0: not recorded
	Start int64 // ticks
}

// End ends the scope now.
func (h Handle) End() {
	if h.Loc != 0 {
		endNow(h)
	}
}
