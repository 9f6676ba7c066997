package analysis

import (
	"github.com/scopeview/scopeview/internal/trace"

	"github.com/scopeview/scopeview/internal/show"
)

// stackCount counts the calls of scope.Stack.
type stackCount struct {
	Calls  int64
	Names  int64
	Stacks int64 // pairs of a name and a stack
}

// Stacks sums up a trace's calls of scope.Stack.
func Stacks(t *trace.Trace) (n stackCount) {
	names := map[uint16]bool{}
	t.EachCount(func(s *trace.Stack) bool {
		names[s.Name] = true
		n.Calls += s.Calls
		n.Stacks++
		return true
	})
	n.Names = int64(len(names))
	return n
}

// stacks reports them, if there are any.
func (r *Report) stacks(l *facts) {
	if n := Stacks(r.Trace); n.Calls > 0 {
		l.add("stacks", show.Plural(n.Calls, "call")+" of scope.Stack counted, under "+show.Plural(n.Names, "name")+", from "+
			show.Plural(n.Stacks, "place")+"; see scopeview stacks")
	}
}
