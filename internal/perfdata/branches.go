package perfdata

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Branches holds the counts from a program's branch records, as AutoFDO counts them.
type Branches struct {
	Lines []LineCount
	Calls []CallCount
	Heads []HeadCount
}

// LineCount is the number of times a line ran: the maximum over its addresses.
type LineCount struct {
	Location pgo.Location // no frame has Prologue
	Count    int64
}

// CallCount is the number of times a location branched to the first instruction of a function. Tail
// calls are included.
type CallCount struct {
	Caller pgo.Location
	Callee string
	Count  int64
}

// HeadCount is the number of calls of a function.
type HeadCount struct {
	Func  string
	Count int64
}

// branched makes a profile of the calls among the branches, and counts how often lines
// ran.
func (m *maker) branched(ctx context.Context) (*Branches, error) {
	b := &Branches{}
	if err := m.calls(ctx, b); err != nil {
		return nil, err
	}
	return b, m.lines(ctx, b)
}

func (m *maker) calls(ctx context.Context, b *Branches) error {
	type call struct {
		from   int32 // index in m.profile
		callee string
	}
	calls, heads := map[call]int64{}, map[string]int64{}
	for _, l := range sortedLinks(m.p.branches) {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := m.locate(l.b)
		if to.why != "" {
			m.dropped[to.why] += m.p.branches[l]
			continue
		}
		callee := m.images[l.b.object].Entry(to.addr)
		if callee == "" {
			continue // not a call
		}
		n := m.p.branches[l]
		heads[callee] += n
		from := m.locate(l.a)
		if from.why != "" {
			m.dropped[from.why] += n
			continue
		}
		calls[call{m.profile.Location(from.location), callee}] += n
		if err := m.profile.Add(to.location, from.location, false, n); err != nil {
			return fmt.Errorf("reading %s: %w", m.f.path, err)
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(calls), func(x, y call) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.callee, y.callee))
	}) {
		b.Calls = append(b.Calls, CallCount{m.profile.Locations[c.from], c.callee, calls[c]})
	}
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		b.Heads = append(b.Heads, HeadCount{name, heads[name]})
	}
	return nil
}

// step is a change of how often code runs, at an address.
type step struct {
	addr uint64
	n    int64
}

// lines counts how often lines ran.
func (m *maker) lines(ctx context.Context, b *Branches) error {
	steps := map[int32][]step{}
	for _, l := range sortedLinks(m.p.ranges) {
		n := m.p.ranges[l]
		im := m.image(l.a.object)
		if im.why != "" {
			m.dropped[im.why] += n
			continue
		}
		from, ok := im.Address(l.a.offset)
		to, ok2 := im.Address(l.b.offset)
		if !ok || !ok2 || to < from {
			m.unnamed += n
			continue
		}
		steps[l.a.object] = append(steps[l.a.object], step{from, n}, step{to + 1, -n})
	}
	keys := pgo.New(pgo.Samples) // for its indices of locations
	counts := map[int32]int64{}
	for _, object := range slices.Sorted(maps.Keys(steps)) {
		ran := steps[object]
		slices.SortFunc(ran, func(x, y step) int { return cmp.Compare(x.addr, y.addr) })
		now := int64(0)
		for i, s := range ran {
			if err := ctx.Err(); err != nil {
				return err
			}
			now += s.n
			if i+1 == len(ran) || now == 0 {
				continue
			}
			for _, location := range linesOf(m.images[object].Image, s.addr, ran[i+1].addr) {
				id := keys.Location(location)
				counts[id] = max(counts[id], now)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		b.Lines = append(b.Lines, LineCount{keys.Locations[id], counts[id]})
	}
	return nil
}

// linesOf returns the locations of code.
func linesOf(im *symbols.Image, from, to uint64) (list []pgo.Location) {
	for at := from; at < to; at = im.Stretch(at) {
		location := pgo.Location(im.Frames(at))
		for i := range location {
			location[i].Prologue = false
		}
		if len(location) > 0 {
			list = append(list, location)
		}
	}
	return list
}
