package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// lockKey identifies a locked object: several may share a name, and an address may be
// reused.
type lockKey struct {
	addr uint64
	name uint16
}

// lock has the waits for an object and its holds.
type lock struct {
	lockKey
	kind         format.LockKind
	sums         *lockSums // nil: not counted
	waits, holds []lockSpan
	unsorted     bool
}

// lockSums are the recorder's counters of an object, which include unrecorded waits.
type lockSums struct {
	Had   int64 `json:"had"`   // acquisitions; -1: not known
	Not   int64 `json:"not"`   // of Had: those that had to wait
	Short int64 `json:"short"` // of Not: waits too short for a record
	Brief int64 `json:"brief"` // ns of these
}

// lockSpan is one wait or hold.
type lockSpan struct {
	start, end int64
	row        int32
	shared     bool
	inScope    bool   // holds of a thin index: begun in a scope
	scope      uint16 // name of that scope
}

// locks are the locks of an index.
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

// add adds a wait or a hold of a row, and ignores other events. It returns the object.
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

// of returns an object, and adds it if there is none.
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

// count adds the counters of a trace that does not grow.
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

// lockSpans returns all waits, or all holds, of l up to now, by start.
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

// holder is a stretch in which an object was held: a single hold, or several that overlap,
// as readers do, or are narrow neighbours.
type holder struct {
	bounds
	shared  bool
	count   int
	longest lockSpan
}

// holders visits the holders of holds that touch [from, to], merged at an even resolution.
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

// waiting visits the number of waiters over time: from t until the next visit, the maximum,
// and the sum of their times. At a resolution there are at most two visits for each stretch.
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
		if last > begin { // the state after last may be long, and is separate from the stretch
			visit(begin, most, sum)
			most, sum = n, 0
		}
		if i < len(steps) {
			sum = int64(n) * (steps[i].t - last)
		}
		visit(last, most, sum)
	}
}

// scopeOf returns the name of the scope in which a hold began, and whether there was one.
func (x *Index) scopeOf(h *lockSpan) (name uint16, ok bool) {
	if x.thin != nil {
		return h.scope, h.inScope
	}
	return x.scopeAt(h.row, h.start)
}

// scopeAt returns the name of the innermost scope on a row at a moment, which may have begun
// then, and whether there was one.
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
