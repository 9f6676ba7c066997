//go:build !scope_off

package record

import (
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// maxPlaces limits the ids of names whose places are recorded. A ring never overwrites places, and
// a program that composes names would have one for each.
const maxPlaces = 1 << 14

// nearGiven is the number of frames searched for the function that gives a name: only our own
// functions are in between.
const nearGiven = 16

// writeNamePlace records the place of the program's current call, which uses a name for the first
// time. Later the name is found by its address, and the caller is not looked up. The trace's last
// room is left to names themselves.
//
//go:noinline
func (r *recorder) writeNamePlace(id uint16) {
	if id >= maxPlaces || !r.pool.Spacious() {
		return
	}
	var pcs [nearGiven]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !more {
			return // the goroutine's entry function
		}
		if !callOfOurs(f.Function) && !sys.Wrapper(&f) {
			r.writeFrame(id, frameOf(&f, format.LockUnknown))
			return
		}
	}
}

// callOfOurs reports whether a function may be between the one that gives a name and ours.
func callOfOurs(f string) bool {
	for _, p := range callsOfOurs {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

var callsOfOurs = []string{ourModule + "/scope.", ourModule + "/scope/hooks.", "runtime/trace.", "runtime/pprof.", // these call hooks
	ourModule + "/scope/scopetest.", ourModule + "/scope/scopepprof.", ourModule + "/internal/record.", ourModule + "/internal/sys."}

// frameOf returns the frame of a place, which stands for locks of a kind if it is a lock's.
func frameOf(f *runtime.Frame, kind format.LockKind) *format.Frame {
	return &format.Frame{Function: f.Function, File: f.File, Line: uint32(f.Line), Start: uint32(kind)}
}

// writeFrame writes the place of a name to the trace, once. It sets the id in f.
func (r *recorder) writeFrame(id uint16, f *format.Frame) {
	if bit := uint64(1) << (id % 64); atomic.OrUint64(&r.names.placed[id/64], bit)&bit == 0 {
		f.ID = format.PlaceFrames + uint32(id)
		r.block(format.BlockFrame, format.AppendFrame(nil, f))
	}
}

// Unplaced registers a name that is not given by a line of the program, but by a hook of the
// standard library.
func Unplaced(name string) { current.Load().names.find(name) }
