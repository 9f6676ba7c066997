//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

// Handle is a scope that was begun: where its record is, and when it began, by which the end finds out whether that record is still there. It
// holds no pointer, so one that outlives its recording can do no harm.
type Handle struct {
	Loc   int64 // address (assembly path) or file offset of the record; 0: not recorded
	Start int64 // ticks
}

// End ends the scope, now.
func (h Handle) End() {
	if h.Loc != 0 {
		end(h.Loc, h.Start)
	}
}

// onMiss is where begins and ends go that the assembly leaves to Go.
var onMiss struct {
	begin func(head uint64, name string, args []any) Handle
	end   func(h Handle)

	enter, entered func(f *Func) Handle
}

// OnMiss sets what Begin and Handle.End call for what they can't do; it is to
// be called once, before the first of them. Neither function may keep args.
func OnMiss(begin func(head uint64, name string, args []any) Handle, end func(h Handle)) {
	onMiss.begin, onMiss.end = begin, end
}

// OnEnter sets what Enter calls for what it can't do: enter where it has done nothing, and
// entered where it has counted a call that is to be recorded.
func OnEnter(enter, entered func(f *Func) Handle) { onMiss.enter, onMiss.entered = enter, entered }

// beginMiss, endMiss, enterMiss and enteredMiss are jumped to by the assembly, with its arguments.
func beginMiss(head uint64, name string, args []any) Handle { return onMiss.begin(head, name, args) }

func endMiss(loc, start int64) { onMiss.end(Handle{loc, start}) }

func enterMiss(f *Func) Handle { return onMiss.enter(f) }

func enteredMiss(f *Func) Handle { return onMiss.entered(f) }
