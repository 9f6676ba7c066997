package doctor

import (
	"context"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the findings, and where the cores' time went. More share is worse of a finding,
// and better of what ran.
var View = report.View{
	Columns: []report.Column{
		{Name: "share", Unit: report.Share},
		{Name: "gain", Unit: report.Share, Worse: true},
		{Name: "confidence", Unit: report.Share},
		{Name: "cores", Unit: report.Ratio},
	},
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
		var names []string
		for _, v := range u.Verdicts {
			names = append(names, string(v))
		}
		f.Notes = append(f.Notes, "not looked for: "+strings.Join(names, ", ")+", because "+u.Why)
	}
	for _, x := range r.Findings {
		name := string(x.Verdict)
		if x.Object != "" {
			name += " of " + x.Object
		}
		f.Rows = append(f.Rows, report.Row{Name: name, Kind: "finding", Values: []float64{
			x.Share, report.Or(float64(x.Gain), x.Gain >= 0), x.Confidence, report.NaN,
		}})
	}
	for _, s := range r.Speedup {
		f.Rows = append(f.Rows, report.Row{Name: s.Name, Kind: "cores' time", Values: []float64{
			report.Or(s.Cores/r.Cores.Count, r.Cores.Count > 0), report.NaN, report.NaN, s.Cores,
		}})
	}
	return f
}
