package timeline

import "github.com/scopeview/scopeview/internal/format"

// run is a stretch of a lane that is drawn as one: an item alone, or neighbours
// that are too short to be told from each other.
type run struct {
	start, end int64
	longest    int64 // duration of the longest item
	busy       int64 // sum of the durations
	count      uint32
	item       int32 // the longest
	wait       bool  // that one is a wait for a lock
}

func (l *lane) runOf(i int, it *item) run {
	d := l.durOf(i, it)
	return run{it.start, it.start + d, d, d, 1, int32(i), it.kind == format.KindWait}
}

// mixed is how much shorter waits and others have to be, together, to be merged
// with each other. Waits are what people look for, so they are not lost among
// others; but where the two alternate by the million something has to give.
const mixed = 2 // as a shift

// joins tells whether b, which follows a, is drawn together with it at a
// resolution: whether both together are shorter than that. So no merged run is
// ever as long as what is drawn alone, and a lane has at most about two runs in
// each stretch of res ns.
func (a *run) joins(b *run, res int64) bool {
	if a.wait != b.wait {
		res >>= mixed
	}
	return b.end-a.start < res && a.end-a.start < res
}

func (a *run) add(b *run) {
	a.end = max(a.end, b.end)
	a.busy += b.busy
	a.count += b.count
	if b.longest > a.longest {
		a.longest, a.item, a.wait = b.longest, b.item, b.wait
	}
}

// level is a lane at a resolution, merged ahead.
type level struct {
	res  int64
	runs []run
}

// levels are a lane's, finer ones first. Each has about an eighth of the runs of
// the one before, so all together are a seventh of the items, and a tile looks at
// about eight times what it shows.
type levels struct {
	list []level
	of   int // items that are in them; later ones are not
}

const (
	thinner  = 8
	leastFor = 256 // items in a lane that has levels
)

func (v *levels) cut(n int) {
	if n < v.of {
		*v = levels{}
	}
}

// prepare makes the levels of the items that have none, once they are many.
func (l *lane) prepare() {
	if !l.unprepared() {
		return
	}
	v := &l.more().levels
	*v = levels{of: l.n}
	var from []run // nil: the items
	n := l.n
	for res := int64(2); n >= leastFor; res <<= 1 {
		if res = l.thinning(from, n, res); res == 0 {
			return
		}
		made := make([]run, 0, n/thinner+n/thinner/4)
		l.merge(from, 0, n, res, func(r *run) { made = append(made, *r) })
		if len(made) > n/2 {
			continue // what was looked at was not like the rest
		}
		v.list = append(v.list, level{res, made})
		from, n = made, len(made)
	}
}

// unprepared tells whether there is much that is in no level.
func (l *lane) unprepared() bool {
	if l.n < leastFor {
		return false
	}
	of := 0
	if l.rare != nil {
		of = l.rare.levels.of
	}
	return of == 0 || l.n-of >= max(of/4, leastFor)
}

// thinning is the first resolution from res on at which merging leaves an eighth,
// going by a sample; 0: there is none.
func (l *lane) thinning(from []run, n int, res int64) int64 {
	const samples, length = 32, 512
	for ; res < 1<<62; res <<= 1 {
		all, left := 0, 0
		count := func(*run) { left++ }
		if n <= samples*length {
			all = n
			l.merge(from, 0, n, res, count)
		} else {
			for k := range samples {
				at := k * ((n - length) / (samples - 1))
				all += length
				l.merge(from, at, at+length, res, count)
			}
		}
		if left <= all/thinner {
			return res
		}
	}
	return 0
}

// merger merges what it is given, in the order of the starts.
type merger struct {
	res     int64
	visit   func(*run)
	current run
	any     bool
}

func (m *merger) add(r *run) {
	switch {
	case !m.any:
		m.current, m.any = *r, true
	case m.current.joins(r, m.res):
		m.current.add(r)
	default:
		m.visit(&m.current)
		m.current = *r
	}
}

func (m *merger) done() {
	if m.any {
		m.visit(&m.current)
	}
}

// merge visits the runs, at a resolution, of entries of a level, or where there
// is none of the items.
func (l *lane) merge(from []run, first, end int, res int64, visit func(*run)) {
	m := merger{res: res, visit: visit}
	if from == nil {
		l.items(first, end, &m)
	} else {
		for i := first; i < end; i++ {
			m.add(&from[i])
		}
	}
	m.done()
}

// items gives items to a merger.
func (l *lane) items(first, end int, m *merger) {
	for i := first; i < end; {
		b, k := blockOf(i)
		block := l.blocks[b][k:]
		block = block[:min(len(block), end-i)]
		for k := range block {
			r := l.runOf(i+k, &block[k])
			m.add(&r)
		}
		i += len(block)
	}
}

// runs visits what touches [from, to], merged for a resolution. Open scopes are
// not among them. The run is good until the next one.
func (l *lane) runs(from, to, res int64, visit func(*run)) {
	l.prepare()
	var list []run
	of := 0
	if l.rare != nil {
		for _, v := range l.rare.levels.list {
			if v.res <= res {
				list, of = v.runs, l.rare.levels.of
			}
		}
	}
	m := merger{res: res, visit: visit}
	for i := firstRun(list, from); i < len(list) && list[i].start <= to; i++ {
		m.add(&list[i])
	}
	first, end := l.touching(from, to)
	l.items(max(first, of), end, &m)
	m.done()
}

// firstRun is the first that ends at t or later.
func firstRun(list []run, t int64) int {
	lo, hi := 0, len(list)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); list[m].end < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
