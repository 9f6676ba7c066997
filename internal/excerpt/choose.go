package excerpt

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// naming is the record that names a goroutine's row.
type naming struct {
	at   goneRecord
	gone bool
}

// choose marks the records of the excerpt.
func (m *maker) choose() error {
	rows := map[uint64]bool{} // goroutines in the range
	supplied, err := m.readStates(rows)
	if err != nil {
		return err
	}
	names := map[uint64]naming{}     // the latest
	running := map[uint64][]inside{} // by row
	n := 0
	err = m.t.Events(trace.Options{To: m.to, Detail: trace.Rowless}, func(e *trace.Event) bool {
		if n++; n%(1<<16) == 0 && m.ctx.Err() != nil {
			return false
		}
		if e.Start < m.from && e.Kind.Spec().Scope {
			running[rowOf(e)] = m.nest(running[rowOf(e)], e)
		}
		if touches := m.from <= 0 || e.Start+e.Dur >= m.from; !touches { // as trace.Options select
			if e.Goid != 0 && (e.Kind == format.KindTrack || e.Kind == format.KindGo) {
				names[e.Goid] = naming{goneRecord{e.Loc, e.Start}, e.Overwritten}
			}
			return true
		}
		at := goneRecord{e.Loc, e.Start}
		if e.Kind == format.KindPending {
			at.start = anyStart // e.Start is its stop
		}
		m.mark(naming{at, e.Overwritten})
		if name, ok := names[e.Goid]; ok && e.Start < m.from {
			m.mark(name) // that of its begin; there may be a later one
		}
		rows[e.Goid] = true
		if supplied && (e.Start < m.from || e.Start+e.Dur > m.to) {
			m.supply(e)
		}
		return true
	})
	if err != nil {
		return err
	}
	for goid, name := range names {
		if rows[goid] {
			m.mark(name)
		}
	}
	m.findLacks()
	return nil
}

// inside is a scope that began before the range.
type inside struct {
	record naming
	until  int64 // ns
}

// rowOf returns the key of an event's row.
func rowOf(e *trace.Event) uint64 {
	switch {
	case e.Goid != 0:
		return e.Goid
	case e.Thread != 0:
		return 1<<62 | uint64(e.Thread)
	}
	return 1<<63 | uint64(e.Owner)
}

// nest adds a scope to those of its row, without those that have ended. If it touches the range, they
// are marked: its depth is their number.
func (m *maker) nest(list []inside, e *trace.Event) []inside {
	list = slices.DeleteFunc(list, func(x inside) bool { return x.until < e.Start })
	if e.Start+e.Dur >= m.from {
		for _, x := range list {
			m.mark(x.record)
		}
	}
	if e.Kind == format.KindPending {
		return list
	}
	return append(list, inside{naming{goneRecord{e.Loc, e.Start}, e.Overwritten}, e.Start + e.Dur})
}

// readStates reads Go's execution trace, if there is one, and adds the goroutines that it has in the
// range. supplied reports whether it supplies CPU times and ends of scopes.
func (m *maker) readStates(rows map[uint64]bool) (supplied bool, err error) {
	if len(m.t.GoTraces()) == 0 {
		return false, nil
	}
	supplied = m.t.WantsCPU()
	f, err := states.EachOf(m.t, states.CPUTimes(m.t), states.Handler{Transition: m.follow})
	if errors.Is(err, gotrace.ErrNone) {
		return supplied, nil
	}
	if err != nil {
		return false, err
	}
	for id, g := range f.Goroutines {
		if g.From <= m.to && g.To >= m.from {
			rows[id] = true
		}
	}
	m.facts, m.foreign = f, f.Info.Foreign
	m.lacks = append(m.lacks, f.Info.Damage...)
	return supplied, nil
}

// mark marks a record.
func (m *maker) mark(r naming) {
	if r.gone {
		m.gone[r.at] = true
		return
	}
	unit := int64(r.at.loc) % m.cs / format.RecordSize
	at := r.at.loc - r.at.loc%format.Loc(m.cs)
	set := m.marked[at]
	if set == nil {
		set = make([]uint64, (m.cs/format.RecordSize+63)/64)
		m.marked[at] = set
	}
	set[unit/64] |= 1 << (unit % 64)
}

// isMarked reports whether the record at an offset of a chunk is marked.
func isMarked(set []uint64, off int) bool {
	unit := off / format.RecordSize
	return set[unit/64]&(1<<(unit%64)) != 0
}

// countMarked returns the number of marked records.
func countMarked(set []uint64) (n int) {
	for _, word := range set {
		n += bits.OnesCount64(word)
	}
	return n
}

// supply notes what Go's execution trace supplied to a scope that is partly outside of the range.
func (m *maker) supply(e *trace.Event) {
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindWait, format.KindHold, format.KindProcess:
	default:
		return
	}
	switch {
	case e.Left:
		m.left[e.Loc] = e.Start + e.Dur
	case !e.Open && e.Quality != format.Unknown && e.Kind != format.KindProcess:
		m.cpu[e.Loc] = m.ticksOfCPU(e.CPU)<<2 | uint64(e.Quality)
	}
}

// ticksOfCPU returns the least number of CPU ticks that are read as ns.
func (m *maker) ticksOfCPU(ns int64) uint64 {
	hi, lo := bits.Mul64(uint64(max(ns, 0)), uint64(m.header.TickRate))
	lo, carry := bits.Add64(lo, 1e9-1, 0)
	if hi += carry; hi >= 1e9 {
		return 0 // no scope takes that long
	}
	q, _ := bits.Div64(hi, lo, 1e9)
	return q
}
