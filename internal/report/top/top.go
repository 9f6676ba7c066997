// Package top reports where the time of a trace went, by name or by row, and the waits for locks.
package top

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// Orders are the columns by which scopes can be sorted.
var Orders = scopes.Orders()

// found is the content of the top report.
type found struct {
	t        *trace.Trace
	byTrack  bool              // sum up by row instead of by name
	scopes   []*analysis.Stats // in the report's order; a row, by scope, is several times as large
	locks    []lock
	events   []event
	counters []counter
	endings  analysis.Endings
	skipped  map[uint16]trace.CallCount // of names with calls that were not recorded; nil: not known for this part
}

// Of reads the selected part of a trace, and sums it up by name, or by the name of the row if
// byTrack is set. It sorts by order, one of Orders.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, order string, byTrack bool) (*report.Report, error) {
	r, err := read(ctx, t, sel, byTrack)
	if err != nil {
		return nil, err
	}
	report.SortBy(&scopes, r.scopes, r.scope, order, func(a, b *analysis.Stats) int {
		return cmp.Or(cmp.Compare(b.OpenTime, a.OpenTime), cmp.Compare(t.Name(a.Name), t.Name(b.Name)), cmp.Compare(kind(a.Process, "1", "0"), kind(b.Process, "1", "0")))
	})
	return &report.Report{Text: r.text, Brief: r.brief, Document: &document{
		Kept: report.KeptOf(t), By: kind(byTrack, "track", "name"),
		Scopes: report.ListOf(r.scopes, r.scope), Locks: report.All(r.locks), Events: report.All(r.events), Counters: report.All(r.counters),
		NeverEnded: report.ForgottenOf(t, &r.endings),
	}}, nil
}

// stretchBytes is the size of the records summed up at a time. Parts are merged one by one, and
// even a short one may have all rows and names, so parts should not be small.
const stretchBytes = 1 << 20

// read sums up the selected part of a trace.
func read(ctx context.Context, t *trace.Trace, sel *analysis.Selection, byTrack bool) (*found, error) {
	r := &found{t: t, byTrack: byTrack}
	if !byTrack {
		r.skipped = sel.Skipped(t)
	}
	o := sel.Range()
	o.Running, o.Stretch, o.Detail = true, stretchBytes, trace.Rowless
	if byTrack || !sel.Tracks.All() {
		o.Detail = trace.Tracks
	}
	begin := func() *part {
		choice := sel.Choice(t)
		p := &part{keep: choice.Keep}
		if choice.All() {
			p.keep = nil
		}
		p.sum = analysis.NewSummary(analysis.SummaryOptions{
			ByTrack: byTrack, Keep: p.keep, Breaks: t.Breaks(), From: sel.From, To: sel.To,
		})
		return p
	}
	all, spare, watch := begin(), sync.Pool{New: func() any { return begin() }}, sel.Watch()
	err := trace.EachPart(t, o, func() func(*trace.Part) *part {
		return func(x *trace.Part) *part {
			p := spare.Get().(*part)
			p.add(x)
			return p
		}
	}, func(p *part) bool {
		all.sum.Merge(p.sum)
		all.endings.Merge(&p.endings)
		until := p.until
		spare.Put(p)
		return watch.Up(ctx, until) == nil
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	sum := all.sum
	r.endings = all.endings
	sum.Finish()
	for name := range r.skipped {
		if !slices.ContainsFunc(sum.Stats, func(s *analysis.Stats) bool { return s.Name == name && !s.Process }) {
			sum.Stats = append(sum.Stats, &analysis.Stats{Name: name})
		}
	}
	r.scopes, r.locks = sum.Stats, report.RowsOf(sum.Locks, r.lock)
	r.events, r.counters = report.RowsOf(sum.Instants, r.event), report.RowsOf(sum.Counters, r.counter)
	return r, nil
}

// first returns the rows of the first n scopes.
func (r *found) first(n int) []scope { return report.RowsOf(r.scopes[:min(n, len(r.scopes))], r.scope) }

// part sums up a part of the trace.
type part struct {
	keep    func(*trace.Event) bool // nil: all
	sum     *analysis.Summary
	endings analysis.Endings
	until   int64
}

func (p *part) add(x *trace.Part) {
	p.until, _ = x.Until()
	also := p.endings.Add
	if p.keep != nil {
		also = func(e *trace.Event) {
			if p.keep(e) {
				p.endings.Add(e)
			}
		}
	}
	p.sum.Part(x, also)
}
