//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

// Handle is a scope that was begun: the position of its record, and its start, by which the end
// checks that the record is still there. It holds no pointer, so a Handle that outlives its
// recording does no harm.
type Handle struct {
	Loc   int64 // address (assembly path) or file offset of the record; 0: not recorded
	Start int64 // ticks
}

// End ends the scope now.
func (h Handle) End() {
	if h.Loc != 0 {
		end(h.Loc, h.Start)
	}
}

// onMiss holds the functions for begins and ends that the assembly leaves to Go.
var onMiss struct {
	begin func(head uint64, name string, args []any) Handle
	end   func(h Handle)

	enter, entered func(f *Func) Handle
}

// OnMiss sets the functions that Begin and Handle.End call for cases that they can't handle. Call
// it once, before the first of them. Neither function may keep args.
func OnMiss(begin func(head uint64, name string, args []any) Handle, end func(h Handle)) {
	onMiss.begin, onMiss.end = begin, end
}

// OnEnter sets the functions that Enter calls for cases that it can't handle: enter if it has done
// nothing, and entered if it has counted a call that is to be recorded.
func OnEnter(enter, entered func(f *Func) Handle) { onMiss.enter, onMiss.entered = enter, entered }

// The assembly jumps to beginMiss, endMiss, enterMiss and enteredMiss, with its own arguments.
func beginMiss(head uint64, name string, args []any) Handle { return onMiss.begin(head, name, args) }

func endMiss(loc, start int64) { onMiss.end(Handle{loc, start}) }

func enterMiss(f *Func) Handle { return onMiss.enter(f) }

func enteredMiss(f *Func) Handle { return onMiss.entered(f) }
