package timeline

import (
	"math"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Index holds every scope of a trace, some 25 bytes each, or for a large trace runs of them.
// A stretch of time is found by binary search and drawn at any resolution. Its methods may
// be called from several goroutines.
//
// # Design
//
// A row is a goroutine; a lane is one depth of a row, or its instants. The items of a lane
// do not overlap and are ordered by start.
//
//  1. A scope's lane is determined in the order of the starts, from
//     the scopes that run on its row at that moment. So an open scope keeps its lane
//     when it ends. A trace that is read while it grows gives the same lanes as
//     one that is read at its end.
//  2. Open scopes are not among the lanes' items but follow them: their lane
//     is reserved until they end, so an end appends an item.
//  3. Nothing is ever inserted between items. Otherwise the indexes of the
//     rare parts (arguments, the goroutine that ended it) would change. If a scope comes too
//     late, the later items are placed again; that happens only if a trace was
//     read in an unlucky moment.
//  4. A thin index has no items. It is made from events sorted by start, which
//     those of a trace that does not change are. It may be used while it is loaded.
type Index struct {
	mu sync.Mutex
	t  *trace.Trace

	breaks  analysis.Breaks
	rows    []*row // by first activity
	spans   []span // of the rows
	byGoid  map[uint64]*row
	latest  [256]*row // cache of the last rows, by goroutine
	open    map[format.Loc]*scope
	round   uint32
	threads threadList
	texts   texts
	lister  *args.Lister
	json    []byte
	series  seriesSet
	locks   locks
	queued  []*row // rows with a queue
	census  analysis.Census
	items   int64 // scopes and instants, open ones included
	scopes  int64
	linked  int64 // number of items that have a link
	end     int64
	since   int64 // items loaded that ended from here on are in taken
	taken   map[format.Loc]struct{}
	news    news
	coming  scope // the item being added

	// thin replaces the items in a thin index; nil: every item is there.
	thin *thinIndex
	// part marks an index of a stretch of the trace. It does not count again what the whole
	// index has (threads, counters, locks).
	part bool
	// choose, if not nil, selects the items to keep.
	choose func(r *row, s *scope) bool
}

// newIndex returns an empty index for the events of a Follower of t. t provides names, the
// clock's steps and the end.
func newIndex(t *trace.Trace) *Index {
	x := &Index{
		t: t, breaks: t.Breaks(), byGoid: map[uint64]*row{}, open: map[format.Loc]*scope{},
		threads: newThreadList(), texts: newTexts(),
		series: seriesSet{}, locks: newLocks(), end: t.End(), since: math.MaxInt64, taken: map[format.Loc]struct{}{},
	}
	x.lister = args.NewLister(t.Name)
	return x
}

// take adds an event of Events, which come by start.
func (x *Index) take(e *trace.Event) {
	if !x.part {
		x.census.Add(e)
	}
	if (!e.Open || e.Left) && e.Start+e.Dur >= x.since {
		x.taken[e.Loc] = struct{}{}
	}
	r := x.rowOf(e)
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
		x.items++
		x.scopes++
		if !x.part {
			x.locks.add(e, r.at)
		}
		if e.Open && !e.Left {
			s := x.scope(r, e)
			x.begin(s)
			x.place(r, s)
			return
		}
		s := &x.coming
		*s = scope{}
		x.plain(s, r, e)
		if e.Start < r.last && len(r.lanes) > 0 {
			late := *s
			late.args = x.texts.add(x.argsOf(e))
			x.enqueue(r, &late)
			return
		}
		x.put(r, r.lane(s), s, e)
	default:
		x.other(r, e)
	}
}

// put adds an ended item to its lane, if choose selects it.
func (x *Index) put(r *row, l *lane, s *scope, e *trace.Event) {
	if x.choose == nil || x.choose(r, s) {
		x.keep(r, l, s, x.argsOf(e))
	}
}

// keep adds a selected item; text are its arguments.
func (x *Index) keep(r *row, l *lane, s *scope, text []byte) {
	if x.thin != nil {
		x.putThin(r, l, s, text)
		return
	}
	s.args = x.texts.add(text)
	l.put(s)
}

// begin adds an open item, and over removes it.
func (x *Index) begin(s *scope) {
	x.open[s.loc] = s
	x.spans[s.row].open++
}

func (x *Index) over(s *scope) {
	delete(x.open, s.loc)
	x.spans[s.row].open--
}

func (x *Index) place(r *row, s *scope) {
	if s.start < r.last && len(r.lanes) > 0 {
		x.enqueue(r, s)
		return
	}
	r.place(s)
}

