package top

import (
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// How many of each a page has.
const (
	briefScopes = 10
	briefLocks  = 5
	briefOthers = 5
)

// brief writes the report in a page: what had the time, and where in the source it is.
func (r *found) brief(b *report.Brief) {
	more := []string{report.Does(b.Command("doctor", "--brief"), "what is wrong, and what to try")}
	if len(r.stats) > 0 && len(r.t.GoTraces()) > 0 {
		if pattern, ok := report.Glob(r.t.Name(r.stats[0].Name)); ok && !r.byTrack {
			if samples.Has(r.t) {
				more = append(more, report.Does(b.Command("functions", "--scope", pattern), "in which functions it is"))
			}
			more = append(more, report.Does(b.Command("states", "--name", pattern), "what its goroutines did: ran, or waited for what"))
		}
	}
	if len(r.locks) > 0 {
		more = append(more, report.Does(b.Command("waits"), "who waited for which lock, and who had it"))
	}
	b.More(append(more, report.Does(b.Command("top"), "all names"))...)
	b.Line("# scopeview top: " + r.headline())
	b.Run(r.t)
	places := r.t.FirstPlaces()
	b.Heading("## Where the time went")
	if len(r.stats) == 0 {
		b.Line("There are no scopes in what was looked at.")
	}
	b.Rows([]string{"name", "source", "count", "total", "self", "mean", "p50", "p99", "max", "cpu/wall"}, rows(r.stats, briefScopes, func(s *analysis.Stats) []string { return r.briefScope(s, places) }))
	rest(b, len(r.stats), briefScopes, "name")
	if len(r.skipped) > 0 {
		b.Line("\nNot all calls of some functions were recorded: the function " + report.Prose(analysis.Budget) + ".")
	}
	b.Heading("## Locks")
	b.Rows([]string{"lock", "source", "waits", "wait total", "wait max", "holds", "hold total", "held by"}, rows(r.locks, briefLocks, func(l *analysis.Lock) []string {
		return []string{
			r.cell(l.Name), source(places, r.t.Name(l.Name)), show.Count(l.Waits.Count), show.Duration(l.Waits.Total), report.Longest(l.Waits),
			show.Count(l.Holds.Count), show.Duration(l.Holds.Total), report.Cell(report.Code(report.First(l.HeldBy(), r.holder))),
		}
	}))
	rest(b, len(r.locks), briefLocks, "lock")
	r.briefOthers(b)
}

// briefOthers writes the most frequent events, counters, and what never ended.
func (r *found) briefOthers(b *report.Brief) {
	b.Heading("## Events and counters")
	for _, x := range r.instants[:min(len(r.instants), briefOthers)] {
		text := show.Count(x.Count) + " times"
		if rate, ok := perSecond(x); ok {
			text += ", " + number(rate) + " per second"
		}
		b.Item("event "+report.CodeName(r.t.Name(x.Name)), text)
	}
	for _, c := range r.counters[:min(len(r.counters), briefOthers)] {
		b.Item("counter "+report.CodeName(r.t.Name(c.Name)), "from "+number(c.Min)+" to "+number(c.Max)+", last "+number(c.Last))
	}
	rest(b, len(r.instants)+len(r.counters), min(len(r.instants), briefOthers)+min(len(r.counters), briefOthers), "event or counter")
	b.Heading("## Never ended")
	list := r.endings.Forgotten()
	for _, f := range list[:min(len(list), briefOthers)] {
		b.Line("- " + report.CodeName(r.t.Name(f.Name)) + ": begun " + show.Count(f.Begun) + " times; is its end missing?")
	}
}

// headline is what has most time.
func (r *found) headline() string {
	var list []string
	for _, s := range r.stats[:min(len(r.stats), 3)] {
		list = append(list, r.named(s)+" "+show.Duration(s.Total))
	}
	if len(list) == 0 {
		return "no scopes"
	}
	return strings.Join(list, ", ")
}

// named is a group's name in code.
func (r *found) named(s *analysis.Stats) string {
	name := r.t.Name(s.Name)
	switch {
	case r.byTrack && name == "":
		return "rows without a name"
	case s.Process:
		return report.CodeName(name) + " (process)"
	}
	return report.CodeName(name)
}

func (r *found) cell(name uint16) string { return report.Cell(report.CodeName(r.t.Name(name))) }

func (r *found) briefScope(s *analysis.Stats, places map[string]trace.Place) []string {
	row := []string{report.Cell(r.named(s)), "", show.Count(s.Count), "-", "-", "-", "-", "-", "-", "-"}
	if !r.byTrack {
		row[1] = source(places, r.t.Name(s.Name))
	}
	if s.Open > 0 {
		row[2] += " and " + show.Count(s.Open) + " open"
		if s.Left > 0 {
			row[2] += " (" + show.Count(s.Left) + " never ended)"
		}
	}
	if s.Count == 0 {
		return row
	}
	row[3], row[4], row[5] = show.Duration(s.Total), self(s), show.Duration(s.Mean())
	row[6], row[7], row[8] = show.Duration(s.Times.Quantile(0.5)), show.Duration(s.Times.Quantile(0.99)), show.Duration(s.Times.Max())
	if ratio, ok := s.PerWall(); ok {
		row[9] = strconv.FormatFloat(ratio, 'f', 2, 64)
	}
	return row
}

// source is where a name is from, in a cell.
func source(places map[string]trace.Place, name string) string {
	p := places[name]
	return report.Cell(report.SourceLine(p.File, p.Line))
}

func rows[T any](list []T, most int, row func(T) []string) (all [][]string) {
	for _, x := range list[:min(len(list), most)] {
		all = append(all, row(x))
	}
	return all
}

// rest says how many are not shown.
func rest(b *report.Brief, n, shown int, what string) {
	if n > shown {
		b.Line("\n… and " + show.Plural(int64(n-shown), "more "+what))
	}
}
