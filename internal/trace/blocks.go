package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace/clock"
)

// readBlocks decodes every block of the trace.
func (t *Trace) readBlocks() error {
	buf := make([]byte, t.header.ChunkSize)
	for _, c := range t.chunks {
		if c.Kind != format.ChunkBlocks {
			continue
		}
		tail := blockTail{loc: c.loc, at: format.ChunkHeaderSize}
		more, _, err := t.readTail(&tail, buf)
		if more && tail.torn > 0 && err == nil {
			// Its writer may be storing it; a second read shows that. The first eight bytes are
			// stored last, so a block that is torn then stays torn.
			tail.torn = tornForGood
			more, _, err = t.readTail(&tail, buf)
		}
		if err != nil {
			return err
		}
		if more {
			t.tails = append(t.tails, tail)
		}
	}
	return nil
}

// tornForGood is the number of times that a block must be found torn to be given up.
const tornForGood = 4

// readTail decodes the blocks of one chunk from the tail on. more is false if none can follow,
// changed means that some were read.
func (t *Trace) readTail(tail *blockTail, buf []byte) (more, changed bool, err error) {
	n, err := t.addr.read(buf, tail.loc)
	if err == errGone {
		return false, false, nil
	}
	if err != nil {
		return true, false, err
	}
	at := t.addr.offset(tail.loc)
	h, ok, err := format.DecodeChunkHeader(buf[:n], at, t.header.ChunkSize)
	if err != nil || !ok {
		t.openProblems.add(whyShort(buf[:n]), at, 1) // the index found it valid
		return false, false, nil
	}
	read := chunks.Chunk{ChunkHeader: h, Bytes: buf, Had: n}
	w := read.BlocksFrom(tail.at)
	for w.Next() {
		if w.Err == nil {
			changed = true
			t.block(&w, tail.loc, at)
			tail.at, tail.torn = w.To, 0
			continue
		}
		if tail.torn++; tail.torn < tornForGood && !t.state.Closed {
			return true, changed, nil
		}
		fits := w.Payload != nil
		t.openProblems.add("a "+w.Type.String()+" block is torn and skipped ("+tornReason(fits)+")", at+int64(w.Off), 1)
		if !fits {
			return false, changed, nil
		}
		tail.at = w.To
	}
	return h.Sealed == 0 && !t.state.Closed, changed, nil
}

// tornReason returns a text without numbers that differ from block to block, so that equal defects
// are counted together.
func tornReason(fits bool) string {
	if !fits {
		return "it does not fit its chunk; the rest of the chunk is not read"
	}
	return "its checksum is wrong"
}

// block decodes the sound block at the walk's position. Its chunk is at chunk, in the file at the
// offset at.
func (t *Trace) block(w *format.BlockWalk, chunk format.Loc, at int64) {
	at += int64(w.Off)
	s := format.BlockOf(w.Type)
	if s == nil {
		t.openProblems.add("a block of an unknown type ("+w.Type.String()+") is skipped; a newer tool may know it", at, 1)
		return
	}
	var buf [2]int64
	times := s.Times(buf[:0], w.Payload)
	err := soundTimes(times)
	if err == nil {
		err = decoders[w.Type](t, w.Payload, chunk+format.Loc(w.Off))
	}
	if err != nil {
		t.openProblems.add("a "+s.Name+" block is invalid and is skipped ("+err.Error()+")", at, 1)
		return
	}
	for _, ticks := range times {
		t.last = max(t.last, ticks)
	}
}

func soundTimes(times []int64) error {
	for _, ticks := range times {
		if ticks <= 0 || ticks >= format.MaxTicks {
			return fmt.Errorf("%w: tick %d", format.ErrCorrupt, ticks)
		}
	}
	return nil
}

// decoders decode a block's payload at loc, by its type.
var decoders = [...]func(t *Trace, p []byte, loc format.Loc) error{
	format.BlockName:   (*Trace).nameBlock,
	format.BlockCalib:  (*Trace).calibBlock,
	format.BlockBeat:   (*Trace).beatBlock,
	format.BlockThread: (*Trace).threadBlock,
	format.BlockInfo:   (*Trace).infoBlock,
	format.BlockGap:    (*Trace).gapBlock,
	format.BlockStop:   (*Trace).stopBlock,
	format.BlockBreak:  (*Trace).breakBlock,
	format.BlockNote:   (*Trace).noteBlock,

	format.BlockFrame: (*Trace).frameBlock,
	format.BlockStack: (*Trace).stackBlock,
	format.BlockCount: (*Trace).countBlock,
	format.BlockCarry: (*Trace).carryBlock,

	format.BlockGoTrace: (*Trace).goTraceBlock,
	format.BlockSwitch:  (*Trace).switchBlock,
	format.BlockLock:    (*Trace).lockBlock,

	format.BlockSamples: (*Trace).samplesBlock,
	format.BlockCode:    (*Trace).codeBlock,
	format.BlockFile:    (*Trace).fileBlock,

	format.BlockCalls:  (*Trace).callsBlock,
	format.BlockUnseen: (*Trace).unseenBlock,
	format.BlockMember: (*Trace).memberBlock,

	format.BlockObject:  (*Trace).objectBlock,
	format.BlockProgram: (*Trace).programBlock,
	format.BlockSched:   (*Trace).memberSched,

	format.BlockGoroutine: (*Trace).goroutineBlock,
}

