package top

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
)

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if len(r.scopes) == 0 {
		b.WriteString("no scopes")
		if r.t.Lookup(gotrace.FactMade) != "" {
			b.WriteString(": the program has no regions and no tasks of runtime/trace; scopeview states --by track shows the states of its goroutines")
		}
		b.WriteByte('\n')
	} else {
		table := scopes
		if r.byTrack {
			table.What = "track"
		}
		report.WriteRows(&table, b, r.scopes, r.scope)
	}
	if len(r.skipped) > 0 {
		fmt.Fprintf(b, "\n%s\n", b.Yellow("Where calls are shown, not all were recorded: the function "+analysis.Budget+". All other columns are of the recorded ones."))
	}
	locks.WriteAfter(b, r.locks)
	events.WriteAfter(b, r.events)
	counters.WriteAfter(b, r.counters)
	for _, f := range r.endings.Forgotten() {
		fmt.Fprintf(b, "\n%s\n", b.Yellow(analysis.Hint(r.t.Name(f.Name), f)))
	}
}
