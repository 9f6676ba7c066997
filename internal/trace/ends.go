package trace

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// endIndex maps a begin to its end apart. It holds eight bytes for each: by the begin's chunk, the
// begin's place in it (in records) and the end's place in the file (in records).
type endIndex struct {
	byChunk       map[format.Loc][]uint64 // begin's unit << 44 | end's unit, sorted
	total         int64
	reconstructed []reconstructed // of a ring: records whose chunk is gone, by start; see reconstructed.go
	until         int64           // of a ring: records that began from here on are not overwritten
	problem       problems        // found while it was built
}

// A chunk of 16 MiB has 2^19 records; 44 bits of records are 2^49 bytes.
const endUnitBits = 44

// endsApart builds the index from the chunks that hold ends apart, or may by now, and keeps it for
// the next run.
func (t *Trace) endsApart() (*endIndex, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends != nil {
		return t.ends, nil
	}
	x := &endIndex{byChunk: map[format.Loc][]uint64{}, problem: problems{}}
	ignored := problems{} // the run finds and counts them
	var gone []goneBegin
	var buf chunkBuf
	for _, c := range t.chunks {
		if c.Kind != format.ChunkRecords || c.flags&format.FlagEnds == 0 && (t.state.Closed || c.flags&format.FlagFinal != 0) {
			continue
		}
		if err := t.readChunk(&buf, &c, ignored); err == errGone {
			continue
		} else if err != nil {
			return nil, err
		}
		for s := buf.scan(); s.Next(); {
			r := s.Record()
			if r.Kind() != format.KindEnd {
				continue
			}
			if g := t.addEnd(x, &r, s.WholeExt(), c.loc+format.Loc(s.Off), c.owner); g != nil {
				gone = append(gone, *g)
			}
		}
	}
	x.until = t.until()
	if t.overwrites() {
		// The others are in chunks that are newer than the index.
		gone = slices.DeleteFunc(gone, func(g goneBegin) bool { return g.start >= x.until })
	}
	x.reconstructed = t.reconstruct(gone, t.carried.gone(t), x.problem)
	x.total += endsOf(x.reconstructed)
	for _, l := range x.byChunk {
		slices.Sort(l)
	}
	t.ends = x
	return x, nil
}

// addEnd adds the end record r at at. The result is not nil if its begin is in a chunk that a ring
// has overwritten.
func (t *Trace) addEnd(x *endIndex, r *format.Record, ext []byte, at format.Loc, owner uint32) *goneBegin {
	begin, ok := format.BeginOf(ext)
	if !ok || !t.addr.canHold(begin) || at>>5 >= 1<<endUnitBits {
		x.problem.add(textOrphanEnd, t.addr.offset(at), 1)
		return nil
	}
	if t.addr.gone(begin, r.Stop) {
		g, ok := newGoneBegin(r, ext, at, owner)
		if !ok {
			x.problem.add(textOrphanEnd, t.addr.offset(at), 1)
			return nil
		}
		return &g
	}
	x.total++
	chunk := t.chunkLoc(begin)
	unit := uint64((begin - chunk) / format.RecordSize)
	x.byChunk[chunk] = append(x.byChunk[chunk], unit<<endUnitBits|uint64(at/format.RecordSize))
	return nil
}

// findEnd returns the location of the end of the record at off in the chunk whose ends are in list:
// the first in the file of several, 0 if there is none.
func findEnd(list []uint64, off int) format.Loc {
	unit := uint64(off/format.RecordSize) << endUnitBits
	i, _ := slices.BinarySearch(list, unit)
	if i == len(list) || list[i]>>endUnitBits != unit>>endUnitBits {
		return 0
	}
	return endOf(list[i])
}

// endOf returns the location of the end in an entry of the index.
func endOf(entry uint64) format.Loc {
	return format.Loc(entry&(1<<endUnitBits-1)) * format.RecordSize
}

// end is one end apart, decoded.
type end struct {
	stop         int64
	cpu          uint64
	goid         uint64 // of the goroutine that ended it
	begin        uint64 // word 2 of its begin; 0: not recorded
	user, system int64  // the process's CPU clocks, -1: unknown
	named        bool
	name         uint16 // if named: the new name of its scope
	slots        []format.Slot
}

// endsGoroutine reports whether the scope r was ended by its goroutine's end alone.
func (e *end) endsGoroutine(r *format.Record) bool {
	return e.goid == 0 && r.Goid() != 0 && endedByExit(r.Kind())
}

// readEnd reads the end record at loc, whose begin is b. ok is false if they do not match.
// Arguments are appended to dst.
func (t *Trace) readEnd(cache *blockCache, loc format.Loc, b *format.Record, dst []format.Slot) (e end, ok bool, err error) {
	raw, err := cache.read(t, loc, format.RecordSize)
	if err != nil || len(raw) < format.RecordSize {
		return e, false, err
	}
	r := format.DecodeRecord(raw)
	x, err := cache.ext(t, loc+format.RecordSize)
	if err != nil {
		return e, false, err
	}
	e, ok = decodeEnd(&r, x, b, dst)
	return e, ok, nil
}

// decodeEnd decodes the end record r with its extension.
func decodeEnd(r *format.Record, ext []byte, b *format.Record, dst []format.Slot) (e end, ok bool) {
	if r.Kind() != format.KindEnd || r.Stop != b.Start || r.Start >= format.MaxTicks || !r.Ext() {
		return e, false
	}
	e = end{stop: r.Start, cpu: r.CPU, goid: r.Goid(), user: -1, system: -1}
	slots, _ := format.DecodeExt(dst, ext)
	if len(slots) < 2 || slots[0].Type != format.SlotLoc || slots[1].Type != format.SlotGoid || !fits(slots[1].Value, b.Goid()) {
		return e, false
	}
	slots = slots[2:]
	if len(slots) >= 1 && slots[0].Type == format.SlotBegin {
		e.begin, slots = slots[0].Value, slots[1:]
	}
	if len(slots) >= 2 && slots[0].Type == format.SlotUser && slots[1].Type == format.SlotSystem {
		e.user, e.system = slots[0].Int(), slots[1].Int()
		slots = slots[2:]
	}
	if b.Kind() == format.KindTask {
		// Here, where every way of reading passes: otherwise two views would show two names.
		for i := format.RenamedAt(slots); i >= 0; i = format.RenamedAt(slots) {
			if !e.named {
				e.named, e.name = true, uint16(slots[i].Value)
			}
			slots = slices.Delete(slots, i, i+2) // all of them: one that is left would rename the scope when this is rewritten
		}
	}
	e.slots = slots
	return e, true
}

// fits reports whether an end's goroutine of its begin is correct. 0 comes from a writer that could
// no longer read it.
func fits(said, goid uint64) bool { return said == 0 || said == goid }

// endedByExit reports whether a goroutine's end ends the scopes of a kind that it left open. A lock
// stays held.
func endedByExit(k format.Kind) bool {
	return k == format.KindTask || k == format.KindTaskf || k == format.KindProcess
}
