package top

import (
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// instantTable writes how often events happened.
func (r *found) instantTable(b *report.Text) {
	if len(r.instants) == 0 {
		return
	}
	b.WriteByte('\n')
	heads := []string{"<event", "count", "per second", "first", "last", "to come"}
	report.Table(b, "event", heads, r.instants, func(x *analysis.Instants) []string {
		name := report.Name(r.t.Name(x.Name))
		if x.Kind == format.KindPending {
			name += " (pending)"
		}
		row := []string{name, show.Count(x.Count), "-", "-", "-", ""}
		if x.Count > 0 {
			row[3], row[4] = show.Duration(x.First), show.Duration(x.Last)
		}
		if rate, ok := perSecond(x); ok {
			row[2] = number(rate)
		}
		if x.Announced > 0 {
			row[5] = show.Count(x.Announced)
		}
		return row
	})
}

// perSecond returns the rate between the first and the last; ok is false for one.
func perSecond(x *analysis.Instants) (rate float64, ok bool) {
	if x.Last <= x.First {
		return 0, false
	}
	return float64(x.Count-1) / (float64(x.Last-x.First) / 1e9), true
}

// counterTable writes the values of counters.
func (r *found) counterTable(b *report.Text) {
	if len(r.counters) == 0 {
		return
	}
	b.WriteByte('\n')
	report.Table(b, "counter", []string{"<counter", "count", "min", "max", "last"}, r.counters, func(c *analysis.Counter) []string {
		return []string{report.Name(r.t.Name(c.Name)), show.Count(c.Count), number(c.Min), number(c.Max), number(c.Last)}
	})
}

// number writes a value of any size: whole ones with commas, others with four digits.
func number(v float64) string {
	if v == float64(int64(v)) && v > -1e15 && v < 1e15 {
		return show.Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

type event struct {
	Name      string `json:"name"`
	Pending   bool   `json:"pending"` // scope.Pending
	Count     int64  `json:"count"`
	Announced int64  `json:"to_come"`
	First     int64  `json:"first_ns"`
	Last      int64  `json:"last_ns"`
}

type counter struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Min   any    `json:"min"` // a number, or "NaN", "+Inf", "-Inf"
	Max   any    `json:"max"`
	Last  any    `json:"last"`
}

func (r *found) event(x *analysis.Instants) event {
	return event{r.t.Name(x.Name), x.Kind == format.KindPending, x.Count, x.Announced, x.First, x.Last}
}

func (r *found) counter(c *analysis.Counter) counter {
	return counter{r.t.Name(c.Name), c.Count, jsonNumber(c.Min), jsonNumber(c.Max), jsonNumber(c.Last)}
}

// jsonNumber returns v, or its text where JSON has no number for it.
func jsonNumber(v float64) any {
	if v-v != 0 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return v
}
