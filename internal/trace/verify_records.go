package trace

import (
	"github.com/scopeview/scopeview/internal/format"
)

// verifiedChunk is a chunk whose records are checked one after the other.
type verifiedChunk struct {
	*chunkInfo
	last     int64 // the start of the record before
	thread   uint32
	anchored bool
	begun    bool                  // a record that is no anchor came
	ends     []uint64              // as in endIndex
	begins   map[int]format.Record // those that ends may be of
}

func (c *verifiedChunk) assembly() bool { return format.Path(c.path) == format.PathAssembly }

// recordChunk checks the records of a chunk.
func (v *verifier) recordChunk(info *chunkInfo) error {
	if err := v.t.readChunk(&v.buf, info, problems{}); err == errGone {
		return nil
	} else if err != nil {
		return err
	}
	c := verifiedChunk{chunkInfo: info, ends: v.ends.byChunk[info.loc], begins: map[int]format.Record{}}
	s := v.buf.scan()
	was := s
	for s.Next() {
		v.skipped(info, &was, &s)
		was = s
		v.record(&c, &s)
	}
	if !v.t.state.Closed && v.buf.head.Sealed == 0 {
		was.Holes, was.Orphans = s.Holes, s.Orphans // what its writer was about to begin, when it was killed or just now
	}
	v.skipped(info, &was, &s)
	return v.joins(&c)
}

// record checks the record that the walk is at.
func (v *verifier) record(c *verifiedChunk, s *format.Walk) {
	r := s.Record()
	here := c.at + int64(s.Off)
	k := r.Kind()
	v.order(c, &r, here)
	spec := k.Spec()
	if spec == nil {
		v.add(here, "record-kind", "a record of unknown kind %d", k)
		return
	}
	if k == format.KindAnchor {
		v.check(c.assembly() || c.path > uint8(format.PathPure), here, "record-anchor", "an anchor in a chunk of the %v path", format.Path(c.path))
		c.thread, c.anchored = uint32(r.Stop), true
	} else if !c.begun {
		v.check(c.anchored || !c.assembly(), here, "record-anchor", "the chunk's first record has no anchor before it")
		c.begun = true
	}
	v.check(v.defined(uint64(r.Name())), here, "record-name", "name %d is not defined", r.Name())
	if spec.Scope {
		v.scope(c, &r, here)
	} else {
		v.words(&r, here)
	}
	v.extension(&r, s.WholeExt(), here)
	if k == format.KindEnd {
		v.end(c.chunkInfo, &r, s.WholeExt(), here)
	}
	if spec.Scope && findEnd(c.ends, s.Off) != 0 {
		c.begins[s.Off] = r
	}
}

// order checks where the record r lies. The time of an end may have been taken before its
// place, and a wait or a hold may be told later than it began.
func (v *verifier) order(c *verifiedChunk, r *format.Record, here int64) {
	k := r.Kind()
	if k == format.KindEnd {
		return
	}
	v.check(r.Start >= c.Since, here, "record-start", "a record begins at tick %d, its chunk was handed out at %d", r.Start, c.Since)
	if c.assembly() && k != format.KindWait && k != format.KindHold {
		v.check(r.Start >= c.last, here, "record-order", "a record begins at tick %d, behind one of %d", r.Start, c.last)
		c.last = r.Start
	}
}

// skipped reports what a step of the walk skipped.
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

// defined reports whether a name is there, or may be in the hot part that is not.
func (v *verifier) defined(id uint64) bool {
	return id < format.FirstName || v.t.Cool() || id < format.MaxNames && v.named[uint16(id)]
}

// scope checks words 1 and 3 of a scope.
func (v *verifier) scope(c *verifiedChunk, r *format.Record, here int64) {
	switch {
	case r.Open() && c.assembly():
		tid := uint32(r.Stop>>40) & 0x3fffff
		v.check(!c.anchored || tid == c.thread&0x3fffff, here, "record-open", "the open record's word 1 is %#x, its thread %d", uint64(r.Stop), c.thread)
	case r.Open():
		path := format.Path(c.path)
		v.check(path != format.PathGo && path != format.PathPure || uint64(r.Stop)&^format.ApartBit == uint64(r.Start)|1<<63, here, "record-open", "the open record's word 1 is %#x, its start %#x", uint64(r.Stop), r.Start)
	case r.Stop < r.Start || r.Stop >= format.MaxTicks:
		v.add(here, "record-stop", "the scope begins at tick %d and ends at %d", r.Start, r.Stop)
	default:
		v.check(r.Kind() != format.KindProcess, here, "end-process", "the process scope ended in place")
		v.cpu(r.CPUTicks(), r.Quality(), r.Stop-r.Start, here)
	}
}

// words checks words 1 and 3 of what is no scope.
func (v *verifier) words(r *format.Record, here int64) {
	switch r.Kind() {
	case format.KindCounter:
		v.check(r.CPU >= uint64(format.SlotInt) && r.CPU <= uint64(format.SlotFloat), here, "record-words", "the counter's value has type %d", r.CPU)
	case format.KindGo:
		v.check(r.Stop > 0 && r.Stop <= r.Start && r.CPU <= format.MaxGoid, here, "record-words", "created at tick %d by goroutine %d", r.Stop, r.CPU)
	case format.KindMade:
		v.check(r.Stop > 0 && r.Stop <= format.MaxGoid && r.CPU == 0, here, "record-words", "goroutine %d was made; word 3 is %d", r.Stop, r.CPU)
	case format.KindAnchor:
		v.check(r.Stop > 0 && r.Stop < 1<<32 && int64(r.CPU) >= -1, here, "record-words", "thread %d, CPU clock %d", r.Stop, int64(r.CPU))
	case format.KindEnd:
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
	loc, ok := format.BeginOf(ext)
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
func (v *verifier) joins(c *verifiedChunk) error {
	ended := map[int]bool{}
	for _, entry := range c.ends {
		if err := v.join(c, entry, ended); err != nil && err != errGone {
			return err
		}
	}
	return nil
}

// sameName reports whether the end record r, if it has a name, has that of its begin.
func sameName(r, b *format.Record) bool { return r.Name() == format.NameEmpty || r.Name() == b.Name() }

// join checks the end that an entry of the index tells of; ended is which begins had one.
func (v *verifier) join(c *verifiedChunk, entry uint64, ended map[int]bool) error {
	off, loc := int(entry>>endUnitBits)*format.RecordSize, endOf(entry)
	at, begin := v.t.addr.offset(loc), c.loc+format.Loc(off)
	b, ok := c.begins[off]
	if !ok {
		v.add(at, "end-begin", "the begin is said to be at %d, where no scope begins", begin)
		return nil
	}
	raw, err := v.cache.read(v.t, loc, format.RecordSize)
	if err != nil || len(raw) < format.RecordSize {
		return err
	}
	r := format.DecodeRecord(raw)
	first := !ended[off]
	inPlace := b.Stop == r.Start && b.Start == r.Stop // and apart, see stream.twice
	if !first || !inPlace && !b.Open() {
		v.add(at, "end-double", "the scope at %d ends a second time", begin)
		return nil
	}
	ended[off] = true
	if inPlace {
		return nil
	}
	x, err := v.cache.ext(v.t, loc+format.RecordSize)
	if err != nil {
		return err
	}
	e, ok := decodeEnd(&r, x, &b, nil)
	if !ok || !sameName(&r, &b) || r.Start < b.Start || e.begin != 0 && e.begin != b.Head {
		v.add(at, "end-begin", "the scope at %d does not have the start, goroutine, name or kind that its end says, or begins after it", begin)
	}
	return nil
}
