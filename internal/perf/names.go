package perf

import (
	"encoding/binary"
	"runtime"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

// mostStacks is how many different stacks are kept: beyond it samples have none. In a ring
// stacks are never overwritten.
const mostStacks = 1 << 14

// namer gives the trace's ids to stacks, and tells it of them.
type namer struct {
	rec    collect.Recording
	stacks map[string]uint32 // by their addresses
	frames map[format.Frame]uint32
	key    []byte
}

func newNamer(rec collect.Recording) namer {
	return namer{rec: rec, stacks: map[string]uint32{}, frames: map[format.Frame]uint32{}}
}

// stack returns the id of the stack with these addresses; format.OtherStacks if there is no
// room for it.
func (n *namer) stack(pcs []uint64) uint32 {
	n.key = n.key[:0]
	for _, pc := range pcs {
		n.key = binary.LittleEndian.AppendUint64(n.key, pc)
	}
	if id, ok := n.stacks[string(n.key)]; ok {
		return id
	}
	if len(n.stacks) == mostStacks {
		return format.OtherStacks
	}
	s := format.Stack{ID: uint32(format.CodeStacks + len(n.stacks))}
	code := format.Code{Stack: s.ID}
	for _, pc := range pcs {
		list := framesAt(pc)
		if len(s.Frames)+len(list) > format.MaxStackFrames {
			s.Cut = true
			break
		}
		code.PCs = append(code.PCs, pc)
		for _, f := range list {
			id, ok := n.frame(f)
			if !ok {
				return format.OtherStacks
			}
			s.Frames = append(s.Frames, id)
		}
	}
	if !n.rec.Block(format.BlockStack, format.AppendStack(nil, &s)) {
		return format.OtherStacks
	}
	n.stacks[string(n.key)] = s.ID
	n.rec.Block(format.BlockCode, format.AppendCode(nil, &code)) // without it the addresses are not known
	return s.ID
}

// frame returns the id of a frame; false if the trace has no room for it.
func (n *namer) frame(f format.Frame) (id uint32, ok bool) {
	if id, ok = n.frames[f]; ok {
		return id, true
	}
	key := f
	f.ID = uint32(format.CodeFrames + len(n.frames))
	if len(n.frames) == format.MaxFrames || !n.rec.Block(format.BlockFrame, format.AppendFrame(nil, &f)) {
		return 0, false
	}
	n.frames[key] = f.ID
	return f.ID, true
}

// here is an address in this package, behind which runtime.CallersFrames need not look.
var here = func() uintptr {
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	return pcs[0]
}()

// framesAt returns the functions at an address, the innermost first: several where some were
// inlined. Code that is not Go's has no name here.
func framesAt(pc uint64) (list []format.Frame) {
	if pc == kernelPC {
		return []format.Frame{{Function: "[kernel]", File: "[kernel]"}}
	}
	// CallersFrames takes addresses behind calls, and tells what was inlined only of those
	// that are not the last one.
	it := runtime.CallersFrames([]uintptr{uintptr(pc) + 1, here})
	for f, more := it.Next(); more; f, more = it.Next() {
		x := format.Frame{Function: f.Function, File: f.File, Line: uint32(max(f.Line, 0)), Inlined: f.Func == nil}
		if f.Func != nil {
			_, line := f.Func.FileLine(f.Entry)
			x.Start = uint32(max(line, 0))
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		list = []format.Frame{{Function: "<Unknown>"}}
	}
	return list
}
