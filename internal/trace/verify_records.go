package trace

import (
	"github.com/scopeview/scopeview/internal/format"
)

// recordChunk checks the records of the chunk c.
func (v *verifier) recordChunk(c *chunkInfo) error {
	t := v.t
	if err := t.readChunk(&v.buf, c, problems{}); err == errGone {
		return nil
	} else if err != nil {
		return err
	}
	list := v.ends.byChunk[c.loc]
	var last int64
	thread, anchored, first := uint32(0), false, true
	begins := map[int]format.Record{} // those that ends in the list may be of
	s := v.buf.scan()
	was := s
	for s.Next() {
		r := s.Record()
		here := c.at + int64(s.Off)
		v.skipped(c, &was, &s)
		was = s
		k := r.Kind()
		assembly := format.Path(c.path) == format.PathAssembly
		if k != format.KindEnd { // its time may have been taken before its place
			v.check(r.Start >= c.Since, here, "record-start", "a record begins at tick %d, its chunk was handed out at %d", r.Start, c.Since)
		}
		if assembly && k != format.KindEnd && k != format.KindWait && k != format.KindHold { // and a wait or a hold may be told later than it began
			v.check(r.Start >= last, here, "record-order", "a record begins at tick %d, behind one of %d", r.Start, last)
			last = r.Start
		}
		spec := k.Spec()
		if spec == nil {
			v.add(here, "record-kind", "a record of unknown kind %d", k)
			continue
		}
		if k == format.KindAnchor {
			v.check(assembly || c.path > uint8(format.PathPure), here, "record-anchor", "an anchor in a chunk of the %v path", format.Path(c.path))
			thread, anchored = uint32(r.Stop), true
		} else if first {
			v.check(anchored || !assembly, here, "record-anchor", "the chunk's first record has no anchor before it")
			first = false
		}
		v.check(v.defined(uint64(r.Name())), here, "record-name", "name %d is not defined", r.Name())
		v.words(c, &r, here, thread, anchored)
		v.extension(&r, s.WholeExt(), here)
		if k == format.KindEnd {
			v.end(c, &r, s.WholeExt(), here)
		}
		if spec.Scope && findEnd(list, s.Off) != 0 {
			begins[s.Off] = r
		}
	}
	if !t.state.Closed && v.buf.head.Sealed == 0 {
		was.Holes, was.Orphans = s.Holes, s.Orphans // what its writer was about to begin, when it was killed or just now
	}
	v.skipped(c, &was, &s)
	return v.joins(c, list, begins)
}

// skipped tells what a step of the walk skipped.
func (v *verifier) skipped(c *chunkInfo, was, now *format.Walk) {
	off := c.at
	here := off + int64(was.To)
	// Where several goroutines write to a chunk a snapshot finds some between taking a
	// place and beginning a record in it.
	if now.Holes != was.Holes && (format.Path(c.path) == format.PathAssembly || v.t.Lookup("snapshot") == "") {
		v.add(here, "record-hole", "%d places of 32 bytes are empty", now.Holes-was.Holes)
	}
	v.check(now.Orphans == was.Orphans, here, "record-orphan", "%d extensions without a record", now.Orphans-was.Orphans)
	v.check(now.Bad == was.Bad, here, "record-start", "%d places hold no record: their first word is no time", now.Bad-was.Bad)
	v.check(now.Unextended == was.Unextended, off+int64(now.Off), "ext-missing", "the record's extension is missing or not whole")
}

// defined tells whether a name is there, or may be in the hot part that is not.
func (v *verifier) defined(id uint64) bool {
	return id < format.FirstName || v.t.Cool() || id < format.MaxNames && v.named[uint16(id)]
}

