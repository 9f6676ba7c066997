// Package states reports what the goroutines of a trace did: ran, were preempted, or waited.
package states

import (
	"cmp"
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// found is the content of the states report.
type found struct {
	t      *trace.Trace
	facts  *states.Facts
	groups []group
	by     analysis.By
	self   bool // the text leaves out the time in scopes inside
}

// Of reads the selected part of a trace. With self, the times of scopes in the text exclude those
// of the scopes inside them. The error is gotrace.ErrNone if there is no Go execution trace.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, by analysis.By, self bool) (*report.Report, error) {
	r, err := read(ctx, t, sel, by)
	if err != nil {
		return nil, err
	}
	r.self = self
	return &report.Report{Text: r.text, Document: r.document()}, nil
}

func read(ctx context.Context, t *trace.Trace, sel *analysis.Selection, by analysis.By) (*found, error) {
	watch := sel.Watch()
	sums, err := analysis.SumStates(t, sel, by, func(e *trace.Event) bool {
		return watch.Look(ctx, e.Start) == nil
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	rows := report.RowsOf(sums.Groups, func(g *analysis.StateGroup) group { return groupOf(g, by) })
	return &found{t: t, facts: sums.Facts, groups: rows, by: by}, nil
}
