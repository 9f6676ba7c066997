package timeline

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/states"
)

// stateRun is a part of a row that is drawn as one: a single item, or narrow neighbours.
type stateRun struct {
	bounds
	count int
	item  stateItem // the longest
	times [idle + 1]int64
}

// top returns the state that took most of the run.
func (u *stateRun) top() states.State {
	best := 0
	for k, t := range u.times {
		if t > u.times[best] {
			best = k
		}
	}
	return states.State(best)
}

// stateMerger merges items at an even resolution, and visits the runs that touch [from, to].
// A run is valid until the next one.
type stateMerger struct {
	from, to, res int64
	visit         func(*stateRun)
	run           stateRun // with count 0 at first
}

// put adds an item; items come by time.
func (m *stateMerger) put(it *stateItem, end int64) {
	u, d := &m.run, end-it.start
	if u.count == 0 || !u.joins(it.start, d, m.res) {
		m.flush()
		*u = stateRun{bounds: bounds{it.start, end, d}, count: 1, item: *it}
		u.times[it.state] = d
		return
	}
	u.end = end
	u.count++
	u.times[it.state] += d
	if d > u.longest {
		u.longest, u.item = d, *it
	}
}

// flush visits the current run. It must be called at the end.
func (m *stateMerger) flush() {
	if u := &m.run; u.count > 0 && u.end > m.from && u.start <= m.to {
		m.visit(u)
	}
	m.run.count = 0
}

// runs visits the runs that touch [from, to], merged at an even resolution.
func (s *States) runs(r *stateRow, from, to, res int64, visit func(*stateRun)) {
	if r.items.Len() == 0 || r.end <= from || r.items.Start() > to {
		return
	}
	c, last := s.from(r, from), to
	if res > 1 {
		first := c
		first.next()
		begin, _ := stretchOf(first.start, res)
		c = s.from(r, begin)
		_, last = stretchOf(to, res)
	}
	m := stateMerger{from: from, to: to, res: res, visit: visit}
	for c.next() && c.start <= last {
		m.put(&c.stateItem, c.end)
	}
	m.flush()
}

// count returns the number of intervals.
func (s *States) count() (n int64) {
	for _, r := range s.rows {
		n += int64(r.items.Len())
	}
	return n
}

// ResFor returns the finest resolution at which a tile of [from, to] has at most max items.
// It is 0 for every interval, else a power of two in ns.
func (s *States) ResFor(from, to, max int64) int64 {
	if s.countAt(from, to, 0, max) <= max {
		return 0
	}
	return finest(func(res int64) bool { return s.countAt(from, to, res, max) <= max })
}

// countAt counts a tile's items, up to slightly more than max. It uses all processors:
// finding a file's resolution counts several times.
func (s *States) countAt(from, to, res, max int64) int64 {
	var n, next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.rows)) {
		wg.Go(func() {
			for i := next.Add(1); int(i) <= len(s.rows) && n.Load() <= max; i = next.Add(1) {
				r := s.rows[i-1]
				if res <= 1 {
					n.Add(int64(s.touching(r, from, to)))
					continue
				}
				runs := int64(0)
				s.runs(r, from, to, res, func(*stateRun) { runs++ })
				n.Add(runs)
			}
		})
	}
	wg.Wait()
	return n.Load()
}
