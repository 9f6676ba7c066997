package timeline

import (
	"context"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Summary is the table of scopes and locks, for pages that do not have every scope. null is
// unknown. With whole scopes it has the numbers of `scopeview top --json`.
type Summary struct {
	Scopes []summaryScope `json:"scopes"`
	Locks  []summaryLock  `json:"locks"`
}

// summaryScope sums up the scopes of a name. Times are of the ended ones; Mean to Max are of
// whole scopes even if the sums are limited to the range.
type summaryScope struct {
	Name       uint16 `json:"name"`
	Process    bool   `json:"process"`
	Count      int64  `json:"count"`
	Total      int64  `json:"total"`
	Self       *int64 `json:"self"`
	Mean       int64  `json:"mean"`
	Min        int64  `json:"min"`
	P50        int64  `json:"p50"`
	P90        int64  `json:"p90"`
	P99        int64  `json:"p99"`
	P999       int64  `json:"p999"`
	Max        int64  `json:"max"`
	Cut        int64  `json:"cut"`     // scopes that the sums have only in part
	CPU        int64  `json:"cpu"`     // of scopes of CPUWall ns together
	CPUWall    int64  `json:"cpuWall"` // 0: CPU is unknown
	CPUMax     int64  `json:"cpuMax"`
	CPUMaxWall int64  `json:"cpuMaxWall"`
	Open       int64  `json:"open"`
}

// summaryLock sums up the waits for, and the holds of, the locks of a name.
type summaryLock struct {
	Name    uint16   `json:"name"`
	Waits   int64    `json:"waits"`
	Wait    int64    `json:"wait"`
	WaitMax int64    `json:"waitMax"`
	Holds   int64    `json:"holds"`
	Hold    int64    `json:"hold"`
	HoldMax int64    `json:"holdMax"`
	HeldBy  [][2]any `json:"heldBy"` // name id (null: no scope), share; longest first
}

// Summarize sums up what touches [from, to] of t, to 0: no limit. Scopes count whole, or
// with their part in the range. choose, if not nil, returns a function that selects events;
// it is called for each goroutine that counts. turn, if not nil, is called again and again
// by all readers, which pause while it blocks.
func Summarize(ctx context.Context, t *trace.Trace, from, to int64, whole bool, choose func() func(*trace.Event) bool, turn func()) (*Summary, error) {
	begin := func() any {
		o := analysis.SummaryOptions{Breaks: t.Breaks(), From: from, To: to, Clip: !whole}
		if choose != nil {
			o.Keep = choose()
		}
		return analysis.NewSummary(o)
	}
	sum, spare := begin().(*analysis.Summary), sync.Pool{New: begin}
	var watch analysis.Watch
	type part struct {
		sum   *analysis.Summary
		until int64
	}
	o := trace.Options{From: from, To: to, Running: true, Detail: trace.Rowless}
	if choose != nil {
		o.Detail = trace.Tracks
	}
	err := trace.EachPart(t, o, func() func(*trace.Part) part {
		return func(x *trace.Part) part {
			if turn != nil {
				turn()
			}
			s := spare.Get().(*analysis.Summary)
			s.Part(x, func(*trace.Event) {})
			until, _ := x.Until()
			return part{s, until}
		}
	}, func(p part) bool {
		sum.Merge(p.sum)
		spare.Put(p.sum)
		return watch.Up(ctx, p.until) == nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	sum.Finish()
	return newSummary(sum), err
}

// newSummary converts a finished summary of package analysis.
func newSummary(s *analysis.Summary) *Summary {
	j := &Summary{Scopes: []summaryScope{}, Locks: []summaryLock{}}
	for _, st := range s.Stats {
		x := summaryScope{
			Name: st.Name, Process: st.Process, Count: st.Count, Total: st.Total, Mean: st.Mean(),
			Min: st.Times.Min(), Max: st.Times.Max(), Cut: st.Cut, CPU: st.CPU, CPUWall: st.CPUWall,
			P50: st.Times.Quantile(0.5), P90: st.Times.Quantile(0.9), P99: st.Times.Quantile(0.99), P999: st.Times.Quantile(0.999),
			CPUMax: st.AtMost, CPUMaxWall: st.AtMostWall, Open: st.Open,
		}
		if st.NoSelf == 0 {
			x.Self = &st.Self
		}
		j.Scopes = append(j.Scopes, x)
	}
	for _, l := range s.Locks {
		x := summaryLock{
			Name: l.Name, Waits: l.Waits.Count, Wait: l.Waits.Total, WaitMax: l.Waits.Max,
			Holds: l.Holds.Count, Hold: l.Holds.Total, HoldMax: l.Holds.Max, HeldBy: [][2]any{},
		}
		for _, h := range l.HeldBy() {
			var name any
			if h.Kind != 0 && h.Kind != format.KindWait {
				name = h.Name
			}
			x.HeldBy = append(x.HeldBy, [2]any{name, h.Share})
		}
		j.Locks = append(j.Locks, x)
	}
	return j
}
