package top

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// Limits of a page.
const (
	briefScopes = 10
	briefLocks  = 5
	briefOthers = 5
)

// brief writes the report as a page: the names with the most time, and their places in the source.
func (r *found) brief(b *report.Brief) {
	scoped := r.first(briefScopes)
	more := []string{report.Does(b.Command("doctor", "--brief"), "what is wrong, and what to try")}
	if len(r.scopes) > 0 && len(r.t.GoTraces()) > 0 {
		if pattern, ok := report.Glob(scoped[0].Name); ok && !r.byTrack {
			if samples.Has(r.t) {
				more = append(more, report.Does(b.Command("profile", "--scope", pattern), "the functions that take the time"))
			}
			more = append(more, report.Does(b.Command("states", "--name", pattern), "states of its goroutines: running, waiting"))
		}
	}
	if len(r.locks) > 0 {
		more = append(more, report.Does(b.Command("waits"), "waits for locks, with their holders"))
	}
	b.More(append(more, report.Does(b.Command("top"), "all names"))...)
	b.Line("# scopeview top: " + r.headline())
	b.Run(r.t)
	places := r.t.FirstPlaces()
	source := func(name string) string { return report.SourceLine(places[name].File, places[name].Line) }
	for i := range scoped {
		if !r.byTrack {
			scoped[i].Source = source(scoped[i].Name)
		}
	}
	for i := range r.locks {
		r.locks[i].Source = source(r.locks[i].Name)
	}
	b.Heading("## Where the time went")
	if len(r.scopes) == 0 {
		b.Line("There are no scopes in the selected part.")
	}
	scopes.WriteBrief(b, scoped, len(scoped))
	b.Rest(len(r.scopes)-len(scoped), scopes.What)
	if len(r.skipped) > 0 {
		b.Line("\nNot all calls of some functions were recorded: the function " + report.Prose(analysis.Budget) + ".")
	}
	b.Heading("## Locks")
	locks.WriteBrief(b, r.locks, briefLocks)
	r.briefOthers(b)
}

// briefOthers writes the most frequent events, counters, and names that never ended.
func (r *found) briefOthers(b *report.Brief) {
	b.Heading("## Events and counters")
	for _, e := range r.events[:min(len(r.events), briefOthers)] {
		text := show.Count(e.Count) + " times"
		if e.Rate.Kind == report.Exact {
			text += ", " + show.Number(e.Rate.N) + " per second"
		}
		b.Item("event "+report.CodeName(e.Name), text)
	}
	for _, c := range r.counters[:min(len(r.counters), briefOthers)] {
		b.Item("counter "+report.CodeName(c.Name), fmt.Sprintf("from %s to %s, last %s", show.Number(float64(c.Min)), show.Number(float64(c.Max)), show.Number(float64(c.Last))))
	}
	b.Rest(max(len(r.events)-briefOthers, 0)+max(len(r.counters)-briefOthers, 0), "event or counter")
	b.Heading("## Never ended")
	list := r.endings.Forgotten()
	for _, f := range list[:min(len(list), briefOthers)] {
		b.Line("- " + report.CodeName(r.t.Name(f.Name)) + ": begun " + show.Count(f.Begun) + " times; is its end missing?")
	}
}

// headline returns the names with the most time.
func (r *found) headline() string {
	if len(r.scopes) == 0 {
		return "no scopes"
	}
	var list []string
	for _, s := range r.first(3) {
		list = append(list, s.code()+" "+show.Duration(s.Total))
	}
	return strings.Join(list, ", ")
}
