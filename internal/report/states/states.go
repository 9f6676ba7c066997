// Package states tells what the goroutines of a trace did: ran, were put off the CPU, or
// waited for what.
package states

import (
	"cmp"
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// Options are what states is asked for.
type Options struct {
	By   analysis.By
	Self bool // the text has the times without those in scopes inside
}

// found is what states shows.
type found struct {
	Options
	t    *trace.Trace
	sums *analysis.StateSums
}

// Of reads the part of a trace that is wanted. The error is gotrace.ErrNone where there
// is no Go execution trace.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, o Options) (*report.Report, error) {
	watch := sel.Watch()
	sums, err := analysis.SumStates(t, sel, o.By, func(e *trace.Event) bool {
		return watch.Look(ctx, e.Start) == nil
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	r := &found{o, t, sums}
	return &report.Report{Text: r.text, Document: r.document()}, nil
}
