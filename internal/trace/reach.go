package trace

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// chunkReach holds the chunks of records, and the last time in each as far as it is known. Options
// with Within skip chunks by it.
type chunkReach struct {
	order []int32 // indexes of the chunks of records, by Since
	// latest is, by chunk, the last time of an event in it, in ticks; 0: no run has finished it.
	// Runs write it concurrently, all the same value.
	latest []atomic.Int64
	// latestOf is the maximum of each reachBlock of order, once it is known for all chunks.
	latestOf atomic.Pointer[[]int64]
}

// reachBlock chunks are skipped at once: a large trace has hundreds of thousands.
const reachBlock = 64

// blocks returns latestOf; nil: some chunk's latest is not known.
func (r *chunkReach) blocks() []int64 {
	if known := r.latestOf.Load(); known != nil {
		return *known
	}
	list := make([]int64, (len(r.order)+reachBlock-1)/reachBlock)
	for k, i := range r.order {
		latest := r.latest[i].Load()
		if latest == 0 {
			return nil
		}
		list[k/reachBlock] = max(list[k/reachBlock], latest)
	}
	r.latestOf.Store(&list)
	return list
}

// reachOf returns the Trace's reach, which its first run creates.
func (t *Trace) reachOf() *chunkReach {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reach == nil {
		r := &chunkReach{latest: make([]atomic.Int64, len(t.chunks))}
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

// chunksOf lists the chunks that can have an event of a run, by Since, and the time at which the run
// ends. all is false if that is before the end of the trace.
func (t *Trace) chunksOf(o *Options) (list []int32, to int64, all bool) {
	r := t.reachOf()
	list, to = r.order, math.MaxInt64
	if t.grows {
		to = t.last + 1
	}
	if o.To > 0 && o.To < math.MaxInt64 {
		to = min(to, t.clock.Ticks(o.To+1))
		list = list[:sort.Search(len(list), func(i int) bool { return t.chunks[list[i]].Since >= to })]
	}
	all = len(list) == len(r.order)
	if !o.Within {
		return list, to, all
	}
	from := t.clock.Ticks(o.From)
	var some []int32
	blocks := r.blocks()
	for k := 0; k < len(list); k++ {
		if blocks != nil && k%reachBlock == 0 && blocks[k/reachBlock] < from {
			k += reachBlock - 1
		} else if latest := r.latest[list[k]].Load(); latest == 0 || latest >= from {
			some = append(some, list[k])
		}
	}
	return some, to, false
}
