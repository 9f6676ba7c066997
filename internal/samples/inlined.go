package samples

import (
	"fmt"
	"slices"
)

// FoldInlined leaves out the frames that are known to be inlined: what they had becomes the
// exclusive metrics of the functions that they were inlined into, as tools had it that knew
// of no inlining. A note names functions that are there by themselves too: what is shown of
// those is only what calls of them had.
func (p *Profile) FoldInlined() {
	gone, kept := map[string]bool{}, map[string]bool{}
	for i := range p.Stacks {
		s := &p.Stacks[i]
		for k, f := range s.Frames {
			if f.Inlined && k < len(s.Frames)-1 {
				gone[f.Func] = true
			} else {
				kept[f.Func] = true
			}
		}
		s.Frames = slices.Concat(slices.DeleteFunc(slices.Clone(s.Frames[:len(s.Frames)-1]), func(f *Frame) bool { return f.Inlined }), s.Frames[len(s.Frames)-1:])
	}
	var both []string
	for f := range gone {
		if kept[f] {
			both = append(both, f)
		}
	}
	slices.Sort(both)
	if n := len(both); n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("inlined in some places and called in others, so that what is shown is of the calls alone: %s (%d functions in all)", both[0], n))
	}
}
