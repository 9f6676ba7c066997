package trace

import "github.com/scopeview/scopeview/internal/format"

// verifiedStacks is which ids of frames and stacks are defined.
type verifiedStacks struct{ frames, stacks map[uint32]bool }

// stackBlock checks a frame, stack or count block.
func (v *verifier) stackBlock(t format.BlockType, p []byte, here int64) error {
	k := &v.stacks
	if k.frames == nil {
		k.frames, k.stacks = map[uint32]bool{}, map[uint32]bool{format.OtherStacks: true}
	}
	switch t {
	case format.BlockFrame:
		f, err := format.DecodeFrame(p)
		if err != nil {
			return err
		}
		v.check(p[12]&^1 == 0 && p[13] == 0, here, "block-form", "the flags of a frame are %#x", p[12:14])
		v.check(!k.frames[f.ID], here, "block-stack", "frame %d is defined a second time: %q", f.ID, f.Function)
		k.frames[f.ID] = true
	case format.BlockStack:
		s, err := format.DecodeStack(p)
		if err != nil {
			return err
		}
		v.check(p[4]&^1 == 0 && firstNonzero(p[5:8]) < 0, here, "block-form", "the flags of a stack are %#x", p[4:8])
		v.check(!k.stacks[s.ID], here, "block-stack", "stack %d is defined a second time", s.ID)
		k.stacks[s.ID] = true
		for _, f := range s.Frames {
			v.check(k.frames[f], here, "block-stack", "stack %d has the frame %d, which no block before defines", s.ID, f)
		}
	case format.BlockCount:
		ticks, cs, err := format.DecodeCounts(nil, p)
		if err != nil {
			return err
		}
		v.time(ticks, here)
		for _, c := range cs {
			v.check(c.Calls > 0, here, "block-stack", "%d calls are counted", c.Calls)
			v.check(c.Name < format.FirstName || v.named[c.Name], here, "block-stack", "calls are counted of name %d, which no block before defines", c.Name)
			v.check(k.stacks[c.Stack], here, "block-stack", "calls are counted from stack %d, which no block before defines", c.Stack)
		}
	}
	return nil
}
