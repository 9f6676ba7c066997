package timeline

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// run is a part of a lane that is drawn as one: a single item, or narrow neighbours.
type run struct {
	bounds
	busy   int64 // of several items: the sum of the durations; of one: its slack
	count  uint32
	item   int32 // the longest; in a thin lane, of one item: its detail, see thin
	name   uint16
	thread uint16 // index into the index's threads
	kind   format.Kind
	flags  uint8
}

func (l *lane) runOf(i int, it *item) run {
	d := l.durOf(i, it)
	return run{bounds{it.start, it.start + d, d}, l.slackOf(i, it), 1, int32(i), it.name, it.thread, it.kind, it.flags}
}

// sum returns the sum of the durations.
func (a *run) sum() int64 {
	if a.count == 1 {
		return a.longest
	}
	return a.busy
}

// joins reports whether b, which follows a, is merged with it.
func (a *run) joins(b *run, res int64) bool { return a.bounds.joins(b.start, b.longest, res) }

func (a *run) waits() bool { return a.kind == format.KindWait }

func (a *run) add(b *run) {
	a.end = max(a.end, b.end)
	a.busy = a.sum() + b.sum()
	a.count += b.count
	a.flags = 0
	if b.longest > a.longest {
		a.longest, a.item, a.name, a.thread, a.kind = b.longest, b.item, b.name, b.thread, b.kind
	}
}

// level is a lane merged at a resolution.
type level struct {
	res  int64
	runs runList
}

// levels are a lane's levels, finer ones first. Each has about an eighth of the runs of the
// one before. So all together have a seventh of the items, and a tile reads about eight
// times what it shows. They do not keep waits separate: the result of merging does not
// depend on the levels.
type levels struct {
	list []*level
	of   int // number of elements in them; later ones are not
	// since is the number of elements when the resolutions were chosen.
	since int
}

const (
	thinner  = 8
	leastFor = 256 // minimum number of elements of a lane with levels
	anew     = 4   // factor of growth after which resolutions are chosen again
)

func (v *levels) cut(n int) {
	if n < v.of {
		*v = levels{}
	}
}

// prepare adds the missing elements to the levels, if they are many.
func (l *lane) prepare() {
	if !l.unprepared() {
		return
	}
	v := &l.more().levels
	n := l.count()
	if n < anew*v.since {
		l.extend(v, n)
		return
	}
	*v = levels{of: n, since: n}
	var from *runList // nil: the elements
	for res := int64(2); n >= leastFor; res <<= 1 {
		if res = l.thinning(from, n, res); res == 0 {
			return
		}
		made := &level{res: res}
		l.merge(from, 0, n, res, made.runs.push)
		if made.runs.len() > n/2 {
			continue // the sample was not representative
		}
		v.list = append(v.list, made)
		from, n = &made.runs, made.runs.len()
	}
}

// extend extends the levels to n elements. The new runs might have joined the last existing
// ones: the next merge joins them.
func (l *lane) extend(v *levels, n int) {
	var from *runList
	first, end := v.of, n
	for _, made := range v.list {
		had := made.runs.len()
		l.merge(from, first, end, made.res, made.runs.push)
		from, first, end = &made.runs, had, made.runs.len()
	}
	v.of = n
}

// unprepared reports whether many elements are in no level.
func (l *lane) unprepared() bool {
	n := l.count()
	if n < leastFor {
		return false
	}
	of := 0
	if l.rare != nil {
		of = l.rare.levels.of
	}
	return of == 0 || n-of >= max(of/64, leastFor)
}

// thinning returns the first resolution from res on at which merging leaves an eighth,
// estimated by a sample; 0: none.
func (l *lane) thinning(from *runList, n int, res int64) int64 {
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

// merger merges runs, given by start, and visits those that touch [from, to]. First it
// merges all at fine, then waits, and others, separately at res.
type merger struct {
	fine, res int64
	from, to  int64
	visit     func(*run)
	narrow    run // at fine; with count 0 at first, which nothing joins
	current   run
}

// newMerger returns a merger; mixed means that the lane has both waits and others.
func newMerger(res int64, mixed bool, from, to int64, visit func(*run)) *merger {
	fine := res
	if mixed {
		fine = fineness(res)
	}
	none := run{bounds: bounds{longest: math.MaxInt64}}
	return &merger{fine, res, from, to, visit, none, none}
}

// begin passes on the narrow run and starts another.
func (m *merger) begin(r *run) {
	switch n := &m.narrow; {
	case n.count == 0:
	case m.fine < m.res && m.current.waits() == n.waits() && m.current.joins(n, m.res):
		m.current.add(n)
	default:
		m.show()
		m.current = *n
	}
	m.narrow = *r
}

// end passes on the rest.
func (m *merger) end() {
	m.begin(&run{})
	m.show()
}

// show visits the current run.
func (m *merger) show() {
	if m.current.count > 0 && m.current.end >= m.from && m.current.start <= m.to {
		m.visit(&m.current)
	}
}

// cells passes runs of a level to a merger.
func (m *merger) cells(list []run) {
	for i := range list {
		if r := &list[i]; m.narrow.joins(r, m.fine) {
			m.narrow.add(r)
		} else {
			m.begin(r)
		}
	}
}

// merge visits the runs, merged at a resolution, of entries of a level, or if from is nil of
// the elements. It does not keep waits separate.
func (l *lane) merge(from *runList, first, end int, res int64, visit func(*run)) {
	m := newMerger(res, false, math.MinInt64, math.MaxInt64, visit)
	if from == nil {
		l.elements(first, end, m)
	} else {
		from.give(m, first, end)
	}
	m.end()
}

// elements passes items, or in a thin lane its runs, to a merger.
func (l *lane) elements(first, end int, m *merger) {
	if th := l.thin(); th != nil {
		th.runs.give(m, first, end)
		return
	}
	for i := first; i < end; {
		b, k := blockOf(i)
		block := l.blocks[b][k:]
		block = block[:min(len(block), end-i)]
		for k := range block {
			if r := l.runOf(i+k, &block[k]); m.narrow.joins(&r, m.fine) {
				m.narrow.add(&r)
			} else {
				m.begin(&r)
			}
		}
		i += len(block)
	}
}

// runs visits the runs that touch [from, to], merged at an even resolution, without open
// scopes. A run is valid until the next one.
func (l *lane) runs(from, to, res int64, visit func(*run)) {
	m := newMerger(res, l.kinds == hasBoth, from, to, visit)
	list, of := l.levelFor(m.fine)
	var begin int64 // the first run has no earlier elements
	if k := list.reaching(from); k < list.len() {
		begin, _ = stretchOf(list.startOf(k), res)
	} else if k = l.reaching(from); k < l.count() {
		begin, _ = stretchOf(l.startOf(k), res)
	} else {
		return
	}
	_, last := stretchOf(to, res)
	n, end := list.len(), l.count()
	if last < math.MaxInt64 {
		n = list.from(last + 1)
	}
	list.give(m, list.from(begin), n)
	if of < end {
		if last < math.MaxInt64 {
			end = l.from(last + 1)
		}
		l.elements(max(l.from(begin), of), end, m)
	}
	m.end()
}

// levelFor returns the coarsest level that is not coarser than res, and its number of
// elements: none if there is no such level.
func (l *lane) levelFor(res int64) (list *runList, of int) {
	list = &runList{}
	if l.rare == nil {
		return list, 0
	}
	for _, v := range l.rare.levels.list {
		if v.res <= res {
			list, of = &v.runs, l.rare.levels.of
		}
	}
	return list, of
}
