package trace

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// verifiedBlocks holds the values by which blocks are checked against each other.
type verifiedBlocks struct {
	calib  format.Calib
	calibs int
	beat   int64 // ticks
	last   map[format.Field]int64
	stops  int
	stopAt int64 // place of the last stop block
	after  bool  // a block follows it
}

func (v *checker) blockChunk(w format.BlockWalk, off int64) {
	b := w.Chunk
	for w.Next() {
		t, p, here := w.Type, w.Payload, off+int64(w.Off)
		if w.Err != nil {
			v.add(here, "block-whole", "%v", w.Err)
			continue
		}
		head := b[w.Off : w.Off+format.BlockHeaderSize]
		v.check(firstNonzero(head[6:8]) < 0 && firstNonzero(head[12:]) < 0, here, "block-form", "reserved bytes of the block's head are not zero")
		v.check(firstNonzero(b[w.Off+format.BlockHeaderSize+len(p):w.To]) < 0, here, "block-form", "the block's padding is not zero")
		// In a ring the kept chunks come first here, whenever they were written.
		v.blocks.after = v.blocks.after || v.blocks.stops > 0 && v.kept == v.t.addr.reuses()
		v.ringBlock(t, here)
		v.block(t, p, here)
	}
	if w.Err == nil {
		v.zero(b[w.To:], off+int64(w.To), "chunk-tail", "the bytes behind the last block are not zero")
	}
}

func (v *checker) block(t format.BlockType, p []byte, here int64) {
	s := format.BlockOf(t)
	if s == nil {
		v.add(here, "block-form", "a block of unknown type %d", t)
		return
	}
	vs, err := s.ReadFields(nil, p)
	if err == nil {
		s.Sound(vs, func(text string) { v.add(here, "block-form", "a %s block: %s", s.Name, text) })
		if s.Longer {
			n := len(s.Append(nil, vs))
			v.check(n == len(p), here, "block-form", "the payload of a %s block has %d bytes, not %d", s.Name, len(p), n)
		}
		for _, ticks := range s.Times(nil, p) {
			v.time(ticks, here)
		}
		err = v.meaning(t, p, here)
	}
	if err != nil {
		v.add(here, "block-form", "a %s block: %v", s.Name, err)
	}
}

// meaning checks a block of sound form against the others.
func (v *checker) meaning(t format.BlockType, p []byte, here int64) error {
	switch t {
	case format.BlockName:
		id, name, _ := format.DecodeName(p)
		v.check(id >= format.FirstName, here, "block-name", "id %d is named %q", id, name)
		v.check(!v.named[id], here, "block-name", "id %d is named a second time: %q", id, name)
		v.named[id] = true
	case format.BlockCalib:
		c, _ := format.DecodeCalib(p)
		k := &v.blocks
		v.check(c.Bracket >= 0, here, "block-calib", "a bracket of %d ticks", c.Bracket)
		v.check(k.calibs == 0 || c.Ticks > k.calib.Ticks && c.Mono > k.calib.Mono, here, "block-calib",
			"the clocks read %d and %d, after %d and %d", c.Ticks, c.Mono, k.calib.Ticks, k.calib.Mono)
		k.calib = c
		k.calibs++
	case format.BlockBeat:
		v.beat(p, here)
	case format.BlockGap:
		g, _ := format.DecodeGap(p)
		v.check(g.To >= g.From, here, "block-time", "a gap from tick %d to %d", g.From, g.To)
		v.check(g.Count > 0, here, "block-form", "a gap of %d records by %v", g.Count, g.Reason)
	case format.BlockStop:
		v.blocks.stops++
		v.blocks.stopAt = here
	case format.BlockFrame, format.BlockStack, format.BlockCount:
		v.stackBlock(t, p, here)
	case format.BlockCarry:
		return v.carryBlock(p, here)
	case format.BlockSwitch:
		v.switchBlock(p, here)
	case format.BlockSamples:
		return v.samplesBlock(p, here)
	case format.BlockCode:
		v.stackBlock(t, p, here)
	case format.BlockFile:
		_, err := format.DecodeFilePart(p)
		return err
	case format.BlockCalls:
		_, cs, err := format.DecodeCalls(nil, p)
		for _, c := range cs {
			v.check(v.defined(uint64(c.Name)), here, "block-calls", "the name %d of a function is not defined", c.Name)
		}
		return err
	case format.BlockUnseen:
		us, err := format.DecodeUnseen(nil, p)
		for _, u := range us {
			v.check(v.defined(uint64(u.Name)), here, "block-calls", "the name %d of a function is not defined", u.Name)
		}
		return err
	case format.BlockMember:
		_, err := format.DecodeMember(p)
		return err
	case format.BlockSched:
		s, err := format.DecodeSched(p)
		_, ok := v.t.member(s.Number)
		v.check(err != nil || ok, here, "block-member", "Go execution traces belong to the process %d, which is missing", s.Number)
		return err
	case format.BlockLock:
		l, err := format.DecodeLockSums(p)
		v.check(err != nil || v.defined(uint64(l.Name)), here, "block-lock", "the name %d of a lock is not defined", l.Name)
		return err
	}
	return nil
}

func (v *checker) time(ticks, here int64) {
	v.check(ticks >= v.t.header.StartTicks && ticks < format.MaxTicks, here, "block-time", "a block's time is tick %d, the start is %d", ticks, v.t.header.StartTicks)
}

func (v *checker) beat(p []byte, here int64) {
	ticks, vs, _ := format.DecodeBeat(nil, p)
	k := &v.blocks
	v.check(ticks > k.beat, here, "block-time", "a beat at tick %d, after one at %d", ticks, k.beat)
	k.beat = ticks
	if k.last == nil {
		k.last = map[format.Field]int64{}
	}
	seen := map[format.Field]bool{}
	for i, x := range vs {
		raw := binary.LittleEndian.Uint64(p[8+16*i:])
		if raw == 0 || raw > uint64(len(format.Fields)) {
			v.add(here, "block-beat", "a beat has the unknown field %d", raw)
			continue
		}
		v.check(!seen[x.Field], here, "block-beat", "a beat has %v twice", x.Field)
		seen[x.Field] = true
		if format.Fields[x.Field-1].Cumulative {
			old, ok := k.last[x.Field]
			v.check(!ok || x.Value >= old, here, "block-beat", "%v falls from %d to %d", x.Field, old, x.Value)
			k.last[x.Field] = x.Value
		}
	}
}

// blocksDone checks the rules that concern all blocks together.
func (v *checker) blocksDone() {
	v.goTraces()
	v.files()
	for _, m := range v.t.members {
		_, ok := v.t.member(m.Parent)
		v.check(m.Parent == 0 || ok && m.Parent < m.Number, 0, "block-member", "the process %d has the parent %d", m.Number, m.Parent)
	}
	k := &v.blocks
	if !v.t.state.Closed {
		v.check(k.stops == 0, k.stopAt, "block-stop", "a stop block, and the trace is not closed")
		return
	}
	v.check(k.stops == 1, k.stopAt, "block-stop", "%d stop blocks in a closed trace", k.stops)
	v.check(!k.after, k.stopAt, "block-stop", "a block follows the stop block")
}