// other adds an event that is no scope.
func (x *Index) other(r *row, e *trace.Event) (s scope) {
	switch e.Kind {
	case format.KindEvent, format.KindPending:
		x.items++
		if e.Open {
			s := x.scope(r, e)
			x.begin(s)
			r.announce(s)
			return *s
		}
		x.plain(&s, r, e)
		x.instant(r, &s, e)
	case format.KindCounter:
		x.fill(&s, r, e)
		x.series.add(e.Name, e.Start, counted(e))
		s.cpu = int64(math.Float64bits(counted(e)))
	case format.KindTrack, format.KindGo:
		if e.Goid != 0 {
			r.track = e.Name
		}
		if e.Kind == format.KindGo && e.Goid != 0 {
			m := r.more()
			m.linked, m.creator, m.created, m.start = true, e.Creator, e.Created, e.Start
		}
		x.fill(&s, r, e)
	}
	return s
}

// instant adds an instant to its row.
func (x *Index) instant(r *row, s *scope, e *trace.Event) {
	if x.thin != nil || x.choose != nil {
		x.put(r, &r.more().instants, s, e)
		return
	}
	s.args = x.texts.add(x.argsOf(e))
	r.instant(s)
}

// scope converts e to the index's form.
func (x *Index) scope(r *row, e *trace.Event) *scope {
	s := &scope{}
	x.fill(s, r, e)
	return s
}

func (x *Index) fill(s *scope, r *row, e *trace.Event) {
	x.plain(s, r, e)
	s.args = x.texts.add(x.argsOf(e))
}

// plain is fill without the arguments.
func (x *Index) plain(s *scope, r *row, e *trace.Event) {
	s.start, s.dur, s.cpu, s.loc = e.Start, e.Dur, e.CPU, e.Loc
	s.row, s.name, s.kind, s.endGoid = r.at, e.Name, e.Kind, e.EndGoid
	s.flags = flagsOf(e, x.breaks)
	s.seen = x.round
	s.thread = x.threads.of(e.Thread)
}

// flagsOf returns the flags of e's item.
func flagsOf(e *trace.Event, breaks analysis.Breaks) uint8 {
	flags := uint8(e.Quality) & flagQuality
	switch {
	case e.Left:
		flags = flagLeft
	case e.Open:
		flags = flagOpen
	}
	if len(breaks) > 0 && breaks.Across(e) {
		flags |= flagAcross
	}
	if e.CalledOff() {
		flags |= flagOff
	}
	return flags
}

// hasArgs reports whether e has arguments.
func hasArgs(e *trace.Event) bool {
	return e.Left || len(e.Args)+len(e.EndArgs) > 0 && e.Kind != format.KindCounter || e.Kind == format.KindProcess || e.Kind == format.KindTaskf
}

// argsOf returns the arguments as JSON, valid until the next call; nil if there are none.
func (x *Index) argsOf(e *trace.Event) []byte {
	if !hasArgs(e) {
		return nil
	}
	if _, ok := e.Link(); ok {
		x.linked++
	}
	x.json = args.AppendJSON(x.json[:0], x.lister.List(e))
	return x.json
}

func (x *Index) rowOf(e *trace.Event) *row {
	latest := &x.latest[e.Goid%uint64(len(x.latest))]
	r := *latest
	if r == nil || r.goid != e.Goid {
		r = x.byGoid[e.Goid]
		if r == nil {
			r = x.newRow(e.Goid, e.Start)
		}
		*latest = r
	}
	x.spans[r.at].reach(e)
	if e.Track != r.track && e.Track != format.NameEmpty && e.Goid != 0 {
		r.track = e.Track
	}
	return r
}

// newRow creates a goroutine's row, which begins at start.
func (x *Index) newRow(goid uint64, start int64) *row {
	r := &row{goid: goid, at: int32(len(x.rows)), last: math.MinInt64}
	x.byGoid[goid] = r
	x.rows = append(x.rows, r)
	x.spans = append(x.spans, span{from: start, to: start})
	return r
}

func (x *Index) enqueue(r *row, s *scope) {
	m := r.more()
	if len(m.queue) == 0 {
		x.queued = append(x.queued, r)
	}
	m.queue = append(m.queue, s)
}

// arrange places the queued scopes.
func (x *Index) arrange(end int64) {
	x.end = max(x.end, end)
	for _, r := range x.queued {
		came := append([]*scope(nil), r.extra.queue...)
		if r.arrange() {
			x.news.restart()
		}
		x.news.add(came...)
	}
	clear(x.queued)
	x.queued = x.queued[:0]
	x.series.sort()
}

// Has reports whether a goroutine has a row.
func (x *Index) Has(goid uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.byGoid[goid] != nil
}

// Items returns the number of scopes and instants, open ones included.
func (x *Index) Items() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.items
}
