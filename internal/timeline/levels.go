package timeline

import (
	"math"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// run is a stretch of a lane that is drawn as one: an item alone, or narrow
// neighbours.
type run struct {
	bounds
	busy  int64 // sum of the durations
	count uint32
	item  int32 // the longest
	wait  bool  // that one is a wait for a lock
}

func (l *lane) runOf(i int, it *item) run {
	d := l.durOf(i, it)
	return run{bounds{it.start, it.start + d, d}, d, 1, int32(i), it.kind == format.KindWait}
}

// joins reports whether b, which follows a, is drawn together with it. A wait and
// what is none are merged only where they are shorter still.
func (a *run) joins(b *run, res int64) bool {
	if a.wait != b.wait {
		res = max(res>>mixed, 1)
	}
	return a.bounds.joins(b.start, b.longest, res)
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

// levels are a lane's, finer ones first. Each has about an eighth of the runs of the
// one before. So all together are a seventh of the items, and a tile looks at about
// eight times what it shows.
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

// unprepared reports whether there is much that is in no level.
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
	for ; res <= coarsest; res <<= 1 {
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

// merger merges what it is given, in the order of the starts, and visits what of it
// touches [from, to].
type merger struct {
	res      int64
	from, to int64
	visit    func(*run)
	current  run // of no items at first, which nothing joins
}

func newMerger(res, from, to int64, visit func(*run)) *merger {
	return &merger{res, from, to, visit, run{bounds: bounds{longest: math.MaxInt64}}}
}

// begin visits the current run and begins another.
func (m *merger) begin(r *run) {
	if m.current.count > 0 && m.current.end >= m.from && m.current.start <= m.to {
		m.visit(&m.current)
	}
	m.current = *r
}

// cells gives cells of a level to a merger.
func (m *merger) cells(list []run) {
	for i := range list {
		if r := &list[i]; m.current.joins(r, m.res) {
			m.current.add(r)
		} else {
			m.begin(r)
		}
	}
}

// merge visits the runs, at a resolution, of entries of a level, or where there
// is none of the items.
func (l *lane) merge(from []run, first, end int, res int64, visit func(*run)) {
	m := newMerger(res, math.MinInt64, math.MaxInt64, visit)
	if from == nil {
		l.items(first, end, m)
	} else {
		m.cells(from[first:end])
	}
	m.begin(&run{})
}

// items gives items to a merger.
func (l *lane) items(first, end int, m *merger) {
	for i := first; i < end; {
		b, k := blockOf(i)
		block := l.blocks[b][k:]
		block = block[:min(len(block), end-i)]
		for k := range block {
			if r := l.runOf(i+k, &block[k]); m.current.joins(&r, m.res) {
				m.current.add(&r)
			} else {
				m.begin(&r)
			}
		}
		i += len(block)
	}
}

// runs visits what touches [from, to], merged for an even resolution. Open scopes are
// not among them. The run is good until the next one.
func (l *lane) runs(from, to, res int64, visit func(*run)) {
	l.prepare()
	list, of := l.levelFor(res)
	k := sort.Search(len(list), func(i int) bool { return list[i].end >= from })
	first, _ := l.touching(from, to)
	var begin int64 // what the first run is made of begins no earlier
	switch {
	case k < len(list):
		begin, _ = stretchOf(list[k].start, res)
	case first < l.n:
		begin, _ = stretchOf(l.at(first).start, res)
	default:
		return
	}
	for k > 0 && list[k-1].start >= begin {
		k--
	}
	_, last := stretchOf(to, res)
	n := k
	for n < len(list) && list[n].start <= last {
		n++
	}
	m := newMerger(res, from, to, visit)
	m.cells(list[k:n])
	end := l.n
	if last < math.MaxInt64 {
		end = l.from(last + 1)
	}
	l.items(max(l.from(begin), of), end, m)
	m.begin(&run{})
}

// levelFor returns the coarsest level that is no coarser than res, and how many items
// are in it: none where there is no such level.
func (l *lane) levelFor(res int64) (list []run, of int) {
	if l.rare == nil {
		return nil, 0
	}
	for _, v := range l.rare.levels.list {
		if v.res <= res {
			list, of = v.runs, l.rare.levels.of
		}
	}
	return list, of
}
