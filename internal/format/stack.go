package format

import (
	"encoding/binary"
	"fmt"
)

// Limits of what counted stacks may have.
const (
	MaxStacks      = 1 << 16 // stack ids are below
	MaxFrames      = 1 << 18 // frame ids are below
	MaxStackFrames = 1000    // frames of one stack
	OtherStacks    = 0       // the stack id of calls whose stacks were too many
)

// Frame is a line of code that calls were made from.
type Frame struct {
	ID       uint32
	Function string
	File     string
	Line     uint32
	Start    uint32 // the function's first line; 0: not known
	Inlined  bool   // the function was inlined into that of the next frame
}

const frameInlined = 1

// AppendFrame appends f's payload; its texts are cut to MaxName.
func AppendFrame(b []byte, f *Frame) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, f.ID)
	b = le.AppendUint32(b, f.Line)
	b = le.AppendUint32(b, f.Start)
	var flags uint16
	if f.Inlined {
		flags = frameInlined
	}
	b = le.AppendUint16(b, flags)
	function, file := f.Function[:min(len(f.Function), MaxName)], f.File[:min(len(f.File), MaxName)]
	b = le.AppendUint16(b, uint16(len(function)))
	return append(append(b, function...), file...)
}

// DecodeFrame reads a frame block's payload.
func DecodeFrame(p []byte) (f Frame, err error) {
	le := binary.LittleEndian
	if len(p) < 16 || len(p) > 16+2*MaxName {
		return f, fmt.Errorf("%w: frame block of %d bytes", ErrCorrupt, len(p))
	}
	n := int(le.Uint16(p[14:]))
	if n > len(p)-16 || n > MaxName || len(p)-16-n > MaxName {
		return f, fmt.Errorf("%w: a function of %d bytes in a frame block of %d", ErrCorrupt, n, len(p))
	}
	f = Frame{ID: le.Uint32(p), Line: le.Uint32(p[4:]), Start: le.Uint32(p[8:]), Inlined: le.Uint16(p[12:])&frameInlined != 0}
	if f.ID >= MaxFrames {
		return f, fmt.Errorf("%w: frame id %d", ErrCorrupt, f.ID)
	}
	f.Function, f.File = string(p[16:16+n]), string(p[16+n:])
	return f, nil
}

// Stack is where calls came from: the ids of its frames, the caller first.
type Stack struct {
	ID     uint32
	Cut    bool // there were more callers than are recorded
	Frames []uint32
}

const stackCut = 1

// AppendStack appends s's payload.
func AppendStack(b []byte, s *Stack) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, s.ID)
	var flags uint32
	if s.Cut {
		flags = stackCut
	}
	b = le.AppendUint32(b, flags)
	for _, f := range s.Frames {
		b = le.AppendUint32(b, f)
	}
	return b
}

// DecodeStack reads a stack block's payload.
func DecodeStack(p []byte) (s Stack, err error) {
	le := binary.LittleEndian
	if len(p) < 8 || len(p)%4 != 0 || len(p) > 8+4*MaxStackFrames {
		return s, fmt.Errorf("%w: stack block of %d bytes", ErrCorrupt, len(p))
	}
	s.ID, s.Cut = le.Uint32(p), le.Uint32(p[4:])&stackCut != 0
	if s.ID == OtherStacks || s.ID >= MaxStacks {
		return s, fmt.Errorf("%w: stack id %d", ErrCorrupt, s.ID)
	}
	for q := p[8:]; len(q) > 0; q = q[4:] {
		s.Frames = append(s.Frames, le.Uint32(q))
	}
	return s, nil
}

// Count is how often, since the count block before, a name was recorded from a
// stack, and the sum of the weights given.
type Count struct {
	Name   uint16
	Stack  uint32
	Calls  int64
	Weight int64
}

// AppendCounts appends a count block's payload.
func AppendCounts(b []byte, ticks int64, cs []Count) []byte {
	b = appendInts(b, ticks)
	for _, c := range cs {
		b = appendInts(b, int64(c.Stack)<<32|int64(c.Name), c.Calls, c.Weight)
	}
	return b
}

// DecodeCounts reads a count block's payload, appending to dst.
func DecodeCounts(dst []Count, p []byte) (ticks int64, cs []Count, err error) {
	if len(p) < 8 || (len(p)-8)%24 != 0 {
		return 0, dst, fmt.Errorf("%w: count block of %d bytes", ErrCorrupt, len(p))
	}
	le := binary.LittleEndian
	for q := p[8:]; len(q) > 0; q = q[24:] {
		name, stack := le.Uint32(q), le.Uint32(q[4:])
		c := Count{uint16(name), stack, int64(le.Uint64(q[8:])), int64(le.Uint64(q[16:]))}
		if name >= MaxNames || stack >= MaxStacks || c.Calls < 0 {
			return 0, dst, fmt.Errorf("%w: %d calls of name %d from stack %d", ErrCorrupt, c.Calls, name, stack)
		}
		dst = append(dst, c)
	}
	return int64(le.Uint64(p)), dst, nil
}
