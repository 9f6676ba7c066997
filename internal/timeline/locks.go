package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// lockKey is an object that is locked: several may have one name, and after one is
// gone another may be at its address.
type lockKey struct {
	addr uint64
	name uint16
}

// lock is who waited for an object and who held it.
type lock struct {
	lockKey
	kind         format.LockKind
	sums         *lockSums // nil: nothing was counted
	waits, holds []lockSpan
	unsorted     bool
}

// lockSums is what was counted of an object all along, be it recorded or not.
type lockSums struct {
	Had   int64 `json:"had"`   // -1: not known
	Not   int64 `json:"not"`   // of these not at once
	Short int64 `json:"short"` // of those waited for so briefly that there is no record
	Brief int64 `json:"brief"` // ns, what these waited together
}

// lockSpan is one wait or hold.
type lockSpan struct {
	start, end int64
	row        int32
	shared     bool
	inScope    bool   // holds of a thin index: it is in a scope,
	scope      uint16 // of that name
}

// locks are an index's.
type locks struct {
	byKey map[lockKey]*lock
	open  map[format.Loc]openLock
}

type openLock struct {
	*lock
	span lockSpan
	hold bool
}

func newLocks() locks { return locks{map[lockKey]*lock{}, map[format.Loc]openLock{}} }

// add takes in a wait or a hold of a row, and what else there is not at all. It returns
// the object.
func (x *locks) add(e *trace.Event, row int32) *lock {
	hold := e.Kind == format.KindHold
	if !hold && e.Kind != format.KindWait {
		return nil
	}
	k := lockKey{name: e.Name}
	kind, mode := format.LockUnknown, format.LockExclusive
	for _, s := range e.Args {
		switch s.Type {
		case format.SlotAddr:
			k.addr = s.Value
		case format.SlotUint:
			kind, mode = format.LockOf(s.Value)
		}
	}
	l := x.of(k, kind)
	span := lockSpan{start: e.Start, end: e.Start + max(e.Dur, 0), row: row, shared: mode == format.LockShared}
	if e.Open {
		x.open[e.Loc] = openLock{l, span, hold}
		return l
	}
	delete(x.open, e.Loc)
	list := &l.waits
	if hold {
		list = &l.holds
	}
	if n := len(*list); n > 0 && (*list)[n-1].start >= span.start {
		l.unsorted = true
	}
	*list = append(*list, span)
	return l
}

// of is an object's, made where there is none.
func (x *locks) of(k lockKey, kind format.LockKind) *lock {
	l := x.byKey[k]
	if l == nil {
		l = &lock{lockKey: k}
		x.byKey[k] = l
	}
	if kind != format.LockUnknown {
		l.kind = kind
	}
	return l
}

// count takes in what was counted in a trace that does not grow.
func (x *locks) count(t *trace.Trace) error {
	return t.EachLockSums(func(s *format.LockSums) bool {
		l := x.of(lockKey{s.Addr, s.Name}, s.Kind)
		if l.sums == nil {
			l.sums = &lockSums{}
		}
		if s.Acquired < 0 || l.sums.Had < 0 {
			l.sums.Had = -1
		} else {
			l.sums.Had += s.Acquired
		}
		l.sums.Not += s.Contended
		l.sums.Short += s.Short
		l.sums.Brief += s.ShortWait
		return true
	})
}

// lockSpans are all waits, or all holds, of l up to now, by their starts.
func (x *Index) lockSpans(l *lock, hold bool) []lockSpan {
	byStart := func(a, b lockSpan) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.row, b.row))
	}
	if l.unsorted {
		slices.SortFunc(l.waits, byStart)
		slices.SortFunc(l.holds, byStart)
		l.unsorted = false
	}
	list := l.waits
	if hold {
		list = l.holds
	}
	clipped := false
	for _, o := range x.locks.open {
		if o.lock != l || o.hold != hold {
			continue
		}
		if !clipped {
			list, clipped = slices.Clone(list), true
		}
		o.span.end = max(x.end, o.span.start)
		list = append(list, o.span)
	}
	if clipped {
		slices.SortFunc(list, byStart)
	}
	return list
}

// holder is a stretch in which an object was held. It is a hold alone, or several that
// overlap, as readers do, or are narrow neighbours.
type holder struct {
	bounds
	shared  bool
	count   int
	longest lockSpan
}

// holders visits what of some holds touches [from, to], merged for an even resolution.
func holders(list []lockSpan, from, to, res int64, visit func(*holder)) {
	var h holder
	for _, s := range list {
		if s.end < from || s.start > to {
			continue
		}
		b := bounds{s.start, s.end, s.end - s.start}
		if h.count > 0 && (s.start < h.end || h.joins(s.start, b.longest, res)) {
			h.end = max(h.end, s.end)
			h.count++
			h.shared = h.shared || s.shared
			if b.longest > h.bounds.longest {
				h.bounds.longest, h.longest = b.longest, s
			}
			continue
		}
		if h.count > 0 {
			visit(&h)
		}
		h = holder{b, s.shared, 1, s}
	}
	if h.count > 0 {
		visit(&h)
	}
}

// waiting visits how many waited: from t on, until the next one, at most so many at
// once, and sum is their time together. At a resolution there are two for each stretch
// at most.
func waiting(list []lockSpan, from, to, res int64, visit func(t int64, most int, sum int64)) {
	type step struct {
		t int64
		d int
	}
	var steps []step
	for _, s := range list {
		if s.end >= from && s.start <= to {
			steps = append(steps, step{max(s.start, from), 1}, step{s.end, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.d, b.d)) })
	n, res := 0, max(res, 1)
	for i := 0; i < len(steps); {
		begin, most, sum := steps[i].t, 0, int64(0)
		last := begin
		for stretch := floorDiv(begin, res); i < len(steps) && floorDiv(steps[i].t, res) == stretch; {
			sum += int64(n) * (steps[i].t - last)
			last = steps[i].t
			for i < len(steps) && steps[i].t == last {
				n += steps[i].d
				i++
			}
			most = max(most, n)
		}
		if last > begin { // what is then may be so for long, and is no part of the stretch
			visit(begin, most, sum)
			most, sum = n, 0
		}
		if i < len(steps) {
			sum = int64(n) * (steps[i].t - last)
		}
		visit(last, most, sum)
	}
}

// scopeOf returns the name of the scope that a hold began in. It reports whether there was
// one.
func (x *Index) scopeOf(h *lockSpan) (name uint16, ok bool) {
	if x.thin != nil {
		return h.scope, h.inScope
	}
	return x.scopeAt(h.row, h.start)
}

// scopeAt returns the name of the scope that ran innermost on a row at a moment, or
// began then. It reports whether there was one.
func (x *Index) scopeAt(row int32, t int64) (name uint16, ok bool) {
	best := int64(math.MinInt64)
	r := x.rows[row]
	for d := range r.lanes {
		l := &r.lanes[d]
		if i := l.from(t+1) - 1; i >= 0 {
			it := l.at(i)
			if it.start+max(l.durOf(i, it), 0) > t && it.start >= best && isScope(it.kind) {
				name, ok, best = it.name, true, it.start
			}
		}
		if l.rare == nil {
			continue
		}
		for _, s := range l.rare.open {
			if s.start <= t && s.start >= best && isScope(s.kind) {
				name, ok, best = s.name, true, s.start
			}
		}
	}
	return name, ok
}

func isScope(k format.Kind) bool {
	return k == format.KindTask || k == format.KindTaskf || k == format.KindProcess
}
