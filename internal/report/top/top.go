// Package top tells where the time of a trace went, by name or by row, and who waited for
// which lock.
package top

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// orders are the columns that scopes are sorted by, the largest first.
var orders = map[string]func(*analysis.Stats) int64{
	"total": func(s *analysis.Stats) int64 { return s.Total },
	"self":  func(s *analysis.Stats) int64 { return s.Self },
	"count": func(s *analysis.Stats) int64 { return s.Count },
	"mean":  (*analysis.Stats).Mean,
	"max":   func(s *analysis.Stats) int64 { return s.Times.Max() },
	"p99":   func(s *analysis.Stats) int64 { return s.Times.Quantile(0.99) },
	"cpu":   func(s *analysis.Stats) int64 { return s.CPU },
	"name":  nil,
}

// Orders are the names of the columns.
var Orders = slices.Sorted(maps.Keys(orders))

// found is what top shows.
type found struct {
	t        *trace.Trace
	byTrack  bool // sum up by row, not by name
	stats    []*analysis.Stats
	locks    []*analysis.Lock
	instants []*analysis.Instants
	counters []*analysis.Counter
	endings  analysis.Endings
	skipped  map[uint16]trace.Called // those with calls that were not recorded; nil: not known of this part
}

// Of reads the part of a trace that is wanted, and sums it up by name or by the name of the
// row. It sorts by order, which is one of Orders.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, order string, byTrack bool) (*report.Report, error) {
	r, err := read(ctx, t, sel, byTrack)
	if err != nil {
		return nil, err
	}
	r.sort(orders[order])
	return &report.Report{Text: r.text, Brief: r.brief, Document: r.document()}, nil
}

// stretchBytes is how much of records is summed up at a time: what comes of it, which is merged
// one by one, has as many rows and names however short it is.
const stretchBytes = 1 << 20

// read sums up the part of a trace that is wanted.
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
	r.stats, r.locks, r.instants, r.counters = sum.Stats, sum.Locks, sum.Instants, sum.Counters
	for name := range r.skipped {
		if !slices.ContainsFunc(r.stats, func(s *analysis.Stats) bool { return s.Name == name && !s.Process }) {
			r.stats = append(r.stats, &analysis.Stats{Name: name})
		}
	}
	return r, nil
}

// part is what is summed up of a part of the trace.
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

// sort orders the groups; equal ones come by their open time, then by name.
func (r *found) sort(key func(*analysis.Stats) int64) {
	slices.SortFunc(r.stats, func(a, b *analysis.Stats) int {
		if key != nil {
			if c := cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(b.OpenTime, a.OpenTime)); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(r.t.Name(a.Name), r.t.Name(b.Name)), boolCompare(a.Process, b.Process))
	})
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// calls is how often a function was called, recorded or not, and how many of those are an
// estimate; ok is false where it is not known.
func (r *found) calls(s *analysis.Stats) (n, unseen int64, ok bool) {
	n = s.Count + s.Open + s.Across
	if c := r.skipped[s.Name]; !s.Process {
		n, unseen = n+c.Skipped(), c.Unseen
	}
	return n, unseen, r.skipped != nil
}

// title returns a group's name as people see it.
func (r *found) title(s *analysis.Stats) string {
	name := r.t.Name(s.Name)
	switch {
	case r.byTrack && name == "":
		return "(rows without a name)"
	case s.Process:
		return report.Name(name) + " (process)"
	}
	return report.Name(name)
}
