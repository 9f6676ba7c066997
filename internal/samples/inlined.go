package samples

import (
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/symbols"
)

// FoldInlined removes the frames that are known to be inlined: their metrics become
// exclusive ones of the functions that they were inlined into, as in tools without knowledge
// of inlining. A note names functions that also occur without inlining: their rows then show
// only those calls.
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
		s.Frames = slices.Concat(slices.DeleteFunc(slices.Clone(s.Frames[:len(s.Frames)-1]), func(f *symbols.Frame) bool { return f.Inlined }), s.Frames[len(s.Frames)-1:])
	}
	var both []string
	for f := range gone {
		if kept[f] {
			both = append(both, f)
		}
	}
	slices.Sort(both)
	if n := len(both); n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("inlined in some places and called in others, so only the calls are shown: %s (%d functions in all)", both[0], n))
	}
}
