package perf

import (
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/unwind"
)

// Namer assigns ids of the trace to stacks, and writes their blocks.
type Namer struct {
	write  func(format.BlockType, []byte) bool
	most   int               // maximum number of different stacks
	stacks map[string]uint32 // by their addresses
	frames map[format.Frame]uint32
	key    []byte
}

// NewNamer returns a Namer for at most most stacks; write reports whether there was room.
func NewNamer(most int, write func(format.BlockType, []byte) bool) *Namer {
	return &Namer{write: write, most: min(most, format.StackIDs-format.CodeStacks), stacks: map[string]uint32{}, frames: map[format.Frame]uint32{}}
}

// Stack returns the id of the stack with these addresses, or format.OtherStacks if there is no
// room for it. framesAt returns the functions at an address, the innermost first. One address
// must always mean the same code: stacks are named once.
func (n *Namer) Stack(pcs []uint64, framesAt func(pc uint64) []format.Frame) uint32 {
	n.key = n.key[:0]
	for _, pc := range pcs {
		n.key = binary.LittleEndian.AppendUint64(n.key, pc)
	}
	if id, ok := n.stacks[string(n.key)]; ok {
		return id
	}
	if len(n.stacks) == n.most || len(pcs) == 0 {
		return format.OtherStacks
	}
	s := format.Stack{ID: uint32(format.CodeStacks + len(n.stacks))}
	code := format.Code{Stack: s.ID}
	for _, pc := range pcs {
		if pc == unwind.Truncated {
			s.Cut = true
			break
		}
		list := unknownCaller
		if pc == unwind.UnknownCaller {
			pc = 0
		} else {
			list = framesAt(pc)
		}
		if inner := unwrapped(list); len(inner) > 0 {
			list = inner
		} else if len(s.Frames) > 0 {
			continue
		}
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
	if !n.write(format.BlockStack, format.AppendStack(nil, &s)) {
		return format.OtherStacks
	}
	n.stacks[string(n.key)] = s.ID
	n.write(format.BlockCode, format.AppendCode(nil, &code)) // without it the addresses are unknown
	return s.ID
}

// mostStacks is the maximum number of different stacks of this process; further samples have
// none. In a ring stacks are never overwritten.
const mostStacks = 1 << 14

// OwnNamer names the stacks of this process. A recording has one, which all samplers share. Any
// goroutine may use it.
type OwnNamer struct {
	mu sync.Mutex
	n  *Namer
}

// NewOwnNamer returns an OwnNamer without stacks.
func NewOwnNamer(rec collect.Recording) *OwnNamer {
	return &OwnNamer{n: NewNamer(mostStacks, rec.Block)}
}

// Stack returns the id of the stack with these addresses, the leaf's first, each caller's within
// its call; format.OtherStacks if there is no room for it. Inlined functions have no address of
// their own.
func (o *OwnNamer) Stack(pcs []uint64) uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.n.Stack(pcs, framesAt)
}

// unwrapped removes a function that the compiler generated to call another one, as Go's own
// profiles do.
func unwrapped(list []format.Frame) []format.Frame {
	last := len(list) - 1
	if last < 0 || !sys.Wrapper(&runtime.Frame{Function: list[last].Function, File: list[last].File}) {
		return list
	}
	if list = list[:last]; last > 0 {
		list[last-1].Inlined = false // the rest of the code at the address
	}
	return list
}

// frame returns the id of a frame; ok is false if the trace has no room for it.
func (n *Namer) frame(f format.Frame) (id uint32, ok bool) {
	if id, ok = n.frames[f]; ok {
		return id, true
	}
	key := f
	f.ID = uint32(format.CodeFrames + len(n.frames))
	if f.ID >= format.PlaceFrames || !n.write(format.BlockFrame, format.AppendFrame(nil, &f)) {
		return 0, false
	}
	n.frames[key] = f.ID
	return f.ID, true
}

// here is an address in this package. It ends the list for runtime.CallersFrames.
var here = func() uintptr {
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	return pcs[0]
}()

// unknownCaller is the frame for unwind.UnknownCaller.
var unknownCaller = []format.Frame{{Function: format.UnknownCaller}}

// KernelFrame is the frame for KernelPC.
var KernelFrame = []format.Frame{{Function: "[kernel]", File: "[kernel]"}}

// framesAt returns the functions at an address, the innermost first: several if some were
// inlined. Code that is not Go's has no name here.
func framesAt(pc uint64) (list []format.Frame) {
	if pc == KernelPC {
		return KernelFrame
	}
	// CallersFrames takes addresses after calls, and returns inlined functions only for
	// addresses other than the last.
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
