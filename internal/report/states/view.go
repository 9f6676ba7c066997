package states

import (
	"context"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the scopes by name, with the time of one execution in each state.
var View = report.View{
	Columns: columns(),
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		r, err := read(ctx, t, sel, analysis.ByName)
		if err != nil {
			return nil, err
		}
		return figures(r.groups, r.facts), nil
	},
}

// columns returns the columns of the groups, and one for each state.
func columns() []report.Column {
	list := groups.Compared()
	for _, name := range states.Names {
		list = append(list, report.Column{Name: name, Unit: report.Nanoseconds, Worse: true})
	}
	return list
}

func figures(rows []group, facts *states.Facts) *report.Figures {
	f := &report.Figures{Notes: notes(facts)}
	own := groups.Compared()
	report.AddRows(f, &groups, rows, own, func(g group) (string, string) { return g.Name, "scope" })
	unknown := unknownStates(facts)
	for i, g := range rows {
		for s, d := range g.States {
			f.Rows[i].Values = append(f.Rows[i].Values, report.Or(float64(d)/float64(g.Count), !slices.Contains(unknown, states.State(s))))
		}
	}
	return f
}

// unknownStates returns the states that a trace does not distinguish: without thread switches those
// that divide running, and with them running itself, if all of it is divided.
func unknownStates(f *states.Facts) []states.State {
	switch {
	case !f.Switches:
		return []states.State{states.CPU, states.Preempted, states.TextFault, states.DataFault, states.Stalled}
	case f.Totals[states.Running] == 0:
		return []states.State{states.Running}
	}
	return nil
}

// notes returns what is unknown or wrong about the states.
func notes(f *states.Facts) []string {
	list := append([]string{}, f.Problems...)
	if !f.Switches {
		list = append(list, "running time is not split into on a CPU and off it: "+f.SwitchesWhy)
	}
	for _, c := range f.Checks.List() {
		if c.Known && !c.OK {
			list = append(list, "NOT ok: "+c.Text)
		}
	}
	return list
}
