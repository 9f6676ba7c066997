package top

import (
	"context"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the scopes and the events by name. All times but total and self are of one
// execution.
var View = report.View{
	Columns: scopes.Compared(),
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		r, err := read(ctx, t, sel, false)
		if err != nil {
			return nil, err
		}
		f := &report.Figures{}
		rows := r.first(len(r.scopes))
		report.AddRows(f, &scopes, rows, scopes.Compared(), func(s scope) (string, string) { return s.Name, kind(s.Process, "process", "scope") })
		report.AddRows(f, &events, r.events, scopes.Compared(), func(e event) (string, string) { return e.Name, kind(e.Pending, "pending", "event") })
		if sel.Names.All() && !slices.ContainsFunc(rows, func(s scope) bool { return s.Self.Kind != report.Exact }) {
			f.SetWhole(2, 0, 2) // self times add up to the whole; totals do not, because scopes nest
		}
		return f, nil
	},
}

func kind(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
