package states

import (
	"context"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the scopes by name: for how long one execution was in each state.
var View = report.View{
	Columns: columns(),
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		sums, err := read(ctx, t, sel, analysis.ByName)
		if err != nil {
			return nil, err
		}
		f := &report.Figures{Notes: notes(sums.Facts)}
		unknown := unknownStates(sums.Facts)
		for _, g := range sums.Groups {
			f.Rows = append(f.Rows, row(g, unknown))
		}
		return f, nil
	},
}

func columns() []report.Column {
	list := []report.Column{
		{Name: "mean", Unit: report.Nanoseconds, Worse: true},
		{Name: "total", Unit: report.Nanoseconds, Grows: true, Worse: true},
		{Name: "count", Unit: report.Count, Grows: true},
	}
	for _, name := range states.Names {
		list = append(list, report.Column{Name: name, Unit: report.Nanoseconds, Worse: true})
	}
	return list
}

// unknownStates returns those that a trace can't tell of: without switches what of running had
// a CPU, and with them what ran, as far as all of that is split.
func unknownStates(f *states.Facts) []states.State {
	switch {
	case !f.Switches:
		return []states.State{states.CPU, states.Preempted, states.TextFault, states.DataFault, states.Stalled}
	case f.Totals[states.Running] == 0:
		return []states.State{states.Running}
	}
	return nil
}

// row tells of the scopes of a name.
func row(g *analysis.StateGroup, unknown []states.State) report.Row {
	n := float64(g.Count)
	total := float64(g.Total.Sum())
	values := []float64{total / n, total, n}
	for s, d := range g.Total {
		values = append(values, report.Or(float64(d)/n, !slices.Contains(unknown, states.State(s))))
	}
	return report.Row{Name: g.Text, Kind: "scope", Values: values}
}

// notes tells what of the states is not known, or not right.
func notes(f *states.Facts) []string {
	list := append([]string{}, f.Problems...)
	if !f.Switches {
		list = append(list, "running is not split into what had a CPU and what had not: "+f.SwitchesWhy)
	}
	for _, c := range f.Checks.List() {
		if c.Known && !c.OK {
			list = append(list, "NOT ok: "+c.Text)
		}
	}
	return list
}
