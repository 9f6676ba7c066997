package goscopes

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// openScopes holds the regions and tasks that have begun and not ended. It distinguishes an end
// whose begin precedes the trace from a second end.
//
// A goroutine created inside the trace has no region from before it: an end without a begin there
// ends a region again, or one of another goroutine. Only a goroutine that existed before the trace
// can end a region from before it. The same rules hold in a recording of the program; see the
// misuses in package scope.
type openScopes struct {
	regions map[uint64][]*scope          // by goroutine
	places  map[region]places            // where each region is open
	tasks   map[uint64]*scope            // by number
	born    map[uint64]struct{}          // goroutines that were created inside the trace and exist
	ended   map[uint64]map[uint16]uint64 // by existing goroutine and name: the task of the last region that it began and ended
	known   map[uint64]uint64            // 64 tasks each, with a bit for each task that has begun or ended here
	double  int64                        // number of ends of regions and tasks that had ended
	foreign int64                        // number of ends of regions on another goroutine than their begin's
	whole   bool                         // the program was not traced before this trace, so it has the begins of all regions that runtime/trace.StartRegion began
	lost    bool                         // a part could not be read, in which regions may have begun
	since   int64                        // the start shown for scopes that began before the trace, or in the part that was lost
}

// region identifies a region in its end.
type region struct {
	name uint16
	task uint64
}

// places counts the goroutines that have a region open. If there is one, goids is its id.
type places struct {
	n     int
	goids uint64 // the ids of all of them, by exclusive or
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

// place adds n to the number of open regions like r.
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

// meet records that a task occurred, and reports whether it had occurred before.
func (o *openScopes) meet(task uint64) bool {
	bit := uint64(1) << (task % 64)
	met := o.known[task/64]&bit != 0
	o.known[task/64] |= bit
	return met
}

// take removes the innermost open region of a goroutine that matches an end and returns it, or
// returns nil if there is none.
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

// early begins a scope that began before the trace.
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

// endScope ends a scope. The end is in its record if that is of this generation and its goroutine
// ends it; otherwise it is an end apart.
func (c *converter) endScope(s *scope, e *event, now int64) {
	by := e.goid
	if by == 0 { // unknown; 0 in an end apart means that nothing ended it
		by = s.Goid()
	}
	if s.loc == 0 && s.Goid() == by {
		s.Stop = max(now, s.Start)
		return
	}
	c.ends = append(c.ends, ending{s, max(now, s.Start), by, uint32(e.thread)})
}

// endRegion ends the innermost region of that name and task of the goroutine, or else that of the
// only other goroutine that has it open.
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
		if at.n == 1 { // with several it is unknown which one ended: they stay open
			c.endScope(o.take(at.goids, what), e, now)
		}
	}
}

// endGoroutine ends the regions that a goroutine left open when it ended.
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
