package profile

import (
	"context"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// compared is a row for compare: CPU time and waits, exclusive and, with prefix i, inclusive.
type compared struct {
	Name string     `head:"name"`
	CPU  report.Int `head:"cpu" unit:"ns" compare:"grows worse part"`
	ICPU report.Int `head:"icpu" unit:"ns" compare:"grows worse part"`
	Off  report.Int `head:"off" unit:"ns" compare:"grows worse part"`
	IOff report.Int `head:"ioff" unit:"ns" compare:"grows worse part"`

	kind string
}

var (
	comparedCosts   = report.Table{Row: compared{}, Compare: "cpu, icpu, off, ioff"}
	comparedCallers = report.Table{Row: compared{}, Compare: "cpu, off"}
)

// The views of samples.
var (
	FunctionsView = comparedBy(Functions)
	LinesView     = comparedBy(Lines)
	ObjectsView   = comparedBy(Objects)
)

func comparedBy(k *Kind) report.View {
	return Compared(func(_ *trace.Trace, p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return FiguresOf(p, k, wanted), nil
	})
}

// Compared returns the view whose figures of computes from the samples of a recording.
func Compared(of func(*trace.Trace, *samples.Profile, func(string) bool) (*report.Figures, error)) report.View {
	return sampledView(&comparedCosts, of)
}

// CallersView compares the callers and the callees of a function, with the part of its inclusive
// metrics that belongs to the calls between the two.
func CallersView(function string) report.View {
	return sampledView(&comparedCallers, func(_ *trace.Trace, p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return CallersFigures(p, function, wanted)
	})
}

func sampledView(table *report.Table, of func(*trace.Trace, *samples.Profile, func(string) bool) (*report.Figures, error)) report.View {
	return report.View{
		Sampled: true,
		Columns: table.Compared(),
		Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
			p, err := samples.OfTrace(ctx, t, &samples.Selection{Selection: sel})
			if err != nil {
				return nil, err
			}
			return of(t, p, sel.Names.Match)
		},
	}
}

// CallersFigures returns the figures of CallersView, for any samples. The whole is the function's
// inclusive value. wanted selects the names of callers and callees.
func CallersFigures(p *samples.Profile, function string, wanted func(string) bool) (*report.Figures, error) {
	x, err := callersOf(p, function)
	if err != nil {
		return nil, err
	}
	cpu, off := known(p, "cpu"), known(p, "off")
	var rows []compared
	row := func(name, kind string, of []int64) {
		rows = append(rows, compared{Name: name, CPU: cpu(of), Off: off(of), kind: kind})
	}
	for _, e := range x.Callers {
		row(e.Func, "caller", e.Attr)
	}
	row(x.Func, "itself", x.Cost.Excl)
	for _, e := range x.Callees {
		row(e.Func, "callee", e.Attr)
	}
	f := figures(p, &comparedCallers, rows, wanted)
	for _, n := range []report.Int{cpu(x.Cost.Incl), off(x.Cost.Incl)} {
		f.Whole = append(f.Whole, report.Or(n.N, n.Kind == report.Exact))
	}
	return f, nil
}

// FiguresOf returns the figures of such a view, for any samples.
func FiguresOf(p *samples.Profile, k *Kind, wanted func(string) bool) *report.Figures {
	return FiguresBy(p, k.By, wanted, func(f *symbols.Frame) string { return k.title(k.frame(theProgram, f)) })
}

// FiguresBy sums up CPU time and waits, exclusive and inclusive, by the names of frames.
func FiguresBy(p *samples.Profile, kind string, wanted func(string) bool, nameOf func(*symbols.Frame) string) *report.Figures {
	costs := callgraph.Sum(p, nameOf)
	if p.Samples > 0 || len(costs) > 0 {
		costs[samples.TotalName] = callgraph.TotalCost(p)
	}
	cpu, off := known(p, "cpu"), known(p, "off")
	var rows []compared
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		c := costs[name]
		rows = append(rows, compared{name, cpu(c.Excl), cpu(c.Incl), off(c.Excl), off(c.Incl), kind})
	}
	f := figures(p, &comparedCosts, rows, wanted)
	for _, of := range []func([]int64) report.Int{cpu, off} {
		n := of(p.Total())
		whole := report.Or(n.N, n.N > 0)
		f.Whole = append(f.Whole, whole, whole)
	}
	return f
}

// known returns a function that looks up a metric in values; it returns unknown if the source lacks
// the metric or nothing was sampled.
func known(p *samples.Profile, metric string) func(values []int64) report.Int {
	m := p.Metric(metric)
	if m < 0 || p.Metrics[m].Sampled && p.Value(p.Total(), m) == 0 && p.Metrics[m].Whole == 0 {
		return func([]int64) report.Int { return report.Int{} }
	}
	return func(values []int64) report.Int { return report.Known(p.Value(values, m), true) }
}

// figures returns the wanted rows that have a value.
func figures(p *samples.Profile, table *report.Table, rows []compared, wanted func(string) bool) *report.Figures {
	f := &report.Figures{Notes: p.Notes}
	rows = slices.DeleteFunc(rows, func(r compared) bool {
		return !wanted(r.Name) || r.CPU.N == 0 && r.ICPU.N == 0 && r.Off.N == 0 && r.IOff.N == 0
	})
	report.AddRows(f, table, rows, table.Compared(), func(r compared) (string, string) { return r.Name, r.kind })
	return f
}
