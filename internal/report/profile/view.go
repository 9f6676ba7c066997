package profile

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/trace"
)

// The views of samples: sampled CPU time and waits, exclusive, and with i inclusive.
var (
	FunctionsView = comparedBy(Functions)
	LinesView     = comparedBy(Lines)
	ObjectsView   = comparedBy(Objects)
)

func comparedBy(by By) report.View {
	return Compared(func(_ *trace.Trace, p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return FiguresOf(p, by, wanted), nil
	})
}

// Compared returns the view that has the figures of FiguresBy, which of makes of the samples of a recording.
func Compared(of func(*trace.Trace, *samples.Profile, func(string) bool) (*report.Figures, error)) report.View {
	return report.View{
		Sampled: true,
		Columns: []report.Column{
			{Name: "cpu", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
			{Name: "icpu", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
			{Name: "off", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
			{Name: "ioff", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
		},
		Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
			p, err := samples.OfTrace(ctx, t, &samples.Selection{Selection: sel})
			if err != nil {
				return nil, err
			}
			return of(t, p, sel.Names.Match)
		},
	}
}

// CallersView has who calls a function, and whom it calls, with what of its inclusive metrics
// belongs to the calls between the two.
func CallersView(function string) report.View {
	return report.View{
		Sampled: true,
		Columns: []report.Column{
			{Name: "cpu", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
			{Name: "off", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
		},
		Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
			p, err := samples.OfTrace(ctx, t, &samples.Selection{Selection: sel})
			if err != nil {
				return nil, err
			}
			return CallersFigures(p, function, sel.Names.Match)
		},
	}
}

// CallersFigures returns the figures of CallersView, of whatever the samples are of. The whole is
// what the function has, inclusive. Names are those of callers and callees.
func CallersFigures(p *samples.Profile, function string, wanted func(string) bool) (*report.Figures, error) {
	f := &report.Figures{Notes: p.Notes}
	costs := callgraph.Sum(p, func(f *samples.Frame) string { return f.Func })
	name, err := FindFunction(costs, function)
	if err != nil {
		return nil, err
	}
	x := callgraph.CallersOf(p, costs, name)
	metrics := []int{p.Metric("cpu"), p.Metric("off")}
	values := func(of []int64) (list []float64) {
		for _, m := range metrics {
			list = append(list, report.NaN)
			if m >= 0 && (!p.Metrics[m].Sampled || p.Value(p.Total(), m) > 0) {
				list[len(list)-1] = float64(p.Value(of, m))
			}
		}
		return list
	}
	f.Whole = values(x.Cost.Incl)
	row := func(name, kind string, of []int64) {
		v := values(of)
		if wanted(name) && slices.ContainsFunc(v, func(v float64) bool { return v > 0 }) {
			f.Rows = append(f.Rows, report.Row{Name: name, Kind: kind, Values: v})
		}
	}
	for _, e := range x.Callers {
		row(e.Func, "caller", e.Attr)
	}
	row(name, "itself", x.Cost.Excl)
	for _, e := range x.Callees {
		row(e.Func, "callee", e.Attr)
	}
	return f, nil
}

// FiguresOf returns the figures of such a view, of whatever the samples are of.
func FiguresOf(p *samples.Profile, by By, wanted func(string) bool) *report.Figures {
	return FiguresBy(p, string(by), wanted, func(f *samples.Frame) string {
		switch by {
		case Lines:
			return f.Func + ", " + place(f.File, f.Line)
		case Objects:
			return cmp.Or(f.Object, "the program")
		}
		return f.Func
	})
}

// FiguresBy returns what the frames of each name have, exclusive and inclusive, of CPU time and waits.
func FiguresBy(p *samples.Profile, kind string, wanted func(string) bool, nameOf func(*samples.Frame) string) *report.Figures {
	f := &report.Figures{Notes: p.Notes}
	costs := callgraph.Sum(p, nameOf)
	total := p.Total()
	if p.Samples > 0 || len(costs) > 0 {
		costs[samples.TotalName] = callgraph.TotalCost(p)
	}
	for _, metric := range []string{"cpu", "off"} {
		m := p.Metric(metric)
		whole := report.NaN
		if m >= 0 && p.Value(total, m) > 0 {
			whole = float64(p.Value(total, m))
		}
		f.Whole = append(f.Whole, whole, whole)
	}
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		r := report.Row{Name: name, Kind: kind}
		some := false
		for _, metric := range []string{"cpu", "off"} {
			m := p.Metric(metric)
			for _, of := range [][]int64{costs[name].Excl, costs[name].Incl} {
				v := report.NaN
				if m >= 0 && (!p.Metrics[m].Sampled || p.Value(total, m) != 0 || p.Metrics[m].Whole > 0) { // else nothing was sampled
					v = float64(p.Value(of, m))
				}
				some = some || v > 0 || v < 0
				r.Values = append(r.Values, v)
			}
		}
		if some && wanted(name) {
			f.Rows = append(f.Rows, r)
		}
	}
	return f
}
