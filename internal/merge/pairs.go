package merge

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostLinks is the largest number of scopes of requests that are kept. With more, only a share of
// all spans is used: the same ones in every input.
const mostLinks = 1 << 20

// mostChildren is the largest number of parts of one scope that are kept.
const mostChildren = 1 << 10

// spanID identifies a scope of a request.
type spanID struct{ trace, span uint64 }

// timed is the time of a scope, by its machine's monotonic clock.
type timed struct {
	input       int
	start, stop int64
}

// links are the scopes with links of all inputs.
type links struct {
	spans    map[spanID]timed
	children map[spanID][]timed // by their parent
	count    int
	most     int // mostLinks
	mask     uint64
}

// links collects the scopes with links of all inputs.
func (m *merger) links(ctx context.Context) (*links, error) {
	x := &links{most: mostLinks, spans: map[spanID]timed{}, children: map[spanID][]timed{}}
	for i, in := range m.inputs {
		err := m.read(ctx, in, true, func(e *trace.Event) error {
			if len(e.Args)+len(e.EndArgs) < format.LinkSlots || e.Open || e.Dur == 0 {
				return nil
			}
			if l, ok := e.Link(); ok {
				x.add(&l, timed{i, in.mono + e.Start, in.mono + e.Start + e.Dur})
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
		if (!ok || p.input != at.input) && len(x.children[id]) < mostChildren {
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

// chosen reports whether a span is among those that are used. Ids need not be random.
func (x *links) chosen(id spanID) bool {
	z := (id.span ^ id.trace) * 0x9e3779b97f4a7c15
	return (z^z>>32)&x.mask == 0
}

// each calls f with the pairs of scopes in two inputs of which one is part of the other. It skips a
// child that takes longer than its parent: the parent has not waited for it, so it sets no bounds.
func (x *links) each(f func(parent, child timed)) {
	ids := slices.SortedFunc(maps.Keys(x.children), func(a, b spanID) int {
		return cmp.Or(cmp.Compare(a.trace, b.trace), cmp.Compare(a.span, b.span))
	})
	for _, id := range ids {
		p, ok := x.spans[id]
		for _, c := range x.children[id] {
			if ok && p.input != c.input && c.stop-c.start <= p.stop-p.start {
				f(p, c)
			}
		}
	}
}

// edges computes bounds from the pairs whose scopes are in different groups, and counts those
// pairs.
func (x *links) edges(inputs []*input, groups []*group) (edges map[[2]int]*edge, pairs int64) {
	edges = map[[2]int]*edge{}
	number := map[*group]int{}
	for i, g := range groups {
		number[g] = i
	}
	x.each(func(parent, child timed) {
		p, c := inputs[parent.input].group, inputs[child.input].group
		if p != c {
			pairs++
			parent.start, parent.stop = parent.start+p.ahead, parent.stop+p.ahead
			child.start, child.stop = child.start+c.ahead, child.stop+c.ahead
			bound(edges, number[p], number[c], parent, child)
		}
	})
	return edges, pairs
}

// bound adds the bounds that a pair of scopes of the groups p and c sets, by their wall clocks.
func bound(edges map[[2]int]*edge, p, c int, parent, child timed) {
	key, a, b := [2]int{p, c}, parent, child
	if p > c {
		key, a, b = [2]int{c, p}, child, parent
	}
	low, high := a.start-b.start, a.stop-b.stop // to be added to b: the child lies within the parent
	atLow, atHigh := b.start, b.stop
	if p > c {
		low, high, atLow, atHigh = high, low, atHigh, atLow
	}
	e := edges[key]
	if e == nil {
		e = &edge{a: key[0], b: key[1], base: low, origin: b.start}
		edges[key] = e
	}
	e.lows = append(e.lows, point{float64(atLow - e.origin), float64(low - e.base)})
	e.highs = append(e.highs, point{float64(atHigh - e.origin), float64(high - e.base)})
}
