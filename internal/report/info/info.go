// Package info summarizes a trace: what was recorded, where, how, and whether all of it was kept.
package info

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// found is the content of the info report.
type found struct{ *analysis.Report }

// Of reads a whole trace. If reading the events fails, it returns the report of the part read so
// far, with the error.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, path string, state analysis.State) (*report.Report, error) {
	r := found{&analysis.Report{Trace: t, Path: path, State: state, Cost: analysis.RecordingCost(t.Beats())}}
	f, err := states.EachOf(t, states.CPUTimes(t))
	switch {
	case err == nil:
		r.Go = f.Info
	case !errors.Is(err, gotrace.ErrNone):
		return nil, err
	}
	type part struct {
		analysis.Census
		until int64
	}
	watch, spare := sel.Watch(), sync.Pool{New: func() any { return &part{} }}
	err = trace.EachPart(t, trace.Options{Detail: trace.Counts}, func() func(*trace.Part) *part {
		return func(x *trace.Part) *part {
			p := spare.Get().(*part)
			p.until, _ = x.Until()
			x.Events(func(e *trace.Event) bool { p.Add(e); return true })
			return p
		}
	}, func(p *part) bool {
		r.Census.Merge(&p.Census)
		until := p.until
		spare.Put(p)
		return watch.Up(ctx, until) == nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &report.Report{Text: r.text, Document: r.document()}, err
}

// text writes the report for people.
func (r found) text(b *report.Text) {
	for _, f := range r.Facts() {
		text := f.Text
		switch f.Loud {
		case analysis.Loud:
			text = b.Red(text)
		case analysis.Odd:
			text = b.Yellow(text)
		}
		fmt.Fprintf(b, "%s  %s\n", b.Bold(fmt.Sprintf("%-14s", f.Label)), text)
	}
}
