//go:build (!(linux && (amd64 || arm64) && go1.26 && !go1.28) || scope_pure || scope_go || race) && !scope_off

package record

import "github.com/scopeview/scopeview/internal/sys"

// These begin a scope. They are direct calls, so that args need not escape. Were the kind
// an argument, Task would cost more than the compiler inlines.
func BeginTask(name string, args []any) Handle    { return begin(headTask, name, args) }
func BeginTaskf(name string, args []any) Handle   { return begin(headTaskf, name, args) }
func BeginPending(name string, args []any) Handle { return begin(headPending, name, args) }

// Enter begins the scope of a function that is called, if it is to be recorded.
func Enter(f *sys.FuncState) Handle { return enter(sys.FuncOf(f)) }

// entered begins the scope of a call that was counted.
func entered(f *Func) Handle { return begin(headTask, f.Name, nil) }

// onEnter has nothing to do: Enter is Go's anyway.
func onEnter() {}

// Handle is a scope that was begun: where its record is in the file, and when it
// began, by which the end finds out whether that record is still there. It holds
// no pointer, so one that outlives its recording can do no harm.
type Handle struct {
	Loc   int64 // file offset of the record; 0: not recorded
	Start int64 // ticks
}

// End ends the scope, now.
func (h Handle) End() {
	if h.Loc != 0 {
		endNow(h)
	}
}
