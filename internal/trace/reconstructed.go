package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// reconstructed is a record whose chunk a ring has overwritten, reconstructed from a carry block,
// an end apart, or both. The merge treats these records as if they lay in a chunk.
type reconstructed struct {
	rec format.Record
	ext []byte
	at  recordLoc
	end format.Loc // its end apart; 0: none
}

// goneBegin is the begin of an end apart, if the begin's chunk is gone.
type goneBegin struct {
	loc, end format.Loc // locations of the begin and its end
	start    int64
	head     uint64 // word 2 of the begin; 0: not known
	owner    uint32 // the end's: the begin's is no longer known
}

// newGoneBegin returns the begin of the end record r at at, as recorded in the end.
func newGoneBegin(r *format.Record, ext []byte, at format.Loc, owner uint32) (goneBegin, bool) {
	slots, _ := format.DecodeExt(nil, ext)
	if len(slots) < 2 || r.Stop <= 0 || r.Stop >= format.MaxTicks {
		return goneBegin{}, false
	}
	g := goneBegin{loc: format.Loc(slots[0].Value), start: r.Stop, end: at, owner: owner}
	b := format.Record{Start: r.Stop, Head: format.Head(slots[1].Value, format.KindTask, false, 0)}
	if len(slots) > 2 && slots[2].Type == format.SlotBegin && slots[2].Value != 0 {
		g.head = slots[2].Value
		b.Head = g.head
	}
	_, ok := decodeEnd(r, ext, &b, nil)
	spec := b.Kind().Spec()
	return g, ok && spec != nil && spec.Scope
}

// record returns the begin's record as far as its end has it: without its arguments.
func (g *goneBegin) record() format.Record {
	return format.Record{Start: g.start, Stop: openStop, Head: g.head &^ format.ExtBit}
}

// openStop is word 1 of a scope that has not ended in place.
const openStop = -1 << 63

// endOverwritten reports whether the end of the scope r, which is open and has no end apart, is
// overwritten: r is marked to have one, and began before until. The time of the end is not known.
func (t *Trace) endOverwritten(r *format.Record, until int64) bool {
	return t.addr.reuses() && r.Stop&format.ApartBit != 0 && r.Start < until
}

// reconstruct joins the data of ends and carries of the same records, by start.
func (t *Trace) reconstruct(gone []goneBegin, carries []*carried, p problems) []reconstructed {
	list := make([]reconstructed, 0, len(gone)+len(carries))
	for _, c := range carries {
		list = append(list, reconstructed{c.rec, c.ext, c.at, 0})
	}
	order := func(a, b *reconstructed) int {
		return cmp.Or(cmp.Compare(a.rec.Start, b.rec.Start), cmp.Compare(a.at.loc, b.at.loc))
	}
	slices.SortFunc(list, func(a, b reconstructed) int { return order(&a, &b) })
	carriedLen := len(list)
	slices.SortFunc(gone, func(a, b goneBegin) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.loc, b.loc), cmp.Compare(a.end, b.end))
	})
	for i := range gone {
		g := &gone[i]
		if i > 0 && g.start == gone[i-1].start && g.loc == gone[i-1].loc {
			p.add(textOrphanEnd, t.addr.offset(g.end), 1) // ended twice
			continue
		}
		m := reconstructed{rec: g.record(), at: recordLoc{loc: g.loc, owner: g.owner, gone: true}, end: g.end}
		k, ok := slices.BinarySearchFunc(list[:carriedLen], &m, func(a reconstructed, b *reconstructed) int { return order(&a, b) })
		switch {
		case ok && list[k].rec.Kind().Spec().Scope:
			// The end is more complete than a carry that was written after it.
			list[k].end, list[k].rec.Stop = g.end, openStop
		case ok:
			p.add(textOrphanEnd, t.addr.offset(g.end), 1)
		case g.head != 0:
			list = append(list, m)
		default:
			p.add(textLostBegin, t.addr.offset(g.end), 1)
		}
	}
	slices.SortFunc(list, func(a, b reconstructed) int { return order(&a, &b) })
	return list
}

// endsOf returns how many of the records have ends apart.
func endsOf(list []reconstructed) (n int64) {
	for i := range list {
		if list[i].end != 0 {
			n++
		}
	}
	return n
}

// reconstructChunk reconstructs the records of the chunk c, which is gone although the index has
// it: ends are its ends apart.
func (t *Trace) reconstructChunk(c *chunkInfo, ends []uint64, p problems) []reconstructed {
	var gone []goneBegin
	var cache blockCache
	for _, x := range ends {
		at := endOf(x)
		raw, err := cache.read(t, at, format.RecordSize)
		if err != nil || len(raw) < format.RecordSize {
			continue // the end is gone too
		}
		r := format.DecodeRecord(raw)
		ext, err := cache.ext(t, at+format.RecordSize)
		if err != nil || r.Kind() != format.KindEnd {
			continue
		}
		if g, ok := newGoneBegin(&r, ext, at, c.owner); ok {
			gone = append(gone, g)
		}
	}
	return t.reconstruct(gone, t.carried.of(t, c), p)
}