// words checks words 1 and 3.
func (v *verifier) words(c *chunkInfo, r *format.Record, here int64, thread uint32, anchored bool) {
	k := r.Kind()
	switch spec := k.Spec(); {
	case spec.Scope && r.Open():
		switch format.Path(c.path) {
		case format.PathAssembly:
			tid := uint32(r.Stop>>40) & 0x3fffff
			v.check(!anchored || tid == thread&0x3fffff, here, "record-open", "the open record's word 1 is %#x, its thread %d", uint64(r.Stop), thread)
		case format.PathGo, format.PathPure:
			v.check(uint64(r.Stop)&^format.ApartBit == uint64(r.Start)|1<<63, here, "record-open", "the open record's word 1 is %#x, its start %#x", uint64(r.Stop), r.Start)
		}
	case spec.Scope:
		if r.Stop < r.Start || r.Stop >= format.MaxTicks {
			v.add(here, "record-stop", "the scope begins at tick %d and ends at %d", r.Start, r.Stop)
			return
		}
		v.check(k != format.KindProcess, here, "end-process", "the process scope ended in place")
		v.cpu(r.CPUTicks(), r.Quality(), r.Stop-r.Start, here)
	case k == format.KindCounter:
		v.check(r.CPU >= uint64(format.SlotInt) && r.CPU <= uint64(format.SlotFloat), here, "record-words", "the counter's value has type %d", r.CPU)
	case k == format.KindGo:
		v.check(r.Stop > 0 && r.Stop <= r.Start && r.CPU <= format.MaxGoid, here, "record-words", "created at tick %d by goroutine %d", r.Stop, r.CPU)
	case k == format.KindAnchor:
		v.check(r.Stop > 0 && r.Stop < 1<<32 && int64(r.CPU) >= -1, here, "record-words", "thread %d, CPU clock %d", r.Stop, int64(r.CPU))
	case k == format.KindEnd:
		v.cpu(r.CPUTicks(), r.Quality(), r.Start-r.Stop, here)
	default:
		v.check(r.Stop == 0 && r.CPU == 0, here, "record-words", "words 1 and 3 are %d and %d, not 0", r.Stop, r.CPU)
	}
}

func (v *verifier) cpu(cpu int64, q format.Quality, wall, here int64) {
	v.check(q == format.Unknown || cpu <= wall, here, "record-cpu", "%d ticks of CPU time in %d", cpu, wall)
	if q == format.Exact {
		// One part in a hundred for how the recorder rounds the limit to ticks.
		ns := v.t.cpu.nanos(max(wall, 0))
		v.check(ns <= format.ExactBelow+format.ExactBelow/100, here, "record-cpu", "exact after %d ns", ns)
	}
}

// end checks what the end record r says of its begin's place; that the begin
// is there is checked with its chunk.
func (v *verifier) end(c *chunkInfo, r *format.Record, ext []byte, here int64) {
	v.check(c.flags&format.FlagEnds != 0 || v.buf.head.Flags&format.FlagEnds != 0, here, "end-flag", "an end apart in a chunk that does not say so")
	loc, ok := endLoc(ext)
	if !ok {
		return // ext-fixed
	}
	if v.t.addr.gone(loc, r.Stop) {
		v.goneEnd(r, ext, loc, here)
		return
	}
	known := v.t.chunkOf(loc)
	if loc <= 0 || loc%format.RecordSize != 0 || known == nil || known.Kind != format.ChunkRecords {
		v.add(here, "end-begin", "the begin is said to be at %d, where no record can be", loc)
	}
}

// joins checks the ends of the scopes in the chunk c.
func (v *verifier) joins(c *chunkInfo, list []uint64, begins map[int]format.Record) error {
	ended := map[int]bool{}
	for _, x := range list {
		off := int(x>>endUnitBits) * format.RecordSize
		loc := endOf(x)
		at := v.t.addr.offset(loc)
		b, ok := begins[off]
		if !ok {
			v.add(at, "end-begin", "the begin is said to be at %d, where no scope begins", c.loc+format.Loc(off))
			continue
		}
		raw, err := v.cache.read(v.t, loc, format.RecordSize)
		if err == errGone {
			continue
		}
		if err != nil {
			return err
		}
		if len(raw) < format.RecordSize {
			continue
		}
		r := format.DecodeRecord(raw)
		if b.Stop == r.Start && b.Start == r.Stop && !ended[off] {
			ended[off] = true // in place and apart, see stream.twice
			continue
		}
		if !b.Open() || ended[off] {
			v.add(at, "end-double", "the scope at %d ends a second time", c.loc+format.Loc(off))
			continue
		}
		ended[off] = true
		x, err := v.cache.ext(v.t, loc+format.RecordSize)
		if err == errGone {
			continue
		}
		if err != nil {
			return err
		}
		e, ok := decodeEnd(&r, x, &b, nil)
		if !ok || r.Start < b.Start || r.Name() != format.NameEmpty && r.Name() != b.Name() || e.begin != 0 && e.begin != b.Head {
			v.add(at, "end-begin", "the scope at %d does not have the start, goroutine, name or kind that its end says, or begins after it", c.loc+format.Loc(off))
		}
	}
	return nil
}
