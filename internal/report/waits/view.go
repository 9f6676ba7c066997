package waits

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// View has the locks by name, as addresses are others in each run, and by a Go execution
// trace the places where goroutines waited for something else.
var View = report.View{
	Columns: []report.Column{
		{Name: "wait", Unit: report.Nanoseconds, Grows: true, Worse: true, Part: true},
		{Name: "had", Unit: report.Count, Grows: true},
		{Name: "contended", Unit: report.Count, Grows: true, Worse: true},
		{Name: "mean", Unit: report.Nanoseconds, Worse: true},
		{Name: "max", Unit: report.Nanoseconds, Worse: true},
		{Name: "hold", Unit: report.Nanoseconds, Grows: true, Worse: true},
		{Name: "holdmax", Unit: report.Nanoseconds, Worse: true},
	},
	Rows: func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*report.Figures, error) {
		r, err := read(ctx, t, sel, false)
		if err != nil {
			return nil, err
		}
		f := &report.Figures{Notes: r.problems}
		if !r.hasStates {
			f.Notes = append(f.Notes, "there is no Go execution trace in it: only the locks of package scope are known")
		}
		byName := map[string]*namedLock{}
		var names []string
		for _, o := range r.objects {
			name := t.Name(o.Name)
			if byName[name] == nil {
				byName[name] = &namedLock{known: true, counted: true, heldKnown: true}
				names = append(names, name)
			}
			byName[name].add(o)
		}
		for _, name := range names {
			f.Rows = append(f.Rows, byName[name].row(name))
		}
		for _, b := range r.blocked {
			f.Rows = append(f.Rows, b.row())
		}
		if sel.Names.All() {
			f.SetWhole(0, 0)
		}
		return f, nil
	},
}

// namedLock is all locks of a name together.
type namedLock struct {
	wait, had, contended, hold, maxWait, maxHold int64
	waits, holds                                 int64 // recorded, and ended
	known, counted, heldKnown                    bool  // had, contended, hold
}

func (l *namedLock) add(o *analysis.Object) {
	acquired, contended, held := o.Acquired(), o.Contended(), o.Held()
	l.wait += o.Waited()
	l.had += acquired.N
	l.contended += contended.N
	l.hold += held.N
	l.maxWait, l.maxHold = max(l.maxWait, o.Waits.Max), max(l.maxHold, o.Holds.Max)
	l.waits, l.holds = l.waits+o.Waits.Count, l.holds+o.Holds.Count
	l.known = l.known && acquired.OK
	l.counted = l.counted && contended.OK
	l.heldKnown = l.heldKnown && held.OK && o.Kind.Held()
}

func (l *namedLock) row(name string) report.Row {
	return report.Row{Name: name, Kind: "lock", Values: []float64{
		float64(l.wait), report.Or(l.had, l.known), report.Or(l.contended, l.counted),
		report.Or(float64(l.wait)/float64(l.contended), l.counted && l.contended > 0), report.Or(l.maxWait, l.waits > 0),
		report.Or(l.hold, l.heldKnown), report.Or(l.maxHold, l.holds > 0),
	}}
}

func (b *blocked) row() report.Row {
	return report.Row{Name: frameText(b.site, "(other places)"), Kind: b.state.String(), Values: []float64{
		float64(b.total), report.NaN, float64(b.count), report.Or(float64(b.total)/float64(b.count), b.count > 0), float64(b.max),
		report.NaN, report.NaN,
	}}
}
