package stacks

import (
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if len(r.stacks) == 0 {
		b.WriteString("no stacks: nothing called scope.Stack, or --name matches none\n")
		return
	}
	report.Grid(b, "", []string{"<name", "calls", "weight", "stacks"}, r.sums, func(n stackSum) []string {
		return []string{report.Name(r.t.Name(n.name)), show.Count(n.calls), show.Count(n.weight), show.Count(n.stacks)}
	})
	b.WriteByte('\n')
	report.Grid(b, "caller", []string{"<name", "calls", "share", "weight", "<called from"}, r.groups(), func(g stackGroup) []string {
		return []string{
			report.Name(r.t.Name(g.name)), show.Count(g.calls), show.Percent(r.share(g.name, g.calls)), show.Count(g.weight),
			r.calledFrom(g.stack),
		}
	})
}
