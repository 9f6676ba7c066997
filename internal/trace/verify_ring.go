package trace

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// verifiedRing holds the values by which the chunks of a ring are checked against each other.
type verifiedRing struct {
	numbers map[uint32]int64  // place of the chunk of that number
	ended   map[carryKey]bool // begins that are gone and have an end apart
	carries []verifiedCarry   // of chunks that are there
}

// verifiedCarry is a carry to be compared with its record.
type verifiedCarry struct {
	at    int64 // the block's place
	chunk *chunkInfo
	carry format.Carry
}

// checkedPlace is a place that can hold a chunk.
type checkedPlace struct {
	at    int64
	age   int64
	chunk *chunkInfo // the entry in the index, or nil
}

func (p *checkedPlace) records() bool { return p.chunk != nil && p.chunk.Kind == format.ChunkRecords }

// places returns the places that can hold chunks, so that blocks come in the order in which they
// were written, and invalid chunks last. It skips holes.
func (v *checker) places() []checkedPlace {
	t := v.t
	known := make([]*chunkInfo, len(t.chunks))
	for i := range t.chunks {
		known[i] = &t.chunks[i]
	}
	slices.SortFunc(known, func(a, b *chunkInfo) int { return cmp.Compare(a.at, b.at) })
	var ps []checkedPlace
	file := t.chunkFile()
	for at := file.Chunk; at < t.size; at = file.Next(at) {
		p := checkedPlace{at: at, age: 1 << 40}
		for len(known) > 0 && known[0].at < at {
			known = known[1:]
		}
		if len(known) > 0 && known[0].at == at {
			p.chunk = known[0]
			p.age = t.addr.age(p.chunk)
		}
		ps = append(ps, p)
	}
	loc := func(p *checkedPlace) format.Loc {
		if p.chunk == nil {
			return 0
		}
		return p.chunk.loc
	}
	slices.SortFunc(ps, func(a, b checkedPlace) int {
		return cmp.Or(cmp.Compare(a.age, b.age), cmp.Compare(loc(&a), loc(&b)), cmp.Compare(a.at, b.at))
	})
	return ps
}

// ringHeader checks the fields of the file header that concern rings.
func (v *checker) ringHeader() {
	h, s := &v.t.header, &v.t.state
	const over, until = format.StateOffset + format.StateOverwritten, format.StateOffset + format.StateUntil
	v.check(h.Ring <= format.RingNumbers/2, 92, "header-values", "a ring of %d chunks", h.Ring)
	v.check(s.Overwritten >= 0, over, "state", "%d records were overwritten", s.Overwritten)
	v.check(s.Until == 0 || s.Until >= h.StartTicks && s.Until < format.MaxTicks, until, "state", "the trace is complete from tick %d on", s.Until)
	v.check(h.Segments == 0, 34, "header-values", "the trace has segments, which are not read with it")
	v.check(s.Files >= 0 && s.Files <= int64(h.Segments), format.StateOffset+format.StateFiles, "state", "there are %d segments, of at most %d", s.Files, h.Segments)
	v.check(h.Ring != 0 || s.Overwritten == 0 && s.Until == 0, over, "state", "records were overwritten, but the trace is not a ring")
}

// ringChunk checks the fields of the header of the chunk at at that concern rings.
func (v *checker) ringChunk(h *format.ChunkHeader, at int64) {
	if !v.t.addr.reuses() {
		v.check(h.Gen == 1, at+24, "chunk-values", "the chunk's generation is %d", h.Gen)
		v.check(h.Flags&format.FlagKept == 0, at+28, "chunk-kept", "a chunk is kept, but the trace is not a ring")
		v.check(h.Number == 0, at+40, "chunk-number", "the chunk has the number %d, but the trace is not a ring", h.Number)
		return
	}
	v.check(h.Gen >= 1, at+24, "chunk-values", "the chunk's generation is %d", h.Gen)
	if h.Flags&format.FlagKept != 0 {
		v.check(h.Kind == format.ChunkBlocks, at+28, "chunk-kept", "a chunk without blocks is kept")
		v.check(h.Number == 0, at+40, "chunk-number", "the chunk has the number %d, and is kept", h.Number)
		return
	}
	v.check(h.Number >= 1 && h.Number <= format.RingNumbers, at+40, "chunk-number", "the chunk has the number %d", h.Number)
	number := h.Number
	v.inOrder(func(v *checker) { v.number(number, at) })
}

