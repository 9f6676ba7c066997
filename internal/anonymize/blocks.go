package anonymize

import "github.com/scopeview/scopeview/internal/format"

// blocks appends what is left of the blocks in from. None becomes longer, or they
// would not fit their chunk.
func (a *anonymizer) blocks(b, from []byte) ([]byte, error) {
	for {
		t, p, size, err := format.DecodeBlock(from)
		if size == 0 {
			if err != nil {
				a.result.Dropped++
			}
			return b, nil
		}
		from = from[size:]
		kept := []byte(nil)
		if err == nil {
			if kept, err = a.block(t, p); err != nil {
				return b, err
			}
		}
		if kept == nil {
			a.result.Dropped++
			continue
		}
		if len(kept) > 0 {
			b = format.AppendBlock(b, t, kept)
		}
	}
}

// block is the payload of a block without what nobody is to know: empty if that is
// all of it, nil if it makes no sense.
func (a *anonymizer) block(t format.BlockType, p []byte) (kept []byte, err error) {
	var bad error
	switch t {
	case format.BlockName:
		var id uint16
		var name []byte
		if id, name, bad = format.DecodeName(p); bad == nil {
			a.result.Names++
			kept = format.AppendName(nil, id, a.hash.text("name", string(name)))
		}
	case format.BlockCalib:
		var c format.Calib
		if c, bad = format.DecodeCalib(p); bad == nil {
			kept = format.AppendCalib(nil, &c)
		}
	case format.BlockBeat:
		kept, bad = beat(p)
	case format.BlockThread:
		var ticks int64
		var ts []format.Thread
		if ticks, ts, bad = format.DecodeThreads(nil, p); bad == nil {
			kept = format.AppendThreads(nil, ticks, ts)
		}
	case format.BlockInfo:
		var key, value string
		if key, value, bad = format.DecodeInfo(p); bad == nil {
			if kept = []byte{}; keepFact(key, &value) {
				kept = format.AppendInfo(nil, key, value)
			}
		}
	case format.BlockGap:
		var g format.Gap
		if g, bad = format.DecodeGap(p); bad == nil {
			kept = format.AppendGap(nil, &g)
		}
	case format.BlockStop:
		var ticks int64
		if ticks, bad = format.DecodeTicks(p); bad == nil {
			kept = format.AppendTicks(nil, ticks)
		}
	case format.BlockBreak:
		var before, after int64
		if before, after, bad = format.DecodeBreak(p); bad == nil {
			kept = format.AppendBreak(nil, before, after)
		}
	case format.BlockNote:
		var ticks int64
		var text string
		if ticks, text, bad = format.DecodeNote(p); bad == nil {
			kept = format.AppendNote(nil, ticks, a.note(text))
		}
	case format.BlockFrame:
		var f format.Frame
		if f, bad = format.DecodeFrame(p); bad == nil {
			a.frame(&f, len(p))
			kept = format.AppendFrame(nil, &f)
		}
	case format.BlockStack:
		var s format.Stack
		if s, bad = format.DecodeStack(p); bad == nil {
			kept = format.AppendStack(nil, &s)
		}
	case format.BlockCount:
		var ticks int64
		var cs []format.Count
		if ticks, cs, bad = format.DecodeCounts(nil, p); bad == nil {
			kept = format.AppendCounts(nil, ticks, cs)
		}
	case format.BlockCarry:
		return a.carry(p)
	case format.BlockGoTrace, format.BlockSwitch, format.BlockLock:
		kept, bad = a.sched(t, p)
	}
	if bad != nil {
		return nil, nil
	}
	return kept, nil
}

// sched is the payload of a gotrace, switch or lock block: nothing of the first.
func (a *anonymizer) sched(t format.BlockType, p []byte) (kept []byte, err error) {
	switch t {
	case format.BlockGoTrace:
		_, _, part, err := format.DecodeGoTrace(p)
		a.result.GoTrace += int64(len(part))
		return []byte{}, err
	case format.BlockSwitch:
		s, err := format.DecodeSwitches(nil, p)
		if err != nil {
			return nil, err
		}
		return format.AppendSwitches(nil, &s), nil
	}
	l, err := format.DecodeLockSums(p)
	l.Addr = a.hash.address(l.Addr)
	return format.AppendLockSums(nil, &l), err
}

// beat is a heartbeat's payload with the fields of this version.
func beat(p []byte) ([]byte, error) {
	ticks, vs, err := format.DecodeBeat(nil, p)
	if err != nil {
		return nil, err
	}
	known := vs[:0]
	for _, v := range vs {
		if v.Field > 0 && int(v.Field) <= len(format.Fields) {
			known = append(known, v)
		}
	}
	return format.AppendBeat(nil, ticks, known), nil
}

// carry is a carry's payload without arguments; nil if its record has no meaning.
func (a *anonymizer) carry(p []byte) ([]byte, error) {
	c, err := format.DecodeCarry(p)
	if err != nil {
		return nil, nil
	}
	ext, ok := a.keptSlots(nil, &c.Record, c.Ext)
	if !ok || c.Record.Kind() == format.KindEnd {
		return nil, nil
	}
	if c.Loc, err = a.moved(c.Loc, c.Record.Start); err != nil {
		return nil, err
	}
	rec := appendRecord(nil, &c.Record, nil)
	c.Record, c.Ext = format.DecodeRecord(rec), ext
	if !c.Record.Ext() {
		c.Ext = nil
	}
	return format.AppendCarry(nil, &c), nil
}

// note is a note without what the operator wrote.
func (a *anonymizer) note(text string) string {
	switch text {
	case "switched off from outside", "switched on from outside":
		return text
	}
	return a.hash.text("note", text)
}
