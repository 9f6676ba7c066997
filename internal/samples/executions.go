package samples

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// executions are the times at which each goroutine was in one of the selected scopes. Of
// nested ones the outer counts.
type executions struct {
	byGoid map[uint64][]execution
	Executions
}

type execution struct {
	from, to int64
	slow     bool
}

// executionsOf reads the executions of the selected scopes, and marks the slowest share of
// them.
func executionsOf(ctx context.Context, t *trace.Trace, sel *Selection) (*executions, error) {
	x := &executions{byGoid: map[uint64][]execution{}}
	more := sel.watch(ctx)
	err := t.Events(trace.Options{From: sel.From, To: sel.To, AsRecorded: true, Detail: trace.Tracks}, func(e *trace.Event) bool {
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindProcess:
		default:
			return more(e.Start)
		}
		if e.Goid == 0 || !sel.Scopes.Match(t.Name(e.Name)) {
			return more(e.Start)
		}
		list := x.byGoid[e.Goid]
		if n := len(list); n == 0 || e.Start >= list[n-1].to {
			x.byGoid[e.Goid] = append(list, execution{from: e.Start, to: e.Start + e.Dur})
		}
		return more(e.Start)
	})
	x.mark(sel.Slowest)
	return x, cmp.Or(err, ctx.Err())
}

// mark marks the slowest share of the executions.
func (x *executions) mark(share float64) {
	var durs []int64
	for _, list := range x.byGoid {
		for _, e := range list {
			durs = append(durs, e.to-e.from)
		}
	}
	slices.Sort(durs)
	slow := int(math.Ceil(share * float64(len(durs))))
	if slow == 0 {
		x.Rest = int64(len(durs))
		return
	}
	x.Limit = durs[len(durs)-slow]
	for _, list := range x.byGoid {
		for i := range list {
			if e := &list[i]; e.to-e.from >= x.Limit {
				e.slow = true
				x.Slow++
			} else {
				x.Rest++
			}
		}
	}
}

// each calls f with the parts of a goroutine's time that lie in executions. A nil x selects
// all of the time.
func (x *executions) each(goid uint64, from, to int64, f func(from, to int64, slow bool)) {
	if x == nil {
		f(from, to, false)
		return
	}
	list := x.byGoid[goid]
	for i := sort.Search(len(list), func(k int) bool { return list[k].to > from }); i < len(list) && list[i].from < to; i++ {
		f(max(from, list[i].from), min(to, list[i].to), list[i].slow)
	}
}

// at reports whether a goroutine was in an execution at time t, and in a slow one.
func (x *executions) at(goid uint64, t int64) (in, slow bool) {
	x.each(goid, t, t+1, func(_, _ int64, s bool) { in, slow = true, s })
	return in, slow
}
