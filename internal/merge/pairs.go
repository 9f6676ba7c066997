package merge

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostLinks is how many scopes of requests are remembered. Where there are more, a share of
// all spans is looked at: the same ones in every input.
const mostLinks = 1 << 20

// mostChildren is how many parts of one scope are remembered.
const mostChildren = 1 << 10

// spanID is a scope of a request.
type spanID struct{ trace, span uint64 }

// timed is when a scope was, by the clock of its group.
type timed struct {
	group       int
	start, stop int64
}

// links are the scopes with links of all inputs.
type links struct {
	spans    map[spanID]timed
	children map[spanID][]timed // by their parent
	count    int
	most     int // mostLinks
	mask     uint64
	edges    map[[2]int]*edge
}

// links collects the scopes with links of all inputs.
func (m *merger) links(ctx context.Context, groups []*group) (*links, error) {
	x := &links{most: mostLinks, spans: map[spanID]timed{}, children: map[spanID][]timed{}, edges: map[[2]int]*edge{}}
	for _, in := range m.inputs {
		g := slices.Index(groups, in.group)
		clock := in.group.ahead + in.t.Header().StartMono
		err := m.read(ctx, in, func(e *trace.Event) error {
			if len(e.Args)+len(e.EndArgs) < format.LinkSlots || e.Open || e.Dur == 0 {
				return nil
			}
			if l, ok := e.Link(); ok {
				x.add(&l, timed{g, clock + e.Start, clock + e.Start + e.Dur})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *links) add(l *format.Link, at timed) {
	id := spanID{trace: binary.LittleEndian.Uint64(l.Trace[8:])}
	number := binary.LittleEndian.Uint64
	if id.span = number(l.Span[:]); id.span != 0 && x.chosen(id) {
		if _, twice := x.spans[id]; !twice {
			x.spans[id] = at
			x.count++
		}
	}
	if id.span = number(l.Parent[:]); id.span != 0 && x.chosen(id) {
		p, ok := x.spans[id]
		if (!ok || p.group != at.group) && len(x.children[id]) < mostChildren {
			x.children[id] = append(x.children[id], at)
			x.count++
		}
	}
	for x.count > x.most {
		x.mask = x.mask<<1 | 1
		maps.DeleteFunc(x.spans, func(id spanID, _ timed) bool { return !x.chosen(id) })
		maps.DeleteFunc(x.children, func(id spanID, _ []timed) bool { return !x.chosen(id) })
		x.count = len(x.spans)
		for _, list := range x.children {
			x.count += len(list)
		}
	}
}

// chosen reports whether a span is among those that are looked at. Ids need not be random.
func (x *links) chosen(id spanID) bool {
	z := (id.span ^ id.trace) * 0x9e3779b97f4a7c15
	return (z^z>>32)&x.mask == 0
}

// join makes bounds of the pairs of scopes in two groups of which one is part of the other,
// and says how many there are. A child that takes longer than its parent is none that the
// parent has waited for, and says nothing.
func (x *links) join() (pairs int64) {
	ids := slices.SortedFunc(maps.Keys(x.children), func(a, b spanID) int {
		if a.trace != b.trace {
			return compare(a.trace, b.trace)
		}
		return compare(a.span, b.span)
	})
	for _, id := range ids {
		p, ok := x.spans[id]
		for _, c := range x.children[id] {
			if ok && p.group != c.group && c.stop-c.start <= p.stop-p.start {
				x.pair(p, c)
				pairs++
			}
		}
	}
	return pairs
}

func compare(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

// pair adds the bounds that a pair tells of.
func (x *links) pair(parent, child timed) {
	a, b := parent, child
	if a.group > b.group {
		a, b = b, a
	}
	low, high := a.start-b.start, a.stop-b.stop // what is to be added to b: the child within the parent
	atLow, atHigh := b.start, b.stop
	if a != parent {
		low, high, atLow, atHigh = high, low, atHigh, atLow
	}
	key := [2]int{a.group, b.group}
	e := x.edges[key]
	if e == nil {
		e = &edge{a: a.group, b: b.group, base: low, origin: b.start}
		x.edges[key] = e
	}
	e.lows = append(e.lows, point{float64(atLow - e.origin), float64(low - e.base)})
	e.highs = append(e.highs, point{float64(atHigh - e.origin), float64(high - e.base)})
}
