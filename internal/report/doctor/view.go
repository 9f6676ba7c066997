package doctor

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

var columns = append(problems.Compared(), spending.Compared()[1])

// View has the findings, and the uses of the cores' time. A larger share is worse for a finding,
// and better for running.
var View = report.View{
	Columns: columns,
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		r, err := doctor.Examine(t, doctor.Options{Selection: *sel, Context: ctx})
		if err != nil {
			return nil, err
		}
		return figures(r), nil
	},
}

func figures(r *doctor.Report) *report.Figures {
	f := &report.Figures{Notes: append([]string{}, r.Notes...)}
	if r.End != nil {
		f.Notes = append(f.Notes, "ended: "+r.End.Text)
	}
	if r.Starved != nil {
		f.Notes = append(f.Notes, "starved: "+r.Starved.Text)
	}
	for _, u := range r.Unexamined {
		f.Notes = append(f.Notes, "not looked for: "+verdicts(u.Verdicts)+", because "+u.Why)
	}
	report.AddRows(f, &problems, report.RowsOf(r.Findings, problemOf), columns, func(x problem) (string, string) {
		name := string(x.Verdict)
		if x.Object != "" {
			name += " of " + x.Object
		}
		return name, "finding"
	})
	report.AddRows(f, &spending, found{Report: r}.spent(), columns, func(s spent) (string, string) { return s.Name, "cores' time" })
	return f
}
