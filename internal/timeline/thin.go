package timeline

import (
	"math"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// thin replaces the items of a lane, in the index of a large trace.
type thin struct {
	runs runList // at the index's resolution, or parts of such runs
	long *lane   // items that ran when a stretch began; nil: none
	now  *tip    // unfinished run; nil: no further item can join
}

// tip is the end of a thin lane while it is loaded.
type tip struct {
	run  run    // not in the lane yet; count 0: none
	last scope  // latest item, which is that of a single-item run
	text []byte // its arguments
	kept bool   // last is in long
}

// thinIndex replaces the items in the index of a large trace. See the package's comment.
type thinIndex struct {
	base    int64      // resolution of the lanes' runs
	runs    int        // number in all lanes
	most    int        // maximum number for the whole trace
	may     int        // maximum number for the part read so far; with more they become coarser
	details runDetails // of single-item runs, whose item is the place
	text    int        // maximum bytes of their texts
	mixed   bool       // a lane has both waits and others
	// careful makes the resolution grow only as far as necessary: at half of it there are
	// more than most.
	careful bool

	stretches
	links   linkIndex
	cache   pieceCache
	pieced  int64 // maximum number of items that are examined individually
	loading bool
	early   time.Duration // see Size
	now     int64         // start of the latest event
	holds   []heldAt      // holds whose scope is not known yet
	free    []*tip
	rows    []*row   // rows of the current batch
	threads []uint16 // threads of the current batch
}

func newThin(size Size) *thinIndex {
	return &thinIndex{
		pieced: size.Most,
		base:   1, most: size.Runs, may: size.Runs, details: newRunDetails(), text: textMost, loading: true, early: size.Early, now: math.MinInt64,
		stretches: stretches{every: size.Every, running: size.Running, begins: []int64{math.MinInt64}, before: []int64{0}},
	}
}

// heavy reports whether there are too many runs or texts.
func (x *thinIndex) heavy() bool {
	n := x.runs
	if !x.careful {
		n += len(x.details.list)
	}
	return n > x.may || len(x.details.bytes) > x.text && !x.careful
}

// expect sets the limit according to the part of the trace that was read. A trace is similar
// everywhere: so the resolution is found early, when there is little to make coarser.
func (x *thinIndex) expect(share float64) {
	if !x.careful {
		x.may = int(float64(x.most) * min(share+1./16, 1))
	}
}

// finest returns the finest resolution at which the runs give a tile. It is never that of
// every item.
func (x *thinIndex) finest() int64 {
	if x.mixed && x.base > 1 {
		return x.base << mixed
	}
	return max(x.base, 2)
}

// Loading reports whether the index is still being loaded, and the part of the trace's time
// read so far.
func (x *Index) Loading() (share float64, loading bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.thin == nil || !x.thin.loading {
		return 1, false
	}
	return min(max(float64(x.thin.now)/float64(max(x.end, 1)), 0), 1), true
}

// putThin adds an item to a thin lane.
func (x *Index) putThin(r *row, l *lane, s *scope, text []byte) {
	th := x.thin
	if r.live == rowIdle {
		th.live = append(th.live, r)
	}
	r.live = rowTouched
	l.has(s.kind)
	th.mixed = th.mixed || l.kinds == hasBoth
	m := l.more()
	if m.thin == nil {
		m.thin = &thin{}
	}
	g := m.thin.now
	if g == nil {
		g = th.tip()
		m.thin.now = g
	}
	one := run{
		bounds: bounds{s.start, s.start + s.dur, s.dur}, count: 1,
		name: s.name, thread: s.thread, kind: s.kind, flags: s.flags,
	}
	if g.run.count > 0 && g.run.joins(&one, th.base) {
		g.run.add(&one)
	} else {
		x.endRun(m.thin)
		g.run = one
		if th.heavy() {
			x.coarsen()
		}
	}
	g.last, g.text, g.kept = *s, append(g.text[:0], text...), false
}

// tip returns a free tip.
func (x *thinIndex) tip() *tip {
	if n := len(x.free); n > 0 {
		g := x.free[n-1]
		x.free = x.free[:n-1]
		return g
	}
	return &tip{}
}

// endRun adds the unfinished run to the lane. The next item starts another run, though it
// might have joined: a later merge joins them.
func (x *Index) endRun(t *thin) {
	g, th := t.now, x.thin
	if g.run.count == 0 {
		return
	}
	if g.run.count == 1 {
		s := &g.last
		if s.flags&flagQuality != 0 {
			g.run.busy = s.dur - s.cpu
		}
		g.run.item = th.details.add(g.text, s.endGoid)
	}
	t.runs.push(&g.run)
	th.runs++
	g.run.count = 0
}

// endRuns ends all unfinished runs; done: no more items follow.
func (x *Index) endRuns(done bool) {
	for _, r := range x.thin.live {
		x.endRunsOf(r, done)
	}
	if done {
		x.thin.live, x.thin.free = nil, nil
	}
}

func (x *Index) endRunsOf(r *row, done bool) {
	for d := range r.lanes {
		x.endRunOf(&r.lanes[d], done)
	}
	if r.extra != nil {
		x.endRunOf(&r.extra.instants, done)
	}
	if done {
		r.live = rowIdle
	}
}

func (x *Index) endRunOf(l *lane, done bool) {
	t := l.thin()
	if t == nil || t.now == nil {
		return
	}
	x.endRun(t)
	if done {
		x.thin.free = append(x.thin.free, t.now)
		t.now = nil
	}
}

// coarsen merges the runs at coarser resolutions until they are few enough.
func (x *Index) coarsen() {
	th := x.thin
	for th.heavy() {
		if th.base >= coarsest>>mixed { // too many lanes
			th.most, th.text = 2*(th.runs+len(th.details.list)), 2*len(th.details.bytes)
			th.may = th.most
			return
		}
		th.base = x.coarser()
		old := th.details
		th.runs, th.details = 0, newRunDetails()
		x.eachThin(func(l *lane, t *thin) {
			l.rare.levels = levels{}
			var made runList
			m := newMerger(th.base, false, math.MinInt64, math.MaxInt64, func(r *run) {
				if r.count == 1 {
					r.item = th.details.add(old.at(r.item))
				}
				made.push(r)
			})
			t.runs.give(m, 0, t.runs.len())
			m.end()
			t.runs = made
			th.runs += made.len()
		})
	}
}

// coarser returns a resolution at which the runs are somewhat fewer than the limit,
// estimated from the last ones of each lane.
func (x *Index) coarser() int64 {
	th := x.thin
	for res := 2 * th.base; ; res *= 2 {
		all, left := 0, 0
		x.eachThin(func(_ *lane, t *thin) {
			n := t.runs.len()
			part := min(n, max(64, n/32))
			all += part
			m := newMerger(res, false, math.MinInt64, math.MaxInt64, func(*run) { left++ })
			t.runs.give(m, n-part, n)
			m.end()
		})
		if res >= coarsest>>mixed || float64(left)/float64(all)*float64(th.runs) < 0.7*float64(th.may) {
			if th.careful { // the estimate may be too coarse
				res = max(2*th.base, res/2)
			}
			return res
		}
	}
}

// eachThin visits the lanes with runs.
func (x *Index) eachThin(f func(l *lane, t *thin)) {
	x.eachLane(math.MinInt64, math.MaxInt64, func(l *lane) {
		if t := l.thin(); t != nil {
			f(l, t)
		}
	})
}

// heldAt is a hold whose scope is not known yet.
type heldAt struct {
	lock  *lock
	at    int // index in the lock's holds; -1: open
	loc   format.Loc
	row   int32
	start int64
}

// holdsIn finds the scopes of the holds from the n-th on. They, and scopes that began at the
// same moment, are the latest on their rows.
func (x *Index) holdsIn(n int) {
	th := x.thin
	for _, h := range th.holds[n:] {
		name, ok := x.scopeNow(h.row, h.start)
		if h.at >= 0 {
			span := &h.lock.holds[h.at]
			span.scope, span.inScope = name, ok
		} else if o, there := x.locks.open[h.loc]; there {
			o.span.scope, o.span.inScope = name, ok
			x.locks.open[h.loc] = o
		}
	}
	th.holds = th.holds[:n]
}

// scopeNow is scopeAt for the moment at which a row's latest items began.
func (x *Index) scopeNow(row int32, t int64) (name uint16, ok bool) {
	best := int64(math.MinInt64)
	r := x.rows[row]
	for d := range r.lanes {
		l := &r.lanes[d]
		if th := l.thin(); th != nil && th.now != nil {
			if s := &th.now.last; s.start+max(s.dur, 0) > t && s.start >= best && isScope(s.kind) {
				name, ok, best = s.name, true, s.start
			}
		}
		if s := l.opened(t); s != nil && s.start >= best {
			name, ok, best = s.name, true, s.start
		}
	}
	return name, ok
}

// opened returns the open scope of a lane, if it began by t.
func (l *lane) opened(t int64) *scope {
	if l.rare == nil {
		return nil
	}
	for _, s := range l.rare.open {
		if s.start <= t && isScope(s.kind) {
			return s
		}
	}
	return nil
}
