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

// found is what states shows.
type found struct {
	t    *trace.Trace
	sums *analysis.StateSums
	by   analysis.By
	self bool // the text has the times without those in scopes inside
}

// Of reads the part of a trace that is wanted. With self, the text has the times in scopes
// without those in the scopes inside them. The error is gotrace.ErrNone where there is no
// Go execution trace.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, by analysis.By, self bool) (*report.Report, error) {
	sums, err := read(ctx, t, sel, by)
	if err != nil {
		return nil, err
	}
	r := &found{t, sums, by, self}
	return &report.Report{Text: r.text, Document: r.document()}, nil
}

func read(ctx context.Context, t *trace.Trace, sel *analysis.Selection, by analysis.By) (*analysis.StateSums, error) {
	watch := sel.Watch()
	sums, err := analysis.SumStates(t, sel, by, func(e *trace.Event) bool {
		return watch.Look(ctx, e.Start) == nil
	})
	return sums, cmp.Or(err, ctx.Err())
}
