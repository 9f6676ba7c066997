package samples

import (
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// scopeNode is an execution of a scope that has samples.
type scopeNode struct {
	parent uint32 // enclosing scope; 0: none
	name   uint16
	slow   bool
	dur    int64
}

// nameScopes finds the scopes of the samples, and counts them.
func (r *goReader) nameScopes(t *trace.Trace) error {
	r.scope = make([]scopeNode, 1)
	of := map[uint64]*innermost{}
	for goid, l := range r.late {
		l.sort()
		of[goid] = &innermost{r: r, left: l.cursor()}
	}
	lengths := lengths{}
	err := t.Events(trace.Options{AsRecorded: true, Detail: trace.Tracks}, func(e *trace.Event) bool {
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindProcess:
			if i := of[e.Goid]; i != nil {
				i.name(e.Start)
				i.end(e.Start)
				i.open = append(i.open, openScope{to: e.Start + e.Dur, dur: e.Dur, name: e.Name})
			}
			if r.sel.Enclosing && e.Goid != 0 {
				lengths.add(e)
			}
		}
		return r.more(e.Start)
	})
	for _, i := range of {
		i.name(math.MaxInt64)
	}
	if r.sel.Enclosing {
		r.markSlow(lengths)
	}
	for x := range r.late.byTime() {
		scope := ""
		if n := r.scope[x.scope].name; n != 0 {
			scope = t.Name(n)
		}
		r.count(x, scope)
	}
	r.late = nil
	return err
}

// innermost finds the scopes of a goroutine's samples.
type innermost struct {
	r    *goReader
	left lateCursor
	open []openScope
}

type openScope struct {
	to, dur int64
	node    uint32 // index of goReader.scope; 0: no sample in it yet
	name    uint16
}

// name sets the scopes of the samples before a time.
func (i *innermost) name(before int64) {
	for x := i.left.at(); x != nil && x.time < before; x = i.left.at() {
		i.end(x.time)
		x.scope = i.node()
		i.left.next()
	}
}

// end removes the scopes that have ended by a time.
func (i *innermost) end(by int64) {
	i.open = slices.DeleteFunc(i.open, func(o openScope) bool { return o.to <= by })
}

// node returns the index of the innermost open scope; 0 if there is none.
func (i *innermost) node() (inner uint32) {
	for k := range i.open {
		o := &i.open[k]
		if o.node == 0 {
			i.r.scope = append(i.r.scope, scopeNode{parent: inner, name: o.name, dur: o.dur})
			o.node = uint32(len(i.r.scope) - 1)
		}
		inner = o.node
	}
	return inner
}

// markSlow marks the slowest hundredth of each scope's executions. Nested ones of one name
// are one execution, the outermost.
func (r *goReader) markSlow(l lengths) {
	r.p.ByScope = map[uint16]Executions{}
	for name, counts := range l.counts {
		r.p.ByScope[name] = slowest(counts)
	}
	for i := 1; i < len(r.scope); i++ { // outer ones come before those in them
		s := &r.scope[i]
		s.slow = s.dur >= r.p.ByScope[s.name].Limit
		for up := s.parent; up != 0; up = r.scope[up].parent {
			if r.scope[up].name == s.name {
				s.slow = r.scope[up].slow
				break
			}
		}
	}
}

// scopesOf returns a scope and those around it, the outermost first.
func (r *goReader) scopesOf(inner uint32) (list []Scope) {
	if !r.sel.Enclosing {
		return nil
	}
	for ; inner != 0; inner = r.scope[inner].parent {
		list = append(list, Scope{r.scope[inner].name, r.scope[inner].slow})
	}
	slices.Reverse(list)
	return list
}

// lengths counts the executions of each scope by duration.
type lengths struct {
	until  map[execID]int64            // end of the outermost one
	counts map[uint16]map[uint32]int64 // by name and class of duration
}

type execID struct {
	goid uint64
	name uint16
}

// add counts an execution, unless it is in another one of its name.
func (l *lengths) add(e *trace.Event) {
	if l.until == nil {
		l.until, l.counts = map[execID]int64{}, map[uint16]map[uint32]int64{}
	}
	id := execID{e.Goid, e.Name}
	if until, ok := l.until[id]; ok && e.Start < until {
		return
	}
	l.until[id] = e.Start + e.Dur
	of := l.counts[e.Name]
	if of == nil {
		of = map[uint32]int64{}
		l.counts[e.Name] = of
	}
	of[lengthClass(e.Dur)]++
}

// slowest returns the limit and the number of the slowest hundredth of executions; it
// includes all of the limit's class.
func slowest(counts map[uint32]int64) (x Executions) {
	for _, n := range counts {
		x.Rest += n
	}
	want := (x.Rest + 99) / 100
	for _, class := range slices.Backward(slices.Sorted(maps.Keys(counts))) {
		x.Slow += counts[class]
		if x.Slow >= want {
			x.Limit = leastOfClass(class)
			break
		}
	}
	x.Rest -= x.Slow
	return x
}

// lengthBits is the number of significant bits of a class of durations: classes are a 128th
// wide.
const lengthBits = 7

// lengthClass returns the class of a duration; it rises with the duration.
func lengthClass(ns int64) uint32 {
	return uint32(math.Float64bits(float64(max(ns, 0))) >> (52 - lengthBits))
}

// leastOfClass returns the shortest duration of a class.
func leastOfClass(class uint32) int64 {
	return int64(math.Ceil(math.Float64frombits(uint64(class) << (52 - lengthBits))))
}
