package trace

import "github.com/scopeview/scopeview/internal/format"

// rows holds, at the present time of the run, the scopes that run on every row of the timeline and
// the row's name. Depth is the number of running scopes: for nested ones that is the nesting, and
// scopes that overlap, or end in another order than they began, need no special case.
type rows struct {
	m      map[uint64]*row
	limit  int // sweep when m has grown to this
	free   []*row
	tracks trackTable
}

// row holds the scopes that run on one goroutine.
type row struct {
	nested     []int64  // ends, in ticks, of running scopes that will end: none is before the next
	outlasting *endHeap // of running scopes that outlast earlier ones; few rows have any
	open       int32    // running scopes without an end
	track      uint16
}

// emptied returns a row on which nothing runs, with the memory of r.
func (r *row) emptied() row {
	if r.outlasting != nil {
		*r.outlasting = (*r.outlasting)[:0]
	}
	return row{nested: r.nested[:0], outlasting: r.outlasting}
}

// sweepAt is the number of rows at which idle ones are dropped. Otherwise a program of a million
// short goroutines leaves a million rows.
const sweepAt = 1 << 14

func newRows() rows { return rows{m: map[uint64]*row{}, limit: sweepAt} }

// rowKeyOf returns the goroutine; if it is not known, the thread, or the owner.
func rowKeyOf(goid uint64, thread, owner uint32) uint64 {
	switch {
	case goid != 0:
		return goid
	case thread != 0:
		return 1<<62 | uint64(thread)
	}
	return 1<<63 | uint64(owner)
}

func (s *rows) get(key uint64) *row {
	if r := s.m[key]; r != nil {
		return r
	}
	r := &row{}
	if n := len(s.free); n > 0 {
		r, s.free = s.free[n-1], s.free[:n-1]
		*r = r.emptied()
	}
	r.track = s.tracks.get(key)
	s.m[key] = r
	return r
}

// makeRoom drops the rows on which nothing runs, but keeps their names, if n more would be too
// many.
func (s *rows) makeRoom(n int, now int64) {
	if len(s.m)+n < s.limit {
		return
	}
	for key, r := range s.m {
		if r.running(now) == 0 {
			if r.track != s.tracks.get(key) {
				s.tracks.put(key, r.track)
			}
			delete(s.m, key)
			if len(s.free) < sweepAt {
				s.free = append(s.free, r)
			}
		}
	}
	s.limit = max(sweepAt, 2*(len(s.m)+n))
}

// sentinels is the number of ends that never come at the bottom of nested: the search needs no bounds
// check.
const sentinels = 4

// running counts the scopes that run at now, and drops those that have ended. How many have ended
// is different each time, and a branch misprediction costs more than comparing four.
func (r *row) running(now int64) int {
	n := len(r.nested)
	if n == 0 {
		return int(r.open)
	}
	top := (*[sentinels]int64)(r.nested[n-sentinels:])
	ended := func(i int) int { return int(uint64(top[i]-now-1) >> 63) }
	n -= ended(3) + ended(2) + ended(1) + ended(0)
	for r.nested[n-1] <= now {
		n--
	}
	r.nested = r.nested[:n]
	n += int(r.open) - sentinels
	if r.outlasting == nil {
		return n
	}
	for len(*r.outlasting) > 0 && (*r.outlasting)[0] <= now {
		r.outlasting.pop()
	}
	return n + len(*r.outlasting)
}

// addScope adds a scope that runs to stop.
func (r *row) addScope(stop int64) {
	n := len(r.nested)
	switch {
	case stop == format.MaxTicks:
		r.open++
	case n == 0:
		r.nested = append(r.nested, noEnd, noEnd, noEnd, noEnd, stop)
	case stop <= r.nested[n-1]:
		r.nested = append(r.nested, stop)
	default:
		if r.outlasting == nil {
			r.outlasting = &endHeap{}
		}
		r.outlasting.push(stop)
	}
}

// noEnd is later than all ends.
const noEnd = 1 << 62

// endHeap is a min-heap of ends.
type endHeap []int64

func (l *endHeap) push(stop int64) {
	h := append(*l, stop)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h[p] <= stop {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = stop
	*l = h
}

func (l *endHeap) pop() {
	n := len(*l) - 1
	v := (*l)[n]
	h := (*l)[:n]
	*l = h
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && h[c+1] < h[c] {
			c++
		}
		if v <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	if n > 0 {
		h[i] = v
	}
}

// trackTable keeps the names of rows that were swept, or of all rows if depths are not needed, in
// two generations: when the young one is full the old one is dropped, so that the names used last
// remain. An entry is goroutine << 16 | name.
type trackTable struct {
	young, old []uint64
	n          int  // entries in young
	dropped    bool // a generation with names in it was dropped
}

// trackSlots makes a generation 32 MiB, for three million names.
const trackSlots = 1 << 22

func (t *trackTable) put(key uint64, name uint16) {
	if key > format.MaxGoid {
		return // not a goroutine: it has no name
	}
	if t.n >= len(t.young)*3/4 {
		t.grow()
	}
	t.n += insertTrack(t.young, key<<16|uint64(name))
}

func (t *trackTable) grow() {
	if len(t.young) < trackSlots {
		bigger := make([]uint64, max(1024, 2*len(t.young)))
		t.n = 0
		for _, e := range t.young {
			if e != 0 {
				t.n += insertTrack(bigger, e)
			}
		}
		t.young = bigger
		return
	}
	t.dropped = t.dropped || t.old != nil
	t.old, t.young, t.n = t.young, make([]uint64, trackSlots), 0
}

func (t *trackTable) get(key uint64) uint16 {
	if key > format.MaxGoid {
		return format.NameEmpty
	}
	if e := findTrack(t.young, key); e != 0 {
		return uint16(e)
	}
	e := findTrack(t.old, key)
	if e != 0 {
		t.put(key, uint16(e)) // refresh it
	}
	return uint16(e)
}

// findTrack returns the entry of a goroutine; 0: there is none.
func findTrack(g []uint64, key uint64) uint64 {
	if len(g) == 0 {
		return 0
	}
	i := trackHash(key, len(g))
	for g[i] != 0 && g[i]>>16 != key {
		i = (i + 1) & (len(g) - 1)
	}
	return g[i]
}

// insertTrack puts e in g, whose length is a power of two, and returns how many entries it added.
func insertTrack(g []uint64, e uint64) int {
	i := trackHash(e>>16, len(g))
	for g[i] != 0 && g[i]>>16 != e>>16 {
		i = (i + 1) & (len(g) - 1)
	}
	added := 0
	if g[i] == 0 {
		added = 1
	}
	g[i] = e
	return added
}

func trackHash(key uint64, n int) int { return int(key*0x9e3779b97f4a7c15>>32) & (n - 1) }
