package trace

import (
	"bytes"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/inorder"
)

// verifiedChunk is a chunk whose records are checked one after the other.
type verifiedChunk struct {
	*chunkInfo
	last     int64 // the start of the previous record
	thread   uint32
	anchored bool
	begun    bool                  // there was a record other than an anchor
	ends     []uint64              // as in endIndex
	begins   map[int]format.Record // begins that have ends
}

func (c *verifiedChunk) assembly() bool { return format.Path(c.path) == format.PathAssembly }

// checkedAtOnce is the number of bytes of chunks that a goroutine checks before it passes on its
// findings: enough to make the cost of that negligible.
const checkedAtOnce = 512 << 10

// allRecords checks the chunks of records at those places, on all processors.
func (v *checker) allRecords(places []checkedPlace) (err error) {
	n := max(1, checkedAtOnce/int(v.t.header.ChunkSize))
	inorder.Each((len(places)+n-1)/n, func(i int, c *checker) {
		c.verifier, c.apart, c.found, c.later, c.err = v.verifier, true, c.found[:0], c.later[:0], nil
		for k := i * n; k < min((i+1)*n, len(places)) && c.err == nil; k++ {
			c.err = c.chunk(&places[k])
		}
	}, func(_ int, c *checker) bool {
		v.take(c)
		err = c.err
		return err == nil
	})
	return err
}

// take adds c's findings, and calls the functions that waited, in order.
func (v *checker) take(c *checker) {
	from := 0
	for _, l := range c.later {
		v.found = append(v.found, c.found[from:l.found]...)
		from = l.found
		l.do(v)
	}
	v.found = append(v.found, c.found[from:]...)
	v.found = v.found[:min(len(v.found), maxFindings)]
}

// recordChunk checks the records of a chunk that was read.
func (v *checker) recordChunk(read *chunks.Chunk, info *chunkInfo) error {
	if v.t.state.Closed || info.flags&format.FlagFinal != 0 && !v.t.overwrites() {
		// It has no writer, so it need not be read again.
		v.buf.bytes, v.buf.head, v.buf.used = read.Bytes, read.ChunkHeader, read.Used()
	} else if err := v.t.readChunk(&v.buf, info, problems{}); err == errGone {
		return nil
	} else if err != nil {
		return err
	}
	c := verifiedChunk{chunkInfo: info, ends: v.ends.byChunk[info.loc]}
	if len(c.ends) > 0 {
		c.begins = map[int]format.Record{}
	}
	s := v.buf.scan()
	was, skips := s, int64(0)
	for was.To = s.To; s.Next(); was.To = s.To {
		if n := s.Holes + s.Orphans + s.Bad + s.Unextended; n != skips {
			v.skipped(info, &was, &s)
			was, skips = s, n
		}
		v.record(&c, &s)
	}
	if !v.t.state.Closed && v.buf.head.Sealed == 0 {
		was.Holes, was.Orphans = s.Holes, s.Orphans // records that its writer was about to begin, when it was killed or just now
	}
	v.skipped(info, &was, &s)
	return v.joins(&c)
}

// record checks the record at the walk's position.
func (v *checker) record(c *verifiedChunk, s *format.Walk) {
	r := s.Record()
	here := c.at + int64(s.Off)
	k := r.Kind()
	if k != format.KindEnd {
		v.order(c, &r, here)
	}
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
	if !v.defined(uint64(r.Name())) {
		v.add(here, "record-name", "name %d is not defined", r.Name())
	}
	if spec.Scope {
		v.scope(c, &r, here)
	} else {
		v.words(&r, here)
	}
	var ext []byte
	if r.Ext() {
		ext = s.WholeExt()
	}
	v.extension(&r, ext, here)
	if k == format.KindEnd {
		v.end(c.chunkInfo, &r, ext, here)
	}
	if spec.Scope && len(c.ends) > 0 && findEnd(c.ends, s.Off) != 0 {
		c.begins[s.Off] = r
	}
}

// order checks the position of the record r, which is not an end: an end's time may have been taken
// before its place. A wait or a hold may be written later than it began.
func (v *checker) order(c *verifiedChunk, r *format.Record, here int64) {
	if r.Start < c.Since {
		v.add(here, "record-start", "a record begins at tick %d, its chunk was handed out at %d", r.Start, c.Since)
	}
	if k := r.Kind(); c.assembly() && k != format.KindWait && k != format.KindHold {
		if r.Start < c.last {
			v.add(here, "record-order", "a record begins at tick %d, behind one of %d", r.Start, c.last)
		}
		c.last = r.Start
	}
}

// skipped reports what a step of the walk skipped.
func (v *checker) skipped(c *chunkInfo, was, now *format.Walk) {
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

// defined reports whether a name is defined, or may be in the hot part that is missing.
func (v *checker) defined(id uint64) bool {
	return id < format.MaxNames && v.named[id] || id < format.FirstName || v.t.LacksHotPart()
}

// scope checks words 1 and 3 of a scope.
func (v *checker) scope(c *verifiedChunk, r *format.Record, here int64) {
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
		if r.Kind() == format.KindProcess {
			v.add(here, "end-process", "the process scope ended in place")
		}
		v.cpu(r.CPUTicks(), r.Quality(), r.Stop-r.Start, here)
	}
}

