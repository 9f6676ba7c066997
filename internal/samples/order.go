package samples

import (
	"cmp"
	"slices"
)

// sortStacks sorts stacks into an order that does not depend on a map's.
func sortStacks(list []Stack) {
	slices.SortFunc(list, func(a, b Stack) int {
		for i := 0; i < min(len(a.Frames), len(b.Frames)); i++ {
			if c := a.Frames[i].Compare(b.Frames[i]); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(len(a.Frames), len(b.Frames)), a.Labels.compare(b.Labels))
	})
}

func (l Labels) compare(m Labels) int {
	return cmp.Or(cmp.Compare(l.Goid, m.Goid), cmp.Compare(l.PID, m.PID), cmp.Compare(l.Thread, m.Thread), cmp.Compare(l.Track, m.Track),
		cmp.Compare(l.Scope, m.Scope), cmp.Compare(l.State, m.State), b2i(l.Slow)-b2i(m.Slow))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
