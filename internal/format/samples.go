package format

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// MaxSamples is the maximum number of samples in a block. Without a limit, reading a large
// chunk would take 40 times its size.
const MaxSamples = 1 << 12

// FullSamples is the maximum number of samples that a writer puts into a block: it must fit
// into a chunk, and a sample takes up to 27 bytes.
const FullSamples = 2000

// maxCounterText is the maximum length of the name of a counter, or of its unit.
const maxCounterText = 64

// Counters of Go's heap profile, whose samples belong to no thread. Allocations are counted;
// in use is a level: a sample has the amount in use by a stack's calls from then on.
const (
	AllocObjects = "alloc-objects"
	AllocBytes   = "alloc-bytes"
	InUseObjects = "inuse-objects"
	InUseBytes   = "inuse-bytes"
)

// Samples holds a thread's samples of one counter, each taken when the counter had advanced by
// a fixed amount.
type Samples struct {
	Thread  uint32
	Base    int64  // ns of the monotonic clock: from then up to Until the samples are complete
	Until   int64  // likewise; except for those that are Lost
	Lost    int64  // since the previous block of this thread and counter
	Counter string // name of the counter: task-clock
	Unit    string // unit of the counter: nanoseconds, bytes, or count
	List    []CodeSample
}

// CodeSample is a sample of a counter.
type CodeSample struct {
	Time   int64 // ns of the monotonic clock
	Kernel bool  // the thread was in the kernel
	CPU    uint32
	Weight int64  // advance of the counter since the previous sample
	Stack  uint32 // id in a stack block, and in a code block; OtherStacks: unknown
}

// AppendSamples appends s's payload. Samples are in the order of their times, from Base on.
func AppendSamples(b []byte, s *Samples) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Thread))
	b = appendInts(b, s.Base, s.Until, s.Lost)
	for _, text := range []string{s.Counter, s.Unit} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	at := s.Base
	for _, x := range s.List {
		mode := uint64(0)
		if x.Kernel {
			mode = 1
		}
		b = binary.AppendUvarint(b, uint64(x.Time-at)<<2|mode)
		b = binary.AppendUvarint(b, uint64(x.CPU))
		b = binary.AppendUvarint(b, uint64(x.Weight))
		b = binary.AppendUvarint(b, uint64(x.Stack))
		at = x.Time
	}
	return b
}

// SamplesReader reads samples blocks, reusing its memory.
type SamplesReader struct {
	values []Value
	list   []CodeSample
}

// Decode reads a samples block's payload. The samples are valid until the next call.
func (r *SamplesReader) Decode(p []byte) (s Samples, err error) {
	if r.values, err = Blocks[BlockSamples].Read(r.values[:0], p); err != nil {
		return s, err
	}
	each := r.values[len(Blocks[BlockSamples].Fields):]
	r.list = slices.Grow(r.list[:0], len(each)/5)
	for ; len(each) > 0; each = each[5:] {
		r.list = append(r.list, CodeSample{
			Kernel: each[0].N == 1, Time: each[1].N, CPU: uint32(each[2].N), Weight: each[3].N, Stack: uint32(each[4].N),
		})
	}
	s, err = samplesHead(r.values)
	s.List = r.list
	return s, err
}

// CheckSamples reads a samples block's payload without its List, which it only checks.
func CheckSamples(p []byte) (s Samples, err error) {
	v, err := Blocks[BlockSamples].ReadFields(nil, p)
	if err != nil {
		return s, err
	}
	return samplesHead(v)
}

func samplesHead(v []Value) (s Samples, err error) {
	s = Samples{Thread: uint32(v[0].N), Base: v[2].N, Until: v[3].N, Lost: v[4].N, Counter: string(v[5].B), Unit: string(v[6].B)}
	if s.Until < s.Base {
		err = fmt.Errorf("%w: samples from %d to %d", ErrCorrupt, s.Base, s.Until)
	}
	return s, err
}

// Code holds the addresses of a stack's calls in the program's memory: one for each function
// that is not inlined, which corresponds to one or more of the stack's frames.
type Code struct {
	Stack uint32
	PCs   []uint64 // the leaf's first; for its callers an address within the call
}

// AppendCode appends c's payload.
func AppendCode(b []byte, c *Code) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Stack))
	last := uint64(0)
	for _, pc := range c.PCs {
		b = binary.AppendVarint(b, int64(pc-last))
		last = pc
	}
	return b
}

// DecodeCode reads a code block's payload.
func DecodeCode(p []byte) (c Code, err error) {
	v, err := decode(BlockCode, p)
	if err != nil {
		return c, err
	}
	c = Code{Stack: uint32(v[0].N), PCs: make([]uint64, len(v)-2)}
	for i := range c.PCs {
		c.PCs[i] = uint64(v[2+i].N)
	}
	return c, nil
}
