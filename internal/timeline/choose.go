package timeline

import (
	"math"
	"math/bits"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// Count returns the number of scopes and instants that touch [from, to]; in a large trace it
// may include some beside the ends.
func (x *Index) Count(from, to int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.thin != nil {
		x.endRuns(false)
	}
	var n int64
	x.eachLane(from, to, func(l *lane) {
		first, end := l.touching(from, to)
		if th := l.thin(); th != nil {
			n += th.runs.before(end) - th.runs.before(first)
		} else {
			n += int64(end - first)
		}
		if l.rare != nil {
			for _, s := range l.rare.open {
				if s.start <= to && (s.start >= from || s.kind != format.KindPending) {
					n++
				}
			}
		}
	})
	return n
}

// began returns the number of scopes and instants that began in [from, to].
func (x *Index) began(from, to int64) (n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.eachLane(from, to, func(l *lane) {
		n += int64(l.from(to+1) - l.from(from))
		if l.rare != nil {
			for _, s := range l.rare.open {
				if s.start >= from && s.start <= to {
					n++
				}
			}
		}
	})
	return n
}

// eachLane visits the lanes of the rows that touch [from, to].
func (x *Index) eachLane(from, to int64, f func(l *lane)) {
	for r := range x.within(from, to) {
		for d := range r.lanes {
			f(&r.lanes[d])
		}
		if r.extra != nil {
			f(&r.extra.instants)
		}
	}
}

// prepare makes the missing levels of all lanes, on all processors: the first picture of a
// large trace waits for it.
func (x *Index) prepare(from, to int64) {
	if x.part {
		return // it is only used once or twice
	}
	var todo []*lane
	x.eachLane(from, to, func(l *lane) {
		if l.unprepared() {
			todo = append(todo, l)
		}
	})
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(todo)) {
		wg.Go(func() {
			for i := next.Add(1); int(i) <= len(todo); i = next.Add(1) {
				todo[i-1].prepare()
			}
		})
	}
	wg.Wait()
}

// ResFor returns the finest resolution at which a tile of [from, to] has at most max items.
// It is 0 for every scope, else a power of two in ns. If none is coarse enough it returns
// the coarsest.
func (x *Index) ResFor(from, to int64, max int64) int64 {
	if x.Count(from, to) <= max {
		return 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.prepare(from, to)
	least := int64(0)
	if x.thin != nil {
		least = x.thin.finest()
	}
	return finest(func(res int64) bool { return res >= least && x.countAt(from, to, res, max) <= max })
}

// finest returns the finest resolution for which enough is true, which must then be true for
// all coarser ones. If there is none it returns the coarsest.
func finest(enough func(res int64) bool) int64 {
	return 2 << sort.Search(bits.Len64(coarsest)-2, func(k int) bool { return enough(2 << k) })
}

// countAt counts a tile's items, up to slightly more than max.
func (x *Index) countAt(from, to, res, max int64) int64 {
	var n int64
	x.eachLane(from, to, func(l *lane) {
		if n > max {
			return
		}
		l.runs(from, to, res, func(*run) { n++ })
		if l.rare != nil {
			n += int64(len(l.rare.open))
		}
	})
	return n
}

// Whole returns the range of a tile with everything in it.
func (x *Index) Whole() (from, to int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return 0, min(x.end, math.MaxInt64-1)
}
