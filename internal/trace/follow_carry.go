package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// state of a carried record, for a Follower.
const (
	carryNew  = iota // not examined, or its chunk is there
	carryOpen        // a scope whose end is to be delivered
	carryDone        // delivered
)

// noteOpen notes a scope that was open when its chunk was overwritten.
func (f *Follower) noteOpen(b openBegin) {
	x := f.carry(carryKey{b.loc, b.start})
	if x.state == carryNew {
		x.state = carryOpen
	}
}

// carry returns the record's entry, and adds one if there is none.
func (f *Follower) carry(key carryKey) *carried {
	t := f.t
	if t.carried == nil {
		t.carried = carryTable{}
	}
	x := t.carried[key]
	if x == nil {
		x = &carried{}
		t.carried[key] = x
	}
	x.stamp = f.ring.foundChunks
	return x
}

// examineCarries examines the carries read since the last call, and those whose chunk has gone since.
func (f *Follower) examineCarries() {
	t, k := f.t, &f.ring
	slices.SortFunc(k.unexamined, func(a, b carryKey) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.loc, b.loc)) })
	for _, key := range k.unexamined {
		x := f.carry(key)
		if !x.hasCarry || x.state == carryDone || !t.addr.gone(key.loc, key.start) {
			continue
		}
		chunk := t.chunkLoc(key.loc)
		if g := k.goneOf(chunk, key.start); g != nil && x.state == carryNew && (g.complete || g.seen.has(key.loc-chunk)) {
			x.state = carryDone
			continue
		}
		switch {
		case !x.rec.Kind().Spec().Scope:
			x.state = carryDone
			f.add(item{end: x.rec.Start, rec: x.rec, at: x.at, ext: x.ext})
		case x.rec.Open():
			x.state = carryOpen
		default:
			x.state = carryOpen
			k.closing = append(k.closing, key)
		}
	}
	k.unexamined = k.unexamined[:0]
	f.prune()
}

// prune drops the carries that are no longer repeated: a valid one is, four times a lap.
func (f *Follower) prune() {
	k := &f.ring
	if k.foundChunks-k.pruned < int64(f.ringChunks(1)/4) {
		return
	}
	k.pruned = k.foundChunks
	for key, x := range f.t.carried {
		if k.foundChunks-x.stamp > int64(f.ringChunks(2)) {
			delete(f.t.carried, key)
		}
	}
	for off, list := range k.gone {
		list = slices.DeleteFunc(list, func(g goneChunk) bool { return k.foundChunks-g.stamp > int64(f.ringChunks(2)) })
		if k.gone[off] = list; len(list) == 0 {
			delete(k.gone, off)
		}
	}
}

// deliverCarriedEnds delivers the scopes whose end only a carry has: those of the first n for which
// no end was found.
func (f *Follower) deliverCarriedEnds(n int) {
	k := &f.ring
	for _, key := range k.closing[:n] {
		if x := f.t.carried[key]; x != nil && x.state == carryOpen && x.hasCarry && !x.rec.Open() {
			x.state = carryDone
			f.add(item{end: max(x.rec.Stop, x.rec.Start), rec: x.rec, at: x.at, ext: x.ext})
		}
	}
	k.closing = slices.Delete(k.closing, 0, n)
}

// queueGoneEnd queues the scope that the end record r at loc ends, whose begin's chunk is not in the
// file. ok is false if that may still come.
func (f *Follower) queueGoneEnd(r *format.Record, loc, begin format.Loc, ext []byte, owner uint32) (ok bool) {
	t := f.t
	g, ok := newGoneBegin(r, ext, loc, owner)
	if !ok || !t.addr.canHold(begin) {
		return f.reportBadEnd(textOrphanEnd, loc)
	}
	key := carryKey{begin, r.Stop}
	x := t.carried[key]
	if x != nil && x.state == carryDone {
		return true
	}
	known := x != nil && x.hasCarry
	if !known && !t.state.Closed && (g.start >= t.state.Until || g.head == 0) {
		f.late++ // the chunk is new, and not found yet
		return false
	}
	b, w := g.record(), recordLoc{loc: begin, owner: owner, gone: true}
	var args []byte
	switch {
	case known:
		b, w, args = x.rec, x.at, x.ext
		b.Stop = openStop
	case g.head == 0:
		return f.reportBadEnd(textLostBegin, loc)
	}
	spec := b.Kind().Spec()
	if _, fits := decodeEnd(r, ext, &b, f.decoder.endArgs[:0]); !fits || spec == nil || !spec.Scope {
		return f.reportBadEnd(textBadEnd, loc)
	}
	f.carry(key).state = carryDone
	f.add(item{end: max(r.Start, b.Start), rec: b, at: w, ext: args, apart: &apart{*r, slices.Clone(ext)}})
	return true
}
