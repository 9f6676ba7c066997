package trace

import (
	"encoding/binary"
	"io"

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
	case format.BlockGoroutine:
		g, err := format.DecodeGoroutine(p)
		for _, stack := range []uint32{g.Site, g.Start, g.Stack} {
			v.check(err != nil || stack == 0 || v.stacks.stacks[stack], here, "block-goroutine", "the goroutine %d has the stack %d, which no block before defines", g.ID, stack)
		}
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

// switchBlock checks that the switches of a thread follow each other.
func (v *checker) switchBlock(p []byte, here int64) {
	s, _, _ := format.CheckSwitches(p)
	if v.switched == nil {
		v.switched = map[[2]uint32]int64{}
	}
	thread := [2]uint32{uint32(s.Process), s.Thread}
	until := v.switched[thread]
	v.check(s.Base >= until, here, "block-switch", "switches of thread %d from %d on, after a block that had them until %d", s.Thread, s.Base, until)
	v.switched[thread] = s.Until
}

// goTraces checks the parts of Go execution traces against each other.
func (v *checker) goTraces() {
	parts := v.t.sortedParts()
	for i := 1; i < len(parts); i++ {
		a, b := &parts[i-1], &parts[i]
		v.check(a.stream != b.stream || a.seq != b.seq, v.t.addr.offset(b.loc), "block-gotrace", "the part %d of the Go execution trace %d is repeated", b.seq, b.stream)
	}
}

// verifiedStacks holds the defined ids of frames and stacks.
type verifiedStacks struct {
	frames, stacks, codes map[uint32]bool
	sampled               map[sampled]int64 // the end of the last block
	samples               format.SamplesReader
}

// sampled is a sequence of blocks of samples.
type sampled struct {
	thread  uint32
	counter string
}

// stackBlock checks a frame, stack, code or count block.
func (v *checker) stackBlock(t format.BlockType, p []byte, here int64) {
	k := &v.stacks
	if k.frames == nil {
		k.frames, k.stacks, k.codes = map[uint32]bool{}, map[uint32]bool{format.OtherStacks: true}, map[uint32]bool{}
	}
	switch t {
	case format.BlockFrame:
		f, _ := format.DecodeFrame(p)
		v.check(!k.frames[f.ID], here, "block-stack", "frame %d is defined a second time: %q", f.ID, f.Function)
		k.frames[f.ID] = true
	case format.BlockStack:
		s, _ := format.DecodeStack(p)
		v.check(!k.stacks[s.ID], here, "block-stack", "stack %d is defined a second time", s.ID)
		k.stacks[s.ID] = true
		for _, f := range s.Frames {
			v.check(k.frames[f], here, "block-stack", "stack %d has the frame %d, which no block before defines", s.ID, f)
		}
	case format.BlockCode:
		c, _ := format.DecodeCode(p)
		v.check(!k.codes[c.Stack], here, "block-stack", "the addresses of stack %d are defined a second time", c.Stack)
		k.codes[c.Stack] = true
	case format.BlockCount:
		_, cs, _ := format.DecodeCounts(nil, p)
		for _, c := range cs {
			v.check(c.Calls > 0, here, "block-stack", "%d calls are counted", c.Calls)
			v.check(c.Name < format.FirstName || v.named[c.Name], here, "block-stack", "calls are counted of name %d, which no block before defines", c.Name)
			v.check(k.stacks[c.Stack], here, "block-stack", "calls are counted from stack %d, which no block before defines", c.Stack)
		}
	}
}

// samplesBlock checks that the samples of a thread by a counter follow each other, and that
// their stacks are known.
func (v *checker) samplesBlock(p []byte, here int64) error {
	k := &v.stacks
	s, err := k.samples.Decode(p)
	if err != nil {
		return err
	}
	if k.sampled == nil {
		k.sampled = map[sampled]int64{}
	}
	of := sampled{s.Thread, s.Counter}
	v.check(s.Base >= k.sampled[of], here, "block-samples", "samples of thread %d from %d on, after a block that had them until %d", s.Thread, s.Base, k.sampled[of])
	k.sampled[of] = s.Until
	for _, x := range s.List {
		v.check(x.Stack == format.OtherStacks || k.stacks[x.Stack], here, "block-samples", "a sample has stack %d, which no block before defines", x.Stack)
	}
	return nil
}

// files checks the files stored with the trace.
func (v *checker) files() {
	buf := make([]byte, format.MaxFilePart)
	for _, f := range v.t.Files() {
		for i, p := range f.parts {
			v.check(i == 0 || f.parts[i-1].offset+f.parts[i-1].length <= p.offset, v.t.addr.offset(p.loc), "block-file", "the part at byte %d of the stored file %s overlaps another", p.offset, f.Name)
		}
		r := f.Reader()
		for off := int64(0); off < f.Size; {
			n, err := r.ReadAt(buf, off)
			if off += int64(n); err != nil && err != io.EOF {
				v.add(v.t.addr.offset(f.parts[0].loc), "block-file", "%v", err)
				break
			}
		}
	}
}
