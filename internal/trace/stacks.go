package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// Stack counts how many times scope.Stack recorded a name from one place, with all its callers.
type Stack struct {
	Name   uint16
	ID     uint32         // of the stack; format.OtherStacks: beyond the limit of stacks
	Frames []format.Frame // the caller first; nil if the trace does not have them
	Cut    bool           // there were more callers
	Calls  int64
	Weight int64 // sum of the weights, modulo 2^64
}

// stackTable holds the frames, stacks and counts of the blocks.
type stackTable struct {
	frames map[uint32]format.Frame
	stacks map[uint32]format.Stack
	codes  map[uint32][]uint64
	counts map[stackKey]counted
	places []Place
}

type stackKey struct {
	name  uint16
	stack uint32
}

type counted struct{ calls, weight int64 }

var errSecondStack = fmt.Errorf("%w: it defines an id again; the first one counts", format.ErrCorrupt)

func (t *Trace) frameBlock(p []byte, _ format.Loc) error {
	f, err := format.DecodeFrame(p)
	if err != nil {
		return err
	}
	if err = define(&t.stacks.frames, f.ID, f); err == nil && f.ID >= format.PlaceFrames {
		t.stacks.place(&f)
	}
	return err
}

func (t *Trace) stackBlock(p []byte, _ format.Loc) error {
	x, err := format.DecodeStack(p)
	if err != nil {
		return err
	}
	return define(&t.stacks.stacks, x.ID, x)
}

// define maps an id to v, if it is not mapped yet.
func define[T any](m *map[uint32]T, id uint32, v T) error {
	if _, ok := (*m)[id]; ok {
		return errSecondStack
	}
	if *m == nil {
		*m = map[uint32]T{}
	}
	(*m)[id] = v
	return nil
}

func (t *Trace) countBlock(p []byte, _ format.Loc) error {
	_, cs, err := format.DecodeCounts(nil, p)
	if err != nil {
		return err
	}
	if t.stacks.counts == nil {
		t.stacks.counts = map[stackKey]counted{}
	}
	for _, c := range cs {
		k := stackKey{c.Name, c.Stack}
		sum := t.stacks.counts[k]
		t.stacks.counts[k] = counted{sum.calls + min(c.Calls, math.MaxInt64-sum.calls), sum.weight + c.Weight}
	}
	return nil
}

// EachStack calls f with the counts of every name and stack, until f returns false: by name, then
// in the order in which stacks were first recorded. The Stack is reused from call to call.
func (t *Trace) EachStack(f func(*Stack) bool) {
	var frames []format.Frame
	t.EachCount(func(s *Stack) bool {
		frames = t.AppendFrames(frames[:0], s.ID)
		s.Frames = frames
		return f(s)
	})
}

// EachCount is EachStack without the frames, which AppendFrames returns: a stack may have thousands
// of names, and a thousand frames.
func (t *Trace) EachCount(f func(*Stack) bool) {
	keys := make([]stackKey, 0, len(t.stacks.counts))
	for k := range t.stacks.counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b stackKey) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.stack, b.stack))
	})
	for _, k := range keys {
		n := t.stacks.counts[k]
		if !f(&Stack{Name: k.name, ID: k.stack, Cut: t.stacks.stacks[k.stack].Cut, Calls: n.calls, Weight: n.weight}) {
			return
		}
	}
}

// AppendFrames appends the frames of a stack to dst, the caller first; none if the trace does not
// have them.
func (t *Trace) AppendFrames(dst []format.Frame, stack uint32) []format.Frame {
	for _, id := range t.stacks.stacks[stack].Frames {
		frame, ok := t.stacks.frames[id]
		if !ok {
			frame = format.Frame{ID: id, Function: fmt.Sprintf("(frame %d)", id)}
		}
		dst = append(dst, frame)
	}
	return dst
}

// CutOff reports whether a stack had more callers than are recorded.
func (t *Trace) CutOff(stack uint32) bool { return t.stacks.stacks[stack].Cut }

// Depth returns how many frames a stack has.
func (t *Trace) Depth(stack uint32) int { return len(t.stacks.stacks[stack].Frames) }

// Place is the source line where locks without a name are locked, or where the program first used a
// name.
type Place struct {
	Name     uint16          // the recorder's name for them
	Kind     format.LockKind // LockUnknown: the name is the program's
	Function string
	File     string
	Line     int
}

// place adds the frame of a place.
func (s *stackTable) place(f *format.Frame) {
	kind := format.LockUnknown
	if f.Start < uint32(len(format.LockKindNames)) {
		kind = format.LockKind(f.Start)
	}
	if name := uint16(f.ID - format.PlaceFrames); name >= format.FirstName {
		s.places = append(s.places, Place{name, kind, f.Function, f.File, int(f.Line)})
	}
}

// Places lists the places where locks without a name are locked, by their names' ids, as far as the
// trace has them.
func (t *Trace) Places() []Place { return ofLocks(t.stacks.places) }

// ofLocks returns the places of locks without a name, by their names' ids.
func ofLocks(all []Place) []Place {
	list := slices.DeleteFunc(slices.Clone(all), func(p Place) bool { return p.Kind == format.LockUnknown })
	slices.SortFunc(list, func(a, b Place) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// NamePlaces lists the places of names, without the first known ones: one place for each name, the
// first one if the program uses the name in several. Places that a growing trace adds come behind
// the others. Older traces have only those of locks without a name.
func (t *Trace) NamePlaces(known int) []Place {
	return slices.Clone(t.stacks.places[min(max(known, 0), len(t.stacks.places)):])
}
