package trace

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// playSlices is play for who does not need the records of a stretch in order. If the run
// counts, most are told of by countPlain.
func (p *player) playSlices(st *stretch) (more bool, err error) {
	plain := p.r.o.Counts && p.r.cpuAt == nil && len(p.t.breaks) == 0 && p.r.o.From <= 0
	for i := range st.slices {
		x := &st.slices[i]
		for quick := plain && x.c.made == nil && len(x.c.ends) == 0; x.next < x.end; {
			at := &x.c.places[x.next]
			x.next++
			more := true
			if quick && p.countPlain(x.c.bytes[at.off:], at.key) {
				more = p.f(&p.event)
			} else if more, err = p.record(x, at); err != nil {
				return false, err
			}
			if !more {
				st.stop = at.key
				return false, nil
			}
		}
	}
	return p.finish(st)
}

// countPlain makes an event of the record b, if that is a scope that has ended in place, as
// most are.
func (p *player) countPlain(b []byte, start int64) bool {
	b = b[:format.RecordSize]
	stop, head := int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[16:])
	kind := format.Kind(head >> 40 & 0x7f)
	if does[kind] != doesRun || kind == format.KindProcess || p.objects != nil && kind != format.KindTask ||
		stop < start || stop >= format.MaxTicks || head&format.ExtBit != 0 {
		return false
	}
	e := &p.event
	e.Kind, e.Name, e.Open, e.Quality = kind, uint16(head>>48), false, format.Quality(b[24]&3)
	return true
}
