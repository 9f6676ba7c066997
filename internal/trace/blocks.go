package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// blockTail is where the next block of a chunk will be.
type blockTail struct {
	loc  format.Loc // of the chunk
	at   int
	torn int // how often the block there was found torn
}

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
			// Its writer may have been at it; a second reading tells. The first
			// eight bytes are stored last, so what is torn then stays torn.
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

// tornForGood is how often a block must be found torn to be given up.
const tornForGood = 4

// readTail decodes the blocks of one chunk from the tail on. more is false if
// none can follow, changed tells that some were read.
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
		t.found.add(textShort, at, 1) // the index found it good
		return false, false, nil
	}
	b := buf[:n]
	if h.Sealed != 0 {
		b = b[:min(int64(n), h.Sealed)]
	}
	for tail.at < len(b) {
		typ, payload, size, err := format.DecodeBlock(b[tail.at:])
		if size == 0 && err == nil {
			break
		}
		if err != nil {
			if tail.torn++; tail.torn < tornForGood && !t.state.Closed {
				return true, changed, nil
			}
			t.found.add("a "+typ.String()+" block is torn and skipped ("+tornReason(size)+")", at+int64(tail.at), 1)
			if size == 0 {
				return false, changed, nil
			}
			tail.at += size
			continue
		}
		changed = true
		if err := t.block(typ, payload, tail.loc+format.Loc(tail.at)); err == errUnknownBlock {
			t.found.add("a block of an unknown type ("+typ.String()+") is skipped; a newer tool may know it", at+int64(tail.at), 1)
		} else if err != nil {
			t.found.add("a "+typ.String()+" block makes no sense and is skipped ("+err.Error()+")", at+int64(tail.at), 1)
		}
		tail.at += size
		tail.torn = 0
	}
	return h.Sealed == 0 && !t.state.Closed, changed, nil
}

// tornReason is free of numbers that differ from block to block, so that equal
// defects are counted together.
func tornReason(size int) string {
	if size == 0 {
		return "it does not fit its chunk; what follows it there is not read"
	}
	return "its checksum is wrong"
}

var errUnknownBlock = errors.New("unknown type of block")

// block takes in the block at loc, if its times make sense.
func (t *Trace) block(typ format.BlockType, p []byte, loc format.Loc) error {
	s := format.BlockOf(typ)
	if s == nil {
		return errUnknownBlock
	}
	var buf [2]int64
	times := s.Times(buf[:0], p)
	for _, ticks := range times {
		if ticks <= 0 || ticks >= format.MaxTicks {
			return fmt.Errorf("%w: tick %d", format.ErrCorrupt, ticks)
		}
	}
	err := t.take(typ, p, loc)
	if err == nil {
		for _, ticks := range times {
			t.last = max(t.last, ticks)
		}
	}
	return err
}

// take takes in what a block tells.
func (t *Trace) take(typ format.BlockType, p []byte, loc format.Loc) (err error) {
	switch typ {
	case format.BlockName:
		return t.nameBlock(p)
	case format.BlockCalib:
		var c format.Calib
		if c, err = format.DecodeCalib(p); err == nil {
			t.calibs = append(t.calibs, c)
		}
	case format.BlockBeat, format.BlockThread:
		return t.beatBlock(typ, p, loc)
	case format.BlockInfo:
		var i Info
		if i.Key, i.Value, err = format.DecodeInfo(p); err == nil {
			t.info = append(t.info, i)
		}
	case format.BlockGap:
		var g format.Gap
		if g, err = format.DecodeGap(p); err != nil {
			return err
		}
		if g.Count < 0 || g.To < g.From {
			return fmt.Errorf("%w: gap of %d records", format.ErrCorrupt, g.Count)
		}
		t.rawGap = append(t.rawGap, g)
	case format.BlockStop:
		var ticks int64
		if ticks, err = format.DecodeTicks(p); err == nil {
			t.stop = ticks
		}
	case format.BlockBreak:
		var from, to int64
		if from, to, err = format.DecodeBreak(p); err == nil {
			t.breaks = append(t.breaks, rawBreak{min(from, to), max(from, to)})
		}
	case format.BlockNote:
		var n Note
		if n.ticks, n.Text, err = format.DecodeNote(p); err == nil {
			t.notes = append(t.notes, n)
		}
	case format.BlockFrame, format.BlockStack, format.BlockCount:
		return t.stackBlock(typ, p)
	case format.BlockCarry:
		return t.carryBlock(p)
	case format.BlockGoTrace, format.BlockSwitch, format.BlockLock:
		return t.schedBlock(typ, p, loc)
	}
	return err
}

func (t *Trace) nameBlock(p []byte) error {
	id, name, err := format.DecodeName(p)
	if err != nil {
		return err
	}
	return t.names.Load().add(id, name)
}

// settle brings what the blocks told into order, once they are all read.
func (t *Trace) settle() {
	var bad int64
	t.clock, bad = newClock(&t.header, t.calibs)
	t.found.set("a calibration goes backwards and is not used", 0, bad)
	t.cpu = rateClock(0, t.header.TickRate)
	if t.state.Tick > 0 && t.state.Tick < format.MaxTicks {
		t.last = max(t.last, t.state.Tick)
	}
	t.last = max(t.last, t.header.StartTicks)
	t.sortBeats()
	slices.SortStableFunc(t.notes, func(a, b Note) int { return cmp.Compare(a.ticks, b.ticks) })
	slices.SortStableFunc(t.rawGap, func(a, b format.Gap) int { return cmp.Compare(a.From, b.From) })
	t.breaks = disjoint(t.breaks)
	for i := range t.notes {
		t.notes[i].Time = t.Nanos(t.notes[i].ticks)
	}
	if t.state.Closed && t.stop == 0 {
		t.found.set("the header says that the trace was closed, and there is no stop block", 0, 1)
	}
}

// disjoint sorts breaks, and makes one of those that overlap: so what lies across any
// is found by halves.
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
