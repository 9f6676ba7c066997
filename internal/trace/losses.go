package trace

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// readCounters reads what the writer counts in chunk 0. The trace's last moment is known.
func (t *Trace) readCounters() error {
	if !t.header.HasCounters() {
		return nil
	}
	b := make([]byte, format.ChunkSize-format.CountersOffset)
	n, err := chunks.ReadFull(t.r, b[:max(min(int64(len(b)), t.size-format.CountersOffset), 0)], format.CountersOffset)
	if err != nil {
		return ioError(t.path, format.CountersOffset, err)
	}
	t.counted = [format.CounterReasons + 1]int64{}
	t.miscounted = !format.AddCounters(&t.counted, b[:n], format.MostCounted(t.last-t.header.StartTicks))
	return nil
}

// Lost returns how many records were lost by reason: what chunk 0 counts, the last heartbeat
// says or the gaps add up to, whichever is more. They overlap, and each may lag.
func (t *Trace) Lost() map[format.Loss]int64 {
	gaps := map[format.Loss]int64{}
	for _, g := range t.rawGap {
		n := max(g.Count, 0)
		gaps[g.Reason] += min(n, math.MaxInt64-gaps[g.Reason])
	}
	for _, v := range t.lastValues {
		if why := slices.Index(format.LossFields[1:], v.Field) + 1; why > 0 {
			gaps[format.Loss(why)] = max(gaps[format.Loss(why)], v.Value)
		}
	}
	for i, n := range t.counted {
		gaps[format.Loss(i)] = max(gaps[format.Loss(i)], n)
	}
	for l, n := range gaps {
		if n == 0 {
			delete(gaps, l)
		}
	}
	return gaps
}

// Miscounted reports whether the counters of what was lost have numbers that can't be right:
// somebody else has written the trace.
func (t *Trace) Miscounted() bool { return t.miscounted }

// LossesUntil returns up to when it is known what was lost, in ns from the start. all is
// true where nothing more was. A writer that was stopped by force may have lost records
// that it could not tell of any more. On the heap what it counted is gone with it, as in
// traces of versions that counted there always, and where the hot part is missing. Nothing is
// known where the counters have what no writer counts to. Of a
// writer that still writes, all is known that it could tell until its last round. Of a merged
// trace's processes nothing is known from the start of one on of which not all is.
func (t *Trace) LossesUntil() (ns int64, all bool) {
	for _, m := range t.members {
		if m.Uncounted {
			return max(t.Nanos(m.From), 0), false
		}
	}
	if t.miscounted {
		return 0, false
	}
	if t.state.Closed || t.header.Minor >= format.CountersMinor && t.header.Backing != format.BackingHeap && !t.Cool() {
		return max(t.End(), 0), true
	}
	if tick := t.state.Tick; tick > 0 && tick < format.MaxTicks {
		return max(t.Nanos(tick), 0), false
	}
	return 0, false
}
