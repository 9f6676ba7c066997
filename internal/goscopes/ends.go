package goscopes

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// openScopes are the regions and tasks that have begun and not ended, and what tells an end that
// has no begin here from one that came twice.
//
// A goroutine that was made inside the trace has no region from before it: an end without a begin
// there ends a region again, or one of another goroutine. Only on one that was there before the
// trace can it end a region from before it. A recording of the same program says the same; see
// the misuses in package scope.
type openScopes struct {
	regions map[uint64][]*scope          // by goroutine
	places  map[region]places            // where such regions are open
	tasks   map[uint64]*scope            // by number
	born    map[uint64]struct{}          // goroutines that were made inside the trace, and live
	ended   map[uint64]map[uint16]uint64 // by goroutine that lives, and name: the task of the last region that it began and ended
	known   map[uint64]uint64            // 64 tasks each, a bit for each that has begun or ended here
	double  int64                        // ends of what had ended
	foreign int64                        // ends of regions on another goroutine than their begin's
	whole   bool                         // no trace of the program was taken before this one: it has the begins of all that runtime/trace.StartRegion began
	lost    bool                         // a part could not be read: what ends may have begun there
	since   int64                        // where what began before the trace, or there, is shown from
}

// region is what an end says of the region that it ends.
type region struct {
	name uint16
	task uint64
}

// places are the goroutines that have a region open. Of one alone goids is its number.
type places struct {
	n     int
	goids uint64 // all of them, by exclusive or
}

func newOpenScopes() openScopes {
	return openScopes{
		regions: map[uint64][]*scope{}, places: map[region]places{}, tasks: map[uint64]*scope{}, born: map[uint64]struct{}{},
		ended: map[uint64]map[uint16]uint64{}, known: map[uint64]uint64{}, since: startTicks,
	}
}

func (o *openScopes) beginRegion(r *scope) {
	o.regions[r.Goid()] = append(o.regions[r.Goid()], r)
	o.place(r, 1)
}

// place counts that so many more of a region are open.
func (o *openScopes) place(r *scope, n int) {
	p := o.places[r.region()]
	p.n, p.goids = p.n+n, p.goids^r.Goid()
	if p.n == 0 {
		delete(o.places, r.region())
	} else {
		o.places[r.region()] = p
	}
}

func (o *openScopes) beginTask(t *scope) {
	o.tasks[t.task] = t
	o.meet(t.task)
}

// meet notes that a task was met, and reports whether it had been before.
func (o *openScopes) meet(task uint64) bool {
	bit := uint64(1) << (task % 64)
	met := o.known[task/64]&bit != 0
	o.known[task/64] |= bit
	return met
}

// take takes the innermost open region of a goroutine that an end can end; nil: there is none.
func (o *openScopes) take(goid uint64, what region) *scope {
	inside := o.regions[goid]
	for i, r := range slices.Backward(inside) {
		if r.region() != what {
			continue
		}
		if inside = slices.Delete(inside, i, i+1); len(inside) == 0 {
			delete(o.regions, goid)
		} else {
			o.regions[goid] = inside
		}
		o.place(r, -1)
		return r
	}
	return nil
}

func (s *scope) region() region { return region{s.Name(), s.task} }

// early begins a scope that had begun before the trace.
func (c *converter) early(e *event, name uint16) *scope {
	s := c.scope(format.KindTask, e, c.open.since)
	s.Head = format.Head(e.goid, format.KindTask, false, name)
	s.thread, s.task, s.early = 0, e.a, true
	return s
}

// endTask ends a task, which any goroutine may do.
func (c *converter) endTask(e *event, now int64) {
	t := c.open.tasks[e.a]
	delete(c.open.tasks, e.a)
	met := c.open.meet(e.a)
	if t == nil && met {
		c.open.double++
		return
	}
	if t == nil {
		t = c.early(e, c.Name("(task)"))
	}
	c.endScope(t, e, now)
}

// endScope ends a scope: in its record where that is of this generation, and its goroutine ends it.
func (c *converter) endScope(s *scope, e *event, now int64) {
	by := e.goid
	if by == 0 { // not known; 0 in an end says that nobody ended it
		by = s.Goid()
	}
	if s.loc == 0 && s.Goid() == by {
		s.Stop = max(now, s.Start)
		return
	}
	c.ends = append(c.ends, ending{s, max(now, s.Start), by, uint32(e.thread)})
}

// endRegion ends the innermost region of that name and task: of the goroutine, or else of the only
// other one that has it open.
func (c *converter) endRegion(e *event, now int64) {
	o, what := &c.open, region{c.Name(c.s.texts[e.text]), e.a}
	if r := o.take(e.goid, what); r != nil {
		if o.ended[e.goid] == nil {
			o.ended[e.goid] = map[uint16]uint64{}
		}
		o.ended[e.goid][what.name] = what.task
		c.endScope(r, e, now)
		return
	}
	_, born := o.born[e.goid]
	task, again := o.ended[e.goid][what.name]
	again = again && task == what.task
	at := o.places[what]
	switch {
	case o.lost || !born && !o.whole:
		c.endScope(c.early(e, what.name), e, now)
	case again || born && at.n == 0:
		o.double++
	case at.n == 0:
		c.endScope(c.early(e, what.name), e, now)
	default:
		o.foreign++
		if at.n == 1 { // of several nothing says which it was: they stay open
			c.endScope(o.take(at.goids, what), e, now)
		}
	}
}

// endGoroutine ends the regions that a goroutine has left open with it. Nobody has ended them.
func (c *converter) endGoroutine(e *event, now int64) {
	o := &c.open
	for _, r := range o.regions[e.goid] {
		o.place(r, -1)
		c.ends = append(c.ends, ending{r, max(now, r.Start), 0, uint32(e.thread)})
	}
	delete(o.regions, e.goid)
	delete(o.born, e.goid)
	delete(o.ended, e.goid)
}