// words checks words 1 and 3 of a record that is not a scope.
func (v *checker) words(r *format.Record, here int64) {
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

func (v *checker) cpu(cpu int64, q format.Quality, wall, here int64) {
	if q != format.Unknown && cpu > wall && (!v.suppliedCPU() || cpu > wall+format.CPUSlack(wall)) {
		v.add(here, "record-cpu", "%d ticks of CPU time in %d", cpu, wall)
	}
	if q == format.Exact && wall > v.exact && !v.suppliedCPU() {
		// One part in a hundred for how the recorder rounds the limit to ticks.
		if ns := v.t.cpu.Nanos(wall); ns > format.ExactBelow+format.ExactBelow/100 {
			v.add(here, "record-cpu", "exact after %d ns", ns)
		} else {
			v.exact = wall
		}
	}
}

// suppliedCPU reports whether the trace has exact times of any length, from threads' switches.
func (v *checker) suppliedCPU() bool {
	_, _, excerpt := v.t.Excerpt()
	return excerpt || len(v.t.members) > 0
}

// end checks the location of the begin in the end record r; the begin itself is checked with its
// chunk.
func (v *checker) end(c *chunkInfo, r *format.Record, ext []byte, here int64) {
	v.check(c.flags&format.FlagEnds != 0 || v.buf.head.Flags&format.FlagEnds != 0, here, "end-flag", "an end apart in a chunk without the flag ends")
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
		v.add(here, "end-begin", "the end names a begin at %d, where no record can be", loc)
	}
}

// joins checks the ends of the scopes in the chunk c.
func (v *checker) joins(c *verifiedChunk) error {
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

// sameHead reports whether an end's begin slot equals its begin's word 2. The extension bit may
// differ: the end may not know that the begin's extension was left out.
func sameHead(said, head uint64) bool { return (said^head)&^format.ExtBit == 0 }

// join checks the end of an entry of the index; ended holds the begins that had one.
func (v *checker) join(c *verifiedChunk, entry uint64, ended map[int]bool) error {
	off, loc := int(entry>>endUnitBits)*format.RecordSize, endOf(entry)
	at, begin := v.t.addr.offset(loc), c.loc+format.Loc(off)
	b, ok := c.begins[off]
	if !ok {
		v.add(at, "end-begin", "the end names a begin at %d, where no scope begins", begin)
		return nil
	}
	raw, err := v.cache.read(v.t, loc, format.RecordSize)
	if err != nil || len(raw) < format.RecordSize {
		return err
	}
	r := format.DecodeRecord(raw)
	first := !ended[off]
	inPlace := b.Stop == r.Start && b.Start == r.Stop // and apart, see player.twice
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
	e, ok := decodeEnd(&r, x, &b, v.slots[:0])
	if !ok || !sameName(&r, &b) || r.Start < b.Start || e.begin != 0 && !sameHead(e.begin, b.Head) {
		v.add(at, "end-begin", "the scope at %d differs from its end in start, goroutine, name or kind, or begins after it", begin)
	}
	return nil
}

// fixedSlots lists the slots with which the kinds' extensions always begin.
var fixedSlots = func() (fixed [128][]string) {
	for _, s := range format.Specs {
		fixed[s.Kind] = strings.Fields(s.Ext)
	}
	return fixed
}()

// extension checks the extension of the record r.
func (v *checker) extension(r *format.Record, x []byte, here int64) {
	fixed := fixedSlots[r.Kind()]
	if len(x) == 0 {
		if len(fixed) > 0 && !r.Ext() {
			v.add(here, "ext-fixed", "the record has no extension, and its kind has slots %v", fixed)
		}
		return
	}
	var err error
	if v.slots, err = format.DecodeExt(v.slots[:0], x); err != nil {
		v.add(here, "ext-slots", "%v", err)
		return
	}
	if v.encoded, err = format.AppendExt(v.encoded[:0], v.slots); err != nil || !bytes.Equal(v.encoded, x) {
		v.add(here, "ext-form", "the extension of %d bytes does not match its slots", len(x))
	}
	for i, name := range fixed {
		want := format.SlotType(slices.Index(format.SlotNames[:], name))
		if i >= len(v.slots) || v.slots[i].Type != want {
			v.add(here, "ext-fixed", "slot %d is not the kind's %s", i, name)
			return
		}
	}
	v.values(v.slots, len(fixed), here)
}

// values checks each slot's value and position.
func (v *checker) values(slots []format.Slot, fixed int, here int64) {
	link := format.LinkAt(slots)
	for i := range slots {
		s := &slots[i]
		var next format.SlotType
		if i+1 < len(slots) {
			next = slots[i+1].Type
		}
		switch s.Type {
		case format.SlotBool:
			v.check(s.Value <= 1, here, "ext-slots", "slot %d: a bool of %d", i, s.Value)
		case format.SlotString, format.SlotType_:
			v.check(s.Full >= len(s.Str), here, "ext-slots", "slot %d: %d bytes of a string that had %d", i, len(s.Str), s.Full)
		case format.SlotKey:
			v.check(v.defined(s.Value), here, "record-name", "slot %d: key %d is not defined", i, s.Value)
			v.check(next != format.SlotEnd && next != format.SlotKey && next != format.SlotCut, here, "ext-slots", "slot %d: a key without a value", i)
		case format.SlotGoid:
			v.check(s.Value <= format.MaxGoid, here, "ext-slots", "slot %d: goroutine %d", i, s.Value)
		case format.SlotBegin:
			b := format.Record{Head: s.Value}
			spec := b.Kind().Spec()
			v.check(s.Value == 0 || spec != nil && spec.Scope && v.defined(uint64(b.Name())), here, "ext-slots", "slot %d: %#x begins no scope", i, s.Value)
		case format.SlotAddr:
			v.check(i < fixed || link >= 0 && i >= link && i < link+format.LinkSlots, here, "ext-slots", "slot %d: an address that is neither the kind's nor one of the four of a link", i)
		case format.SlotCut:
			v.check(next == format.SlotEnd, here, "ext-slots", "slot %d: cut is not the last", i)
		default:
			v.check(format.SlotNames[s.Type&15] != "", here, "ext-slots", "slot %d: unknown type %d", i, s.Type)
		}
	}
}
