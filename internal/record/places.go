//go:build !scope_off

package record

import (
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// maxPlaces is the id from which on no name has its place told. A ring never overwrites places,
// and a program that makes up names as it goes would have one for each.
const maxPlaces = 1 << 14

// nearGiven is how far it is looked for who gives a name: only functions of ours are in between.
const nearGiven = 16

// tellGiven tells the trace where the program calls us now, and so gives a name for the first
// time. From the second time on the name is found by its address, and nobody looks who calls.
// The last room is for names themselves.
//
//go:noinline
func (r *recorder) tellGiven(id uint16) {
	if id >= maxPlaces || !r.pool.Spacious() {
		return
	}
	var pcs [nearGiven]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !more {
			return // it is what goroutines begin in
		}
		if !callOfOurs(f.Function) && !sys.Wrapper(&f) {
			r.tellAt(id, frameOf(&f, format.LockUnknown))
			return
		}
	}
}

// callOfOurs reports whether a function may be between who gives a name and us.
func callOfOurs(f string) bool {
	for _, p := range callsOfOurs {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

var callsOfOurs = []string{ourModule + "/scope.", ourModule + "/scope/hooks.", "runtime/trace.", "runtime/pprof.", // which hooks are called by
	ourModule + "/scope/scopetest.", ourModule + "/scope/scopepprof.", ourModule + "/internal/record.", ourModule + "/internal/sys."}

// frameOf is what the trace is told of a place, which stands for locks of a kind if it is a lock's.
func frameOf(f *runtime.Frame, kind format.LockKind) *format.Frame {
	return &format.Frame{Function: f.Function, File: f.File, Line: uint32(f.Line), Start: uint32(kind)}
}

// tellAt tells the trace, once, the place of a name, whose id it enters in f.
func (r *recorder) tellAt(id uint16, f *format.Frame) {
	if bit := uint64(1) << (id % 64); atomic.OrUint64(&r.names.placed[id/64], bit)&bit == 0 {
		f.ID = format.PlaceFrames + uint32(id)
		r.block(format.BlockFrame, format.AppendFrame(nil, f))
	}
}

// Unplaced lets a name be known that no line of the program gives: a hook of the standard
// library was told of what has it.
func Unplaced(name string) { current.Load().names.find(name) }
