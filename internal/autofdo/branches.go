package autofdo

import "github.com/scopeview/scopeview/internal/perfdata"

// FromBranches converts branch records to a profile, as AutoFDO does: a line has the maximum
// count of its instructions, and a function's head is how often it was called.
func FromBranches(b *perfdata.Branches) (*Profile, Notes) {
	c := converter{to: New(), names: map[string]bool{}, notes: Notes{Prologue: true}}
	for _, l := range b.Lines {
		w := c.wayTo(l.Location)
		c.leaf(&w, l.Location, l.Count)
	}
	for _, call := range b.Calls {
		if w := c.wayTo(call.Caller); !c.holds(call.Callee) || !c.call(&w, call.Callee, call.Count) {
			c.notes.NoTarget += call.Count
		}
	}
	for _, h := range b.Heads {
		if c.holds(h.Func) {
			c.add(&c.to.function(h.Func).Head, uint64(h.Count))
		}
	}
	return c.to, c.notes
}
