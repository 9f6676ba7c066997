package trace

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
)

// stretchBytes is the approximate number of bytes of records in a stretch: with its tables it fits
// a processor's own cache, and its work is many times the cost of passing it on.
const stretchBytes = 512 << 10

// eventRun is one run over the events.
type eventRun struct {
	t     *Trace
	o     Options
	ends  *endIndex
	cpuAt CPUAt // nil: CPU times are as recorded
	endOf EndOf // nil: the ends of goroutines are not known

	wantsDepth bool // the scopes that run on a row are needed
	wantsRuns  bool // scopes that continue from stretch to stretch are needed
	wantsRow   bool // the row of each event is needed
	wantsRows  bool // rows are needed at all

	order []int32 // indexes of the chunks to read, by Since
	to    int64   // ticks: end of the run
	all   bool    // no chunk is left out

	mu     sync.Mutex
	next   int   // of order
	parts  int   // parts of the last cut that are still to be taken
	part   int64 // ticks of each of them
	cut    int64 // end of the last stretch
	until  int64 // end of the last of the parts
	begun  bool
	cutAll bool           // the last stretch was taken
	in     chan []slice   // of the next stretch
	turn   chan *runState // of the next stretch
	ended  bool           // the line is closed
	free   []*cursor
	unused []*stretch

	line chan *stretch // stretches taken, in order
	room chan struct{} // bounds the stretches taken at once
	quit chan struct{}

	problems problems
	joined   int64
	lost     int64
	complete bool // all records were seen
}

func (t *Trace) newEventRun(o *Options) (*eventRun, error) {
	ends, err := t.endsApart()
	if err != nil {
		return nil, err
	}
	r := &eventRun{t: t, o: *o, ends: ends, problems: problems{}, quit: make(chan struct{})}
	if !o.AsRecorded {
		if r.cpuAt, err = t.cpuTimes.get(); err != nil {
			return nil, err
		}
		r.endOf = t.cpuTimes.ends()
	}
	if r.o.Stretch == 0 {
		r.o.Stretch = stretchBytes
	}
	r.wantsDepth = o.Detail == Depths && !o.Running && !o.Within
	r.wantsRuns = r.wantsDepth || o.Running
	r.wantsRow = o.Detail <= Tracks && !o.Within
	r.wantsRows = r.wantsRuns || r.wantsRow
	r.order, r.to, r.all = t.chunksOf(o)
	r.problems.atLeast(ends.problem)
	return r, nil
}

// nextStretch returns the next stretch, nil behind the last.
func (r *eventRun) nextStretch() *stretch {
	if r.cutAll {
		return nil
	}
	st := &stretch{rows: localRows{deep: r.wantsDepth}, byKey: map[uint64]int32{}, problems: problems{}}
	if n := len(r.unused); n > 0 {
		st, r.unused = r.unused[n-1], r.unused[:n-1]
	}
	st.from = r.cut
	if r.parts == 0 {
		st.own = r.cutChunks()
	}
	r.parts--
	st.to = r.until
	if r.parts > 0 {
		st.to = st.from + r.part
	}
	r.cut = st.to
	st.last = r.parts == 0 && r.next == len(r.order)
	if !r.begun {
		r.begun, st.first = true, true
		st.reconstructed = r.ends.reconstructed
		r.in, r.turn = make(chan []slice, 1), make(chan *runState, 1)
		r.in <- nil
		r.turn <- &runState{rows: newRows(), running: newRunningRows()}
	}
	st.prevSlices, st.prevState = r.in, r.turn
	st.nextSlices, st.nextState, st.ready = make(chan []slice, 1), make(chan *runState, 1), make(chan struct{}, 1)
	r.in, r.turn, r.cutAll = st.nextSlices, st.nextState, st.last
	st.stop = math.MaxInt64
	return st
}

// cutChunks takes the chunks for the next stretches.
func (r *eventRun) cutChunks() []int32 {
	size := int(r.t.header.ChunkSize)
	n := min(max(r.o.Stretch/size, 1), len(r.order)-r.next)
	own := r.order[r.next : r.next+n]
	r.next += n
	r.until = r.to
	if r.next < len(r.order) {
		r.until = max(r.t.chunks[r.order[r.next]].Since, r.cut)
	}
	r.parts = 1
	if parts := int64(size / r.o.Stretch); parts > 1 && n > 0 {
		begin := max(r.cut, r.t.chunks[own[0]].Since)
		if part := (min(r.until, max(r.t.last, begin)) - begin) / parts; part > 0 {
			r.parts, r.part = int(parts), part
		}
	}
	return own
}

// cursor returns a free cursor.
func (r *eventRun) cursor() *cursor {
	r.mu.Lock()
	if len(r.free) == 0 {
		r.free = append(r.free, &cursor{})
	}
	n := len(r.free) - 1
	c := r.free[n]
	r.free = r.free[:n]
	r.mu.Unlock()
	c.reset()
	return c
}

// release frees the memory of a finished stretch.
func (r *eventRun) release(st *stretch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range st.held {
		if c.users.Add(-1) == 0 {
			r.free = append(r.free, c)
		}
	}
	clear(st.held)
	clear(st.slices)
	clear(st.byKey)
	clear(st.problems)
	*st = stretch{
		held: st.held[:0], slices: st.slices[:0], merge: merge{heap: st.merge.heap[:0]}, loaded: st.loaded[:0], rows: localRows{pages: st.rows.pages, deep: st.rows.deep}, byKey: st.byKey,
		marks: st.marks[:0], pending: st.pending[:0], problems: st.problems,
	}
	r.unused = append(r.unused, st)
}

