package trace

import "github.com/scopeview/scopeview/internal/format"

// verifiedStacks holds the defined ids of frames and stacks.
type verifiedStacks struct {
	frames, stacks, codes map[uint32]bool
	sampled               map[sampled]int64 // the end of the last block
	samples               format.SamplesReader
}

// sampled is a sequence of blocks of samples.
type sampled struct {
	thread  uint32
	counter string
}

// stackBlock checks a frame, stack, code or count block.
func (v *checker) stackBlock(t format.BlockType, p []byte, here int64) {
	k := &v.stacks
	if k.frames == nil {
		k.frames, k.stacks, k.codes = map[uint32]bool{}, map[uint32]bool{format.OtherStacks: true}, map[uint32]bool{}
	}
	switch t {
	case format.BlockFrame:
		f, _ := format.DecodeFrame(p)
		v.check(!k.frames[f.ID], here, "block-stack", "frame %d is defined a second time: %q", f.ID, f.Function)
		k.frames[f.ID] = true
	case format.BlockStack:
		s, _ := format.DecodeStack(p)
		v.check(!k.stacks[s.ID], here, "block-stack", "stack %d is defined a second time", s.ID)
		k.stacks[s.ID] = true
		for _, f := range s.Frames {
			v.check(k.frames[f], here, "block-stack", "stack %d has the frame %d, which no block before defines", s.ID, f)
		}
	case format.BlockCode:
		c, _ := format.DecodeCode(p)
		v.check(!k.codes[c.Stack], here, "block-stack", "the addresses of stack %d are defined a second time", c.Stack)
		k.codes[c.Stack] = true
	case format.BlockCount:
		_, cs, _ := format.DecodeCounts(nil, p)
		for _, c := range cs {
			v.check(c.Calls > 0, here, "block-stack", "%d calls are counted", c.Calls)
			v.check(c.Name < format.FirstName || v.named[c.Name], here, "block-stack", "calls are counted of name %d, which no block before defines", c.Name)
			v.check(k.stacks[c.Stack], here, "block-stack", "calls are counted from stack %d, which no block before defines", c.Stack)
		}
	}
}

// samplesBlock checks that the samples of a thread by a counter follow each other, and that
// their stacks are known.
func (v *checker) samplesBlock(p []byte, here int64) error {
	k := &v.stacks
	s, err := k.samples.Decode(p)
	if err != nil {
		return err
	}
	if k.sampled == nil {
		k.sampled = map[sampled]int64{}
	}
	of := sampled{s.Thread, s.Counter}
	v.check(s.Base >= k.sampled[of], here, "block-samples", "samples of thread %d from %d on, after a block that had them until %d", s.Thread, s.Base, k.sampled[of])
	k.sampled[of] = s.Until
	for _, x := range s.List {
		v.check(x.Stack == format.OtherStacks || k.stacks[x.Stack], here, "block-samples", "a sample has stack %d, which no block before defines", x.Stack)
	}
	return nil
}