// values decodes the payload of a block, in the order of the table's fields.
func values(t format.BlockType, p []byte) ([]format.Value, error) {
	return format.BlockOf(t).Read(nil, p)
}

func (t *Trace) nameBlock(p []byte, _ format.Loc) error {
	id, name, err := format.DecodeName(p)
	if err != nil {
		return err
	}
	return t.names.Load().add(id, name)
}

func (t *Trace) calibBlock(p []byte, _ format.Loc) error {
	c, err := format.DecodeCalib(p)
	if err == nil {
		t.calibs = append(t.calibs, c)
	}
	return err
}

func (t *Trace) infoBlock(p []byte, _ format.Loc) error {
	vs, err := values(format.BlockInfo, p)
	if err == nil {
		t.Info = append(t.Info, Info{string(vs[0].B), string(vs[1].B)})
	}
	return err
}

func (t *Trace) gapBlock(p []byte, _ format.Loc) error {
	g, err := format.DecodeGap(p)
	if err == nil && (g.Count < 0 || g.To < g.From) {
		err = fmt.Errorf("%w: gap of %d records", format.ErrCorrupt, g.Count)
	}
	if err == nil {
		t.rawGap = append(t.rawGap, g)
	}
	return err
}

func (t *Trace) stopBlock(p []byte, _ format.Loc) error {
	vs, err := values(format.BlockStop, p)
	if err == nil {
		t.stop = vs[0].N
	}
	return err
}

func (t *Trace) breakBlock(p []byte, _ format.Loc) error {
	vs, err := values(format.BlockBreak, p)
	if err == nil {
		from, to := vs[0].N, vs[1].N
		t.breaks = append(t.breaks, rawBreak{min(from, to), max(from, to)})
	}
	return err
}

func (t *Trace) noteBlock(p []byte, _ format.Loc) error {
	vs, err := values(format.BlockNote, p)
	if err == nil {
		t.Notes = append(t.Notes, Note{ticks: vs[0].N, Text: string(vs[1].B)})
	}
	return err
}

// settle sorts the blocks' data and derives the clock, once all blocks are read.
func (t *Trace) settle() {
	var bad int64
	t.clock, bad = clock.New(&t.header, t.calibs)
	t.openProblems.set("a calibration goes backwards and is ignored", bad)
	t.cpu = clock.AtRate(0, t.header.TickRate)
	if t.state.Tick > 0 && t.state.Tick < format.MaxTicks {
		t.last = max(t.last, t.state.Tick)
	}
	t.last = max(t.last, t.header.StartTicks)
	t.sortBeats()
	slices.SortStableFunc(t.Notes, func(a, b Note) int { return cmp.Compare(a.ticks, b.ticks) })
	slices.SortStableFunc(t.rawGap, func(a, b format.Gap) int { return cmp.Compare(a.From, b.From) })
	t.breaks = disjoint(t.breaks)
	for i := range t.members {
		if m := &t.members[i]; m.Lacks != "" {
			t.openProblems.set(MemberLabel(m)+textLacks+m.Lacks, 1)
		}
	}
	for i := range t.Notes {
		t.Notes[i].Time = t.Nanos(t.Notes[i].ticks)
	}
	if t.state.Closed && t.stop == 0 {
		t.openProblems.set("the header marks the trace as closed, but there is no stop block", 1)
	}
}

// disjoint sorts breaks, and joins those that overlap: so a binary search finds whether a scope
// spans one.
func disjoint(bs []rawBreak) []rawBreak {
	slices.SortStableFunc(bs, func(a, b rawBreak) int { return cmp.Compare(a.from, b.from) })
	kept := bs[:0]
	for _, b := range bs {
		if n := len(kept); n > 0 && b.from < kept[n-1].to {
			kept[n-1].to = max(kept[n-1].to, b.to)
		} else {
			kept = append(kept, b)
		}
	}
	return kept
}
