package waits

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the locks by name, because addresses differ between runs, and, from a Go execution
// trace, the places of other waits.
var View = report.View{
	Columns: locks.Compared(),
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		r, err := read(ctx, t, sel, false)
		if err != nil {
			return nil, err
		}
		f := &report.Figures{Notes: r.problems}
		if !r.hasStates {
			f.Notes = append(f.Notes, "no Go execution trace: only the locks of package scope are known")
		}
		report.AddRows(f, &locks, byName(report.RowsOf(r.locks, r.lock)), locks.Compared(), func(l lock) (string, string) { return l.Name, "lock" })
		report.AddRows(f, &siteTable, r.listed, locks.Compared(), func(p site) (string, string) { return frameText(p.At, "(other places)"), p.State })
		if sel.Names.All() {
			f.SetWhole(0, 0)
		}
		return f, nil
	},
}

// byName returns a row for all locks of a name together.
func byName(rows []lock) (all []lock) {
	at := map[string]int{}
	for _, l := range rows {
		i, ok := at[l.Name]
		if !ok {
			at[l.Name] = len(all)
			all = append(all, l)
			continue
		}
		sum := &all[i]
		sum.Wait += l.Wait
		sum.Waits, sum.MaxW = sum.Waits+l.Waits, max(sum.MaxW, l.MaxW)
		sum.Acquired, sum.Contended, sum.AllHold = sum.Acquired.Plus(l.Acquired), sum.Contended.Plus(l.Contended), sum.AllHold.Plus(l.AllHold)
		sum.Holds, sum.MaxH = sum.Holds+l.Holds, max(sum.MaxH, l.MaxH)
		sum.Holdable = sum.Holdable && l.Holdable
	}
	for i, l := range all {
		all[i].MeanW = report.Known(float64(l.Wait)/float64(l.Contended.N), l.Contended.Kind == report.Exact && l.Contended.N > 0)
	}
	return all
}