// run processes all stretches. ahead goroutines prepare them, and call the function that worker
// made for each goroutine, unless it is nil. Then f is called with them, in order, on the caller's
// goroutine, which does everything if ahead is 0.
func (r *eventRun) run(ahead int, worker func() func(*stretch), f func(*stretch) (more bool, err error)) error {
	err := r.each(ahead, worker, f)
	if r.complete && !r.o.Within {
		r.problems.add(textOrphanEnd, 0, r.ends.total-r.joined-r.lost)
	}
	t := r.t
	t.mu.Lock()
	t.eventProblems.atLeast(r.problems)
	t.mu.Unlock()
	return err
}

// workers returns how many goroutines there is work for; 0: a single one is not worth it.
func (r *eventRun) workers() int {
	if r.o.Alone {
		return 0
	}
	if r.t.workers != 0 {
		return max(r.t.workers, 0)
	}
	n := min(runtime.GOMAXPROCS(0), len(r.order)*int(r.t.header.ChunkSize)/r.o.Stretch)
	if n <= 1 {
		return 0
	}
	return n
}

// each is run without the problems of the run as a whole.
func (r *eventRun) each(ahead int, worker func() func(*stretch), f func(*stretch) (more bool, err error)) error {
	if ahead == 0 {
		h, work := r.newStretchReader(), worker()
		for st := r.nextStretch(); st != nil; st = r.nextStretch() {
			h.do(st, work)
			if more, err := r.finish(st, f); err != nil || !more {
				return err
			}
		}
		return nil
	}
	r.line, r.room = make(chan *stretch, ahead+2), make(chan struct{}, ahead+2)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(r.quit)
	for range ahead {
		wg.Go(func() {
			h, work := r.newStretchReader(), worker()
			for st := r.nextStretchInLine(); st != nil; st = r.nextStretchInLine() {
				h.do(st, work)
			}
		})
	}
	for st := range r.line {
		close(st.due)
		<-st.ready
		if st.panicked != nil {
			panic(st.panicked)
		}
		if more, err := r.finish(st, f); err != nil || !more {
			return err
		}
		<-r.room
	}
	return nil
}

// nextStretchInLine is nextStretch for one of several goroutines: it waits for room.
func (r *eventRun) nextStretchInLine() *stretch {
	select {
	case r.room <- struct{}{}:
	case <-r.quit:
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.nextStretch()
	switch {
	case st != nil:
		st.due = make(chan struct{})
		r.line <- st // the line has as much room
	case !r.ended:
		r.ended = true
		close(r.line)
	}
	return st
}

// do prepares the stretch and calls work.
func (h *stretchReader) do(st *stretch, work func(*stretch)) {
	done := false
	defer func() {
		if !done {
			st.panicked = cmp.Or(recover(), any("a callback ended a goroutine that reads the trace (runtime.Goexit)"))
		}
		st.ready <- struct{}{}
	}()
	if !h.prepare(st) {
		done = true
		return
	}
	select {
	case s := <-st.prevState:
		h.r.passState(st, s)
		st.nextState <- s
	case <-h.r.quit:
		done = true
		return
	}
	if work != nil {
		work(st)
	}
	done = true
}

// finish calls f with a stretch, and adds the stretch's problems and counts.
func (r *eventRun) finish(st *stretch, f func(*stretch) (more bool, err error)) (more bool, err error) {
	more, err = f(st)
	for _, l := range st.loaded {
		if l.since <= st.stop {
			r.problems.sum(l.problems)
		}
	}
	r.problems.sum(st.problems)
	r.joined += st.joined
	r.lost += st.lost
	if st.tracksDropped {
		r.problems.set(textManyRows, 1)
	}
	if st.last && more && err == nil {
		r.complete = r.all && len(<-st.nextSlices) == 0 && len((<-st.nextState).pending) == 0
	}
	r.release(st)
	return more, err
}

// passState gives the stretch the state that it needs, and adds the stretch's own for those that
// follow.
func (r *eventRun) passState(st *stretch, s *runState) {
	for _, c := range st.held[:st.ownCount] {
		for _, w := range c.pending {
			s.push(w)
		}
	}
	for len(s.pending) > 0 && s.pending[0].stop < st.to {
		w := s.pop()
		st.pending = append(st.pending, w)
		if r.wantsRows {
			st.row(w.row())
		}
	}
	if !r.wantsRows {
		return
	}
	if r.o.Running {
		s.running.makeRoom(st)
	}
	if r.wantsDepth {
		s.rows.makeRoom(st.rows.n, st.from)
	}
	for x := range st.rows.all {
		if g := s.rows.m[x.key]; g != nil {
			g.running(st.from)
			x.depth.nested, x.depth.open = append(x.depth.nested, g.nested...), g.open
			if g.outlasting != nil && len(*g.outlasting) > 0 {
				late := slices.Clone(*g.outlasting)
				x.depth.outlasting = &late
			}
			x.track, x.depth.global = g.track, g
		} else {
			x.track = s.rows.tracks.get(x.key)
		}
		x.trackAtEnd = x.track
		if r.o.Running {
			s.running.addTo(x, st.to)
		}
	}
	for i := range st.marks {
		m := &st.marks[i]
		x := st.rows.at(m.row)
		if m.stop == 0 {
			x.trackAtEnd = uint16(m.head >> 48)
			continue
		}
		if r.wantsDepth {
			if x.depth.global == nil {
				x.depth.global = s.rows.get(x.key)
			}
			x.depth.global.addScope(m.stop)
		}
		if r.o.Running {
			s.running.add(x, m, st.to)
		}
	}
	for x := range st.rows.all {
		switch {
		case x.trackAtEnd == x.track:
		case x.depth != nil && x.depth.global != nil:
			x.depth.global.track = x.trackAtEnd
		default:
			s.rows.tracks.put(x.key, x.trackAtEnd)
		}
	}
	st.tracksDropped = s.rows.tracks.dropped
}
