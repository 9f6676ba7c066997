package stacks

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
)

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if len(r.stacks) == 0 {
		b.WriteString("no stacks: nothing called scope.Stack, or --name matches none\n")
		return
	}
	report.Table(b, "", []string{"<name", "calls", "weight", "stacks"}, r.sums, func(n stackSum) []string {
		return []string{report.Name(r.t.Name(n.name)), analysis.Thousands(n.calls), analysis.Thousands(n.weight), analysis.Thousands(n.stacks)}
	})
	b.WriteByte('\n')
	report.Table(b, "caller", []string{"<name", "calls", "share", "weight", "<called from"}, r.groups(), func(g stackGroup) []string {
		return []string{
			report.Name(r.t.Name(g.name)), analysis.Thousands(g.calls), analysis.Percent(r.share(g.name, g.calls)), analysis.Thousands(g.weight),
			r.calledFrom(g.stack),
		}
	})
}
