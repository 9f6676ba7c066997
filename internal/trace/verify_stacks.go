package trace

import "github.com/scopeview/scopeview/internal/format"

// verifiedStacks is which ids of frames and stacks are defined.
type verifiedStacks struct{ frames, stacks map[uint32]bool }

// stackBlock checks a frame, stack or count block.
func (v *verifier) stackBlock(t format.BlockType, p []byte, here int64) {
	k := &v.stacks
	if k.frames == nil {
		k.frames, k.stacks = map[uint32]bool{}, map[uint32]bool{format.OtherStacks: true}
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
	case format.BlockCount:
		_, cs, _ := format.DecodeCounts(nil, p)
		for _, c := range cs {
			v.check(c.Calls > 0, here, "block-stack", "%d calls are counted", c.Calls)
			v.check(c.Name < format.FirstName || v.named[c.Name], here, "block-stack", "calls are counted of name %d, which no block before defines", c.Name)
			v.check(k.stacks[c.Stack], here, "block-stack", "calls are counted from stack %d, which no block before defines", c.Stack)
		}
	}
}
