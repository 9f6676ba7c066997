package top

import (
	"context"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the scopes and the events by name. All times but total and self are of one
// execution.
var View = report.View{
	Columns: []report.Column{
		{Name: "total", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
		{Name: "count", Unit: report.Count, Grows: true},
		{Name: "self", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
		{Name: "mean", Unit: report.Nanoseconds, Worse: true},
		{Name: "p50", Unit: report.Nanoseconds, Worse: true},
		{Name: "p90", Unit: report.Nanoseconds, Worse: true},
		{Name: "p99", Unit: report.Nanoseconds, Worse: true},
		{Name: "max", Unit: report.Nanoseconds, Worse: true},
		{Name: "cpu", Unit: report.Nanoseconds, Worse: true},
		{Name: "cpu/wall", Unit: report.Ratio},
	},
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		r, err := read(ctx, t, sel, false)
		if err != nil {
			return nil, err
		}
		f := &report.Figures{}
		for _, s := range r.stats {
			f.Rows = append(f.Rows, r.scopeRow(s))
		}
		for _, x := range r.instants {
			f.Rows = append(f.Rows, r.eventRow(x))
		}
		if sel.Names.All() && !slices.ContainsFunc(r.stats, func(s *analysis.Stats) bool { return s.NoSelf > 0 }) {
			f.SetWhole(2, 0, 2) // self times add up to all, and totals do not, as scopes nest
		}
		return f, nil
	},
}

func (r *found) scopeRow(s *analysis.Stats) report.Row {
	kind := "scope"
	if s.Process {
		kind = "process"
	}
	ended := s.Count > 0
	one := func(v int64) float64 { return report.Or(v, ended) }
	perWall, known := s.PerWall()
	return report.Row{Name: r.t.Name(s.Name), Kind: kind, Values: []float64{
		one(s.Total), float64(s.Count), report.Or(s.Self, ended && s.NoSelf == 0),
		report.Or(float64(s.Total)/float64(s.Count), ended),
		one(s.Times.Quantile(0.5)), one(s.Times.Quantile(0.9)), one(s.Times.Quantile(0.99)), one(s.Times.Max()),
		report.Or(float64(s.CPU)/float64(s.CPUCount), s.CPUCount > 0), report.Or(perWall, known),
	}}
}

func (r *found) eventRow(x *analysis.Instants) report.Row {
	kind := "event"
	if x.Kind == format.KindPending {
		kind = "pending"
	}
	none := report.Unknown
	return report.Row{Name: r.t.Name(x.Name), Kind: kind, Values: []float64{none, float64(x.Count), none, none, none, none, none, none, none, none}}
}
