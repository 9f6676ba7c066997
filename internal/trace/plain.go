package trace

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// playUnordered is play for callers that do not need the records of a stretch in order.
func (p *player) playUnordered(st *stretch) (more bool, err error) {
	for i := range st.slices {
		x := &st.slices[i]
		places, plain := x.c.places[x.next:x.end], p.canUseShortForm(x.c)
		for k := range places {
			if more, err := p.nextUnordered(x, &places[k], plain); err != nil || !more {
				st.stop = places[k].key
				return false, err
			}
		}
	}
	return p.finish(st)
}

// nextUnordered turns one record into an event. If canUseShortForm allows it, it sets only the
// fields in which two scopes that ended in place differ, as most scopes do: a third of all fields.
func (p *player) nextUnordered(x *slice, at *place, plain bool) (more bool, err error) {
	if !plain {
		return p.record(x, at)
	}
	b := x.c.bytes[at.off:][:format.RecordSize]
	start, stop, head := at.key, int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[16:])
	kind := format.Kind(head >> 40 & 0x7f)
	if effectOf[kind] != effectRuns || kind == format.KindProcess || p.objects != nil && kind != format.KindTask ||
		stop < start || stop >= format.MaxTicks || head&format.ExtBit != 0 {
		return p.record(x, at)
	}
	e := &p.event
	if !p.isPlain {
		p.isPlain = true
		*e = Event{User: -1, System: -1}
	}
	cpu := binary.LittleEndian.Uint64(b[24:])
	e.Kind, e.Name, e.Quality = kind, uint16(head>>48), format.Quality(cpu&3)
	if p.r.o.Detail == Counts {
		return p.f(e), nil
	}
	e.Thread, e.Owner, e.Goid, e.Loc = at.thread, x.c.owner, head&format.MaxGoid, x.c.chunk+format.Loc(at.off)
	// Mostly both are in the same piece of the clock as the last ones.
	if c, stopped := &p.starts, uint64(stop-p.starts.T0); stopped < c.Near && start >= c.T0 {
		e.Start = c.Quick(uint64(start - c.T0))
		e.Dur = c.Quick(stopped) - e.Start
	} else {
		e.Start = c.Nanos(start)
		e.Dur = p.stops.Nanos(stop) - e.Start
	}
	e.CPU = 0
	if e.Quality != format.Unknown {
		if c, ticks := &p.cpus, uint64(int64(cpu>>2)-p.cpus.T0); ticks < c.Near {
			e.CPU = min(c.Quick(ticks), e.Dur)
		} else {
			e.CPU = min(c.Nanos(int64(cpu>>2)), e.Dur)
		}
	}
	if p.r.wantsRow {
		if row := p.row(x, e, start); p.r.wantsDepth {
			row.depth.addScope(stop)
		}
	}
	return !p.touches(e) || p.f(e), nil
}

// canUseShortForm reports whether nextUnordered may use its short form for a chunk.
func (p *player) canUseShortForm(c *cursor) bool {
	return p.r.cpuAt == nil && len(p.t.breaks) == 0 && c.reconstructed == nil && len(c.ends) == 0 && (p.r.o.Detail != Counts || p.r.o.From <= 0 && p.t.filter == nil)
}
