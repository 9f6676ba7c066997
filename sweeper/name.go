package sweeper

import (
	"encoding/binary"
	"runtime"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

const (
	perBlock = 1000 // counts in a block, which is far smaller than a chunk
	perStep  = 32   // stacks named between two sweeps
)

// namer assigns ids of the trace to stacks and their frames.
type namer struct {
	stacks map[string]uint32 // by the stack's addresses
	frames map[Frame]uint32  // by the frame with ID 0
	key    []byte
	ids    []uint32
}

// report reports all that is new since the previous call, and returns whether
// there was room for all of it. The rest is tried again next time.
func (s *Sweeper) report() bool {
	all := true
	var counts []Count
	var of []int // the indexes of their entries
	flush := func() {
		if len(counts) == 0 {
			return
		}
		if s.Counts(counts) {
			for i, c := range counts {
				e := &s.table.entries[of[i]]
				e.reported.calls += c.Calls
				e.reported.weight += c.Weight
			}
		} else {
			all = false
		}
		counts, of = counts[:0], of[:0]
	}
	named := 0
	for i := range len(s.table.entries) { // entries added meanwhile wait for the next call
		e := &s.table.entries[i]
		if e.calls == e.reported.calls {
			continue
		}
		if !e.named {
			id, ok := s.nameStack(s.table.pcs(e))
			if !ok {
				all = false
				continue
			}
			e.stack, e.named = id, true
			if named++; named%perStep == 0 {
				s.sweep()
				e = &s.table.entries[i] // the table may have grown
			}
		}
		counts = append(counts, Count{Name: s.table.name(e), Stack: e.stack, Calls: e.calls - e.reported.calls, Weight: e.weight - e.reported.weight})
		if of = append(of, i); len(of) == perBlock {
			flush()
		}
	}
	flush()
	return all
}

// rest returns the number of records counted and not reported.
func (s *Sweeper) rest() (n int64) {
	for i := range s.table.entries {
		e := &s.table.entries[i]
		n += e.calls - e.reported.calls
	}
	return n
}

// nameStack returns the id of the stack with these addresses; ok is false if the
// trace had no room for it.
func (s *Sweeper) nameStack(pcs []uint64) (id uint32, ok bool) {
	if len(pcs) == 0 {
		return format.OtherStacks, true
	}
	n := &s.namer
	if n.stacks == nil {
		n.stacks, n.frames = map[string]uint32{}, map[Frame]uint32{}
	}
	n.key = n.key[:0]
	for _, pc := range pcs {
		n.key = binary.LittleEndian.AppendUint64(n.key, pc)
	}
	if id, ok := n.stacks[string(n.key)]; ok {
		return id, true
	}
	id = uint32(len(n.stacks) + 1) // below MaxStacks: see maxEntries
	n.ids = n.ids[:0]
	frames, cut := framesOf(pcs, s.Inner)
	if len(n.frames)+len(frames) > format.MaxFrames {
		return format.OtherStacks, true
	}
	for _, f := range frames {
		fid, ok := s.nameFrame(f)
		if !ok {
			return 0, false
		}
		n.ids = append(n.ids, fid)
	}
	stack := Stack{ID: id, Cut: cut, Frames: n.ids}
	if len(n.ids) > format.MaxStackFrames {
		stack.Cut, stack.Frames = true, n.ids[:format.MaxStackFrames]
	}
	if !s.Stack(&stack) {
		return 0, false
	}
	n.stacks[string(n.key)] = id
	return id, true
}

// nameFrame returns the id of a frame; ok is false if the trace had no room for
// it.
func (s *Sweeper) nameFrame(f Frame) (id uint32, ok bool) {
	if id, ok := s.namer.frames[f]; ok {
		return id, true
	}
	key := f
	f.ID = uint32(len(s.namer.frames))
	if !s.Frame(&f) {
		return 0, false
	}
	s.namer.frames[key] = f.ID
	return f.ID, true
}

// framesOf returns the frames of addresses, several for one address if functions
// were inlined. cut reports that the goroutine's first function is not among
// them.
func framesOf(pcs []uint64, inner string) (fs []Frame, cut bool) {
	cut = len(pcs) >= sys.MaxCallers
	callers := make([]uintptr, len(pcs))
	for i, pc := range pcs {
		callers[i] = uintptr(pc)
	}
	for it := runtime.CallersFrames(callers); ; {
		f, more := it.Next()
		if f.Function == "runtime.goexit" {
			cut = false
		} else if f.Function != "" && !sys.Wrapper(&f) && !(len(fs) == 0 && f.Function == inner) {
			// Func is nil if the function was inlined into another.
			x := Frame{Function: f.Function, File: f.File, Line: uint32(max(f.Line, 0)), Inlined: f.Func == nil}
			x.Start = startLine(&f)
			fs = append(fs, x)
		}
		if !more {
			return fs, cut
		}
	}
}

// startLine returns the line at which a function begins, or 0 if it was inlined,
// since the line is then unknown.
func startLine(f *runtime.Frame) uint32 {
	if f.Func == nil {
		return 0
	}
	_, line := f.Func.FileLine(f.Entry)
	return uint32(max(line, 0))
}