// number checks the number of the chunk at at against those of the chunks before it.
func (v *checker) number(n uint32, at int64) {
	k := &v.ring
	if k.numbers == nil {
		k.numbers = map[uint32]int64{}
	}
	if other, twice := k.numbers[n]; twice {
		v.add(at+40, "chunk-number", "the chunk has the number %d, as the one at offset %d", n, other)
		return
	}
	k.numbers[n] = at
	if len(k.numbers) == int(min(v.t.header.Ring, 1<<30))+1 {
		v.add(at, "ring-size", "there are more than the %d chunks that the ring has", v.t.header.Ring)
	}
}

func (v *checker) ringBlock(t format.BlockType, here int64) {
	// Go execution traces are in kept chunks if they were joined, else not.
	if v.t.addr.reuses() && format.BlockOf(t) != nil && t != format.BlockGoTrace {
		v.check(t.Once() == v.kept, here, "block-kept", "a %s block, and kept is %v of its chunk", t, v.kept)
	}
}

// carryBlock checks a carry.
func (v *checker) carryBlock(p []byte, here int64) error {
	c, err := format.DecodeCarry(p)
	if err == nil {
		err = carries(&c.Record)
	}
	if err != nil {
		return err
	}
	t := v.t
	if !t.addr.reuses() {
		v.add(here, "block-carry", "a carry, but the trace is not a ring")
		return nil
	}
	r := &c.Record
	spec := r.Kind().Spec()
	v.check(t.addr.canHold(c.Loc), here, "block-carry", "a carry of a record at %d, where none can be", c.Loc)
	v.check(r.Start <= c.Ticks, here, "block-carry", "a carry at tick %d has a record that began at %d", c.Ticks, r.Start)
	v.check(!spec.Scope || r.Open() || r.Stop >= r.Start && r.Stop <= c.Ticks, here, "block-carry", "a carry at tick %d has a scope from %d to %d", c.Ticks, r.Start, r.Stop)
	v.check(v.defined(uint64(r.Name())), here, "record-name", "name %d is not defined", r.Name())
	v.extension(r, c.Ext, here)
	if !t.addr.gone(c.Loc, r.Start) {
		c.Ext = bytes.Clone(c.Ext)
		v.ring.carries = append(v.ring.carries, verifiedCarry{here, t.chunkOf(c.Loc), c})
	}
	return nil
}

// carried compares the carries with their records, unless these are overwritten.
func (v *checker) carried() error {
	var cache blockCache
	for i := range v.ring.carries {
		x := &v.ring.carries[i]
		raw, err := cache.read(v.t, x.carry.Loc, format.RecordSize)
		if err == errGone {
			continue
		}
		if err != nil {
			return err
		}
		same := len(raw) == format.RecordSize && x.chunk.Kind == format.ChunkRecords
		if same {
			r := format.DecodeRecord(raw)
			same = r.Start == x.carry.Record.Start && r.Head == x.carry.Record.Head
		}
		v.check(same, x.at, "block-carry", "the record at %d differs from the carry", x.carry.Loc)
	}
	return nil
}

// goneEnd checks the end record r, whose begin at loc the ring has overwritten.
func (v *checker) goneEnd(r *format.Record, ext []byte, loc format.Loc, here int64) {
	if !v.t.addr.canHold(loc) {
		v.add(here, "end-begin", "the end names a begin at %d, where no record can be", loc)
		return
	}
	key := carryKey{loc, r.Stop}
	g, ok := newGoneBegin(r, ext, 0, 0)
	b := g.record()
	if c := v.t.carried[key]; c != nil {
		b = c.rec
		_, fits := decodeEnd(r, ext, &b, nil)
		ok = ok && fits && (g.head == 0 || sameHead(g.head, b.Head))
	} else if ok && g.head == 0 {
		v.check(v.forgets(), here, "end-begin", "the begin at %d was overwritten, and neither the end nor a carry describes it", loc)
		return
	}
	v.check(ok && r.Start >= r.Stop && sameName(r, &b), here, "end-begin",
		"the scope at %d differs from its end in start, goroutine, name or kind, or begins after it", loc)
	v.inOrder(func(v *checker) {
		v.check(!v.ring.ended[key], here, "end-double", "the scope at %d ends a second time", loc)
		if v.ring.ended == nil {
			v.ring.ended = map[carryKey]bool{}
		}
		v.ring.ended[key] = true
	})
}

// forgets reports whether the recorder had more open scopes than it could keep. From then on it
// does not know of any end whether it is the first.
func (v *checker) forgets() bool {
	_, all := v.t.LossesUntil()
	return !all || v.t.Lost()[format.LossOpen] > 0
}
