package format

import "encoding/binary"

// Limits of counted stacks.
const (
	MaxStacks      = 1 << 16 // their ids are below
	MaxFrames      = 1 << 18 // ids of their frames are below
	MaxStackFrames = 1000    // frames of one stack
	OtherStacks    = 0       // the stack id of calls beyond the number of stacks
)

// The stacks of samples, and their frames, have ids of their own: counting stacks and taking
// samples are independent.
const (
	CodeStacks = MaxStacks // the first id
	CodeFrames = MaxFrames // the first id of a frame

	StackIDs = 1 << 18 // all ids of stacks are below
	FrameIDs = 1 << 19

	// PlaceFrames is the first id of places of names: a place's id is the name's id plus this.
	// If its Start is a kind of lock, unnamed locks are locked there; if Start is 0 (LockUnknown),
	// the program first gave the name there.
	PlaceFrames = FrameIDs - MaxNames
)

// UnknownCaller is the function of a frame that stands for unknown callers.
const UnknownCaller = "<unknown caller>"

// Frame is a line of code from which calls were made.
type Frame struct {
	ID       uint32
	Function string
	File     string
	Line     uint32
	Start    uint32 // the function's first line; 0: unknown
	Inlined  bool   // the function was inlined into that of the next frame
}

const frameInlined = 1

// AppendFrame appends f's payload; its texts are cut to MaxName.
func AppendFrame(b []byte, f *Frame) []byte {
	function, file := f.Function[:min(len(f.Function), MaxName)], f.File[:min(len(f.File), MaxName)]
	var head [16]byte
	le := binary.LittleEndian
	le.PutUint32(head[0:], f.ID)
	le.PutUint32(head[4:], f.Line)
	le.PutUint32(head[8:], f.Start)
	if f.Inlined {
		le.PutUint16(head[12:], frameInlined)
	}
	le.PutUint16(head[14:], uint16(len(function)))
	return append(append(append(b, head[:]...), function...), file...)
}

// DecodeFrame reads a frame block's payload.
func DecodeFrame(p []byte) (f Frame, err error) {
	v, err := decode(BlockFrame, p)
	if err != nil {
		return f, err
	}
	return Frame{
		ID: uint32(v[0].N), Line: uint32(v[1].N), Start: uint32(v[2].N), Inlined: v[3].N&frameInlined != 0,
		Function: string(v[4].B), File: string(v[5].B),
	}, nil
}

// Stack is a call stack: the ids of its frames, the caller first.
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
	v, err := decode(BlockStack, p)
	if err != nil {
		return s, err
	}
	s.ID, s.Cut = uint32(v[0].N), v[1].N&stackCut != 0
	for _, f := range v[2:] {
		s.Frames = append(s.Frames, uint32(f.N))
	}
	return s, nil
}

// Count is the number of calls recorded under a name from one stack, since the previous count
// block, and the sum of their weights.
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
	v, err := decode(BlockCount, p)
	if err != nil {
		return 0, dst, err
	}
	for each := v[1:]; len(each) > 0; each = each[4:] {
		dst = append(dst, Count{uint16(each[0].N), uint32(each[1].N), each[2].N, each[3].N})
	}
	return v[0].N, dst, nil
}
