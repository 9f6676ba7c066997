package timeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"
)

// Limits of the search for a request in the index of a large trace.
const (
	linksMost     = 8 << 20 // maximum number of linked items whose stretches are indexed: 12 bytes each
	stretchesMost = 400     // maximum number of stretches read again for one request
)

// linkIndex has the stretches of a large trace in which parts of a request began.
type linkIndex struct {
	keys []uint64 // traceKey
	in   []uint32 // number of a stretch
	left bool     // it is incomplete
}

// traceKey returns the indexed part of a trace id: its first half, or if that is zero, as in
// ids of 64 bits, its second.
func traceKey(id *[16]byte) uint64 {
	if k := binary.BigEndian.Uint64(id[:8]); k != 0 {
		return k
	}
	return binary.BigEndian.Uint64(id[8:])
}

func (x *linkIndex) add(keys []uint64, stretch int) {
	for _, k := range keys {
		n := len(x.keys)
		switch {
		case n > 0 && x.keys[n-1] == k && x.in[n-1] == uint32(stretch):
		case n == linksMost:
			x.left = true
			return
		default:
			x.keys, x.in = append(x.keys, k), append(x.in, uint32(stretch))
		}
	}
}

// find returns the stretches with a trace id that begins with these hexadecimal digits, in
// order.
func (x *linkIndex) find(id string) (list []int) {
	for len(id) > 16 && id[:16] == "0000000000000000" {
		id = id[16:]
	}
	id = id[:min(len(id), 16)]
	shift := 64 - 4*len(id)
	want, err := strconv.ParseUint(id, 16, 64)
	if err != nil {
		return nil
	}
	for i, k := range x.keys {
		if k>>shift == want && (len(list) == 0 || list[len(list)-1] != int(x.in[i])) {
			list = append(list, int(x.in[i]))
		}
	}
	return list
}

// part is an item of a request.
type part struct {
	row   int32 // index of its row in the whole index
	depth int32 // laneInstants: an instant
	start int64
	bar   bar
	ended uint64
	open  *scope
}

// Request packs the items of a request, each exactly, at most most. id is the trace id, or
// its first digits, in lower-case hexadecimal. In a large trace the stretches with the
// request are read again.
func (x *Index) Request(ctx context.Context, id string, most int) (*Tile, error) {
	needle := []byte(`"trace_id":"` + id)
	if x.thin == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.packRequest(x.partsIn(x, needle, nil), most, false), nil
	}
	x.mu.Lock()
	list, partial := x.thin.links.find(id), x.thin.links.left
	x.mu.Unlock()
	if len(list) > stretchesMost {
		list, partial = list[:stretchesMost], true
	}
	var parts []part
	for _, k := range list {
		pieces, err := x.piecesOf(ctx, k, k)
		if err != nil {
			return nil, err
		}
		x.mu.Lock()
		parts = x.partsIn(pieces[0], needle, parts)
		x.mu.Unlock()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.packRequest(parts, most, partial), nil
}

// partsIn appends the items of y, which is x or a stretch of it, whose arguments contain a
// text. x.mu is held.
func (x *Index) partsIn(y *Index, needle []byte, list []part) []part {
	if y != x {
		y.mu.Lock()
		defer y.mu.Unlock()
	}
	has := func(text uint32) bool { return text != 0 && bytes.Contains(y.texts.get(text), needle) }
	lane := func(r *row, depth int32, l *lane) {
		if l.rare == nil {
			return
		}
		for i := range min(l.n, len(l.rare.args)) {
			if !has(l.rare.args[i]) {
				continue
			}
			v := y.barOf(l, i, l.at(i))
			v.args = slices.Clone(v.args)
			list = append(list, part{row: r.at, depth: depth, start: v.start, ended: l.endedBy(i), bar: v})
		}
		for _, s := range l.rare.open {
			if has(s.args) {
				o := *s
				o.args = x.texts.add(y.texts.get(s.args))
				list = append(list, part{row: r.at, depth: depth, start: s.start, open: &o})
			}
		}
	}
	for _, r := range y.rows {
		at := x.byGoid[r.goid]
		if at == nil {
			continue // from a file that was overwritten
		}
		for d := range r.lanes {
			lane(at, laneNumber(d), &r.lanes[d])
		}
		if r.extra != nil {
			lane(at, laneInstants, &r.extra.instants)
		}
	}
	return list
}

// packRequest packs parts, each once: an item that runs when a stretch begins is in that
// stretch, too.
func (x *Index) packRequest(list []part, most int, partial bool) *Tile {
	order := func(a, b part) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.depth, b.depth), cmp.Compare(a.start, b.start))
	}
	slices.SortStableFunc(list, order)
	list = slices.CompactFunc(list, func(a, b part) bool { return order(a, b) == 0 && a.depth != laneInstants })
	b := x.tiler(0, x.end, 0)
	b.tile.Partial = partial
	if len(list) > most {
		b.tile.Left = int64(len(list) - most)
		list = list[:most]
	}
	for i := range list {
		p := &list[i]
		if p.open != nil {
			b.open(p.open)
		} else {
			b.add(&p.bar)
		}
		if p.ended != 0 {
			b.endedBy(p.ended)
		}
		if i+1 == len(list) || list[i+1].row != p.row || list[i+1].depth != p.depth {
			b.laneDone(x.rows[p.row], p.depth)
			b.inLane = 0
		}
	}
	return b.tile
}
