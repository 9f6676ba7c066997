package trace

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// reach is which chunks of records there are, and what is known of how far each goes. Options
// with Within leave out chunks by it.
type reach struct {
	order []int32 // indexes of the chunks of records, by Since
	// latest is of each chunk the last moment at which Events has an event of it, in ticks; 0:
	// no run has come to its end. Runs write it at once, and all write the same.
	latest []atomic.Int64
}

// reachOf returns the Trace's, which is made for its first run.
func (t *Trace) reachOf() *reach {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reach == nil {
		r := &reach{latest: make([]atomic.Int64, len(t.chunks))}
		for i, c := range t.chunks {
			if c.Kind == format.ChunkRecords {
				r.order = append(r.order, int32(i))
			}
		}
		slices.SortFunc(r.order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.chunks[a].Since, t.chunks[b].Since), cmp.Compare(a, b))
		})
		t.reach = r
	}
	return t.reach
}

// wanted lists the chunks that can have an event of a run, by Since.
func (t *Trace) wanted(o *Options) []int32 {
	r := t.reachOf()
	if !o.Within {
		return r.order
	}
	n := len(r.order)
	if o.To > 0 && o.To < math.MaxInt64 {
		behind := t.clock.ticks(o.To + 1)
		n = sort.Search(n, func(i int) bool { return t.chunks[r.order[i]].Since >= behind })
	}
	from := t.clock.ticks(o.From)
	var list []int32
	for _, i := range r.order[:n] {
		if latest := r.latest[i].Load(); latest == 0 || latest >= from {
			list = append(list, i)
		}
	}
	return list
}

// passed takes note that a run has come to the end of the cursor's chunk. One that may still
// change, or of which only carries and ends tell, says nothing for the next run.
func (m *merge) passed(c *cursor) {
	if c.made == nil && (m.t.state.Closed || m.t.chunks[c.index].flags&format.FlagFinal != 0) {
		m.t.reach.latest[c.index].Store(c.latest)
	}
}

// ticks returns the first moment that is not before ns.
func (c *clock) ticks(ns int64) int64 {
	from, to := int64(0), int64(format.MaxTicks)
	for from < to {
		if mid := (from + to) / 2; c.nanos(mid) < ns {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from
}
