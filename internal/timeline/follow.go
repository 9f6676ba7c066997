package timeline

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Poll adds what the trace of f, which was passed to Load, has received since the last call.
// It reports whether there was any news, and whether the trace is done: closed and read
// completely.
func (x *Index) Poll(f *trace.Follower) (news, done bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.news.last
	x.round++
	x.breaks = analysis.Breaks(f.Trace().Breaks())
	done, err = f.Poll(func(e *trace.Event) bool {
		x.add(e)
		return true
	})
	if err != nil {
		x.arrange(f.Trace().End())
		return x.news.last != before, done, err
	}
	err = f.Open(func(e *trace.Event) bool {
		x.begun(e)
		return true
	})
	x.gone()
	clear(x.taken) // loaded items ended before this poll
	x.arrange(f.Trace().End())
	return x.news.last != before, done, err
}

// add adds an event of a Follower: scopes by their ends, and instants.
func (x *Index) add(e *trace.Event) {
	if s := x.open[e.Loc]; s != nil && s.kind == e.Kind && s.name == e.Name {
		x.over(s)
		x.census.Ended(e)
		x.locks.add(e, s.row)
		r := x.rows[s.row]
		row, depth := s.row, s.depth
		if e.Kind == format.KindPending {
			r.arrived(s)
			x.fill(s, r, e)
			s.row = row
			r.instant(s)
			x.news.add(s)
			return
		}
		queued := r.extra != nil && slices.Contains(r.extra.queue, s)
		x.spans[row].reach(e)
		x.fill(s, r, e)
		s.row, s.depth = row, depth
		switch {
		case queued:
		case r.last > s.end():
			// It had ended before the last one on its lane began: the file was read while it
			// was written, this chunk before that one. The later ones are placed again.
			r.lanes[s.depth].rare.open = r.lanes[s.depth].rare.open[:0]
			x.enqueue(r, s)
		default:
			r.ended(s)
			x.news.add(s)
		}
		return
	}
	if _, ok := x.taken[e.Loc]; ok {
		return // not by its times: they change as the clock is calibrated
	}
	x.census.Add(e)
	r := x.rowOf(e)
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
		x.items++
		x.scopes++
		x.locks.add(e, r.at)
		x.enqueue(r, x.scope(r, e))
	default:
		if s := x.other(r, e); s.kind != 0 {
			x.news.add(&s)
		}
	}
}

// begun adds a scope that is open now.
func (x *Index) begun(e *trace.Event) {
	if s := x.open[e.Loc]; s != nil {
		s.seen = x.round
		return
	}
	x.census.Add(e)
	r := x.rowOf(e)
	s := x.scope(r, e)
	x.begin(s)
	x.items++
	if e.Kind == format.KindPending {
		r.announce(s)
		return
	}
	x.scopes++
	x.locks.add(e, r.at)
	x.enqueue(r, s)
}

// gone drops open scopes that the follower no longer lists without having delivered them, as
// after a file was overwritten.
func (x *Index) gone() {
	for _, s := range x.open {
		if s.seen == x.round {
			continue
		}
		x.over(s)
		delete(x.locks.open, s.loc)
		r := x.rows[s.row]
		x.items--
		if s.kind == format.KindPending {
			r.arrived(s)
			continue
		}
		x.scopes--
		if r.extra != nil {
			if i := slices.Index(r.extra.queue, s); i >= 0 {
				r.extra.queue = slices.Delete(r.extra.queue, i, i+1)
				continue
			}
		}
		l := &r.lanes[s.depth]
		l.rare.open = l.rare.open[:0]
		l.until = s.start
	}
}

// openScope is an open scope, or an announced event.
type openScope struct {
	Goid   uint64
	Track  uint16 // name of its row
	Depth  int32  // its lane; laneInstants: an announced event
	Name   uint16
	Kind   format.Kind
	Start  int64
	Thread uint32
	Args   string // JSON, or empty
}

// Open returns the currently open items, by start.
func (x *Index) Open() []openScope {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := make([]openScope, 0, len(x.open))
	for _, s := range x.open {
		o := openScope{
			Goid: x.rows[s.row].goid, Track: x.rows[s.row].track, Depth: laneNumber(int(s.depth)), Name: s.name, Kind: s.kind,
			Start: s.start, Thread: x.threads.ids[s.thread], Args: string(x.texts.get(s.args)),
		}
		if s.kind == format.KindPending {
			o.Depth = laneInstants
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b openScope) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goid, b.Goid), cmp.Compare(a.Depth, b.Depth))
	})
	return list
}
