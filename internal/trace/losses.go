package trace

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// readCounters reads the writer's counters in chunk 0. t.last must be set.
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

// Lost returns how many records were lost, by reason: the largest of chunk 0's count, the last
// heartbeat's and the sum of the gaps. They overlap, and each may lag.
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

// Miscounted reports whether the counters of lost records have impossible values: another program
// has changed the trace.
func (t *Trace) Miscounted() bool { return t.miscounted }

// LossesUntil returns up to which time the losses are known, in ns from the start. all is true if
// they are known completely. A writer that was killed may have lost records that it could no longer
// count. On the heap its counters are gone with it, as in traces of versions that kept counters
// only there, and if the hot part is missing. Nothing is known if the counters have impossible
// values. If the writer still writes, the losses up to its last round are known. In a merged trace
// they are known up to the start of the first process whose losses are not known completely.
func (t *Trace) LossesUntil() (ns int64, all bool) {
	for _, m := range t.members {
		if m.Uncounted {
			return max(t.Nanos(m.From), 0), false
		}
	}
	if t.miscounted {
		return 0, false
	}
	if t.state.Closed || t.header.Minor >= format.CountersMinor && t.header.Backing != format.BackingHeap && !t.LacksHotPart() {
		return max(t.End(), 0), true
	}
	if tick := t.state.Tick; tick > 0 && tick < format.MaxTicks {
		return max(t.Nanos(tick), 0), false
	}
	return 0, false
}

// Overwritten counts what a ring has overwritten.
type Overwritten struct {
	Records int64 // overwritten records
	Until   int64 // ns from the start: records that began at or after it are all there, except lost ones
	Chunks  int64 // chunks found overwritten when this Trace read them; see also Follower.Missed
}

// Ring returns the number of bytes that are reused; 0: the trace is no ring.
func (t *Trace) Ring() int64 {
	if t.header.Limit > 0 && t.header.Ring > 0 {
		return t.header.Limit // it lies, or lay, in segments: not all of its places are used at a time
	}
	return int64(t.header.Ring) * int64(t.header.ChunkSize)
}

// Overwritten returns what is not in the trace because its ring was full. If the writer is running,
// the values are those of the last check: at Open, and when Events found a chunk gone.
func (t *Trace) Overwritten() Overwritten {
	if !t.addr.reuses() {
		return Overwritten{}
	}
	t.overwrittenChunks.mu.Lock()
	state, chunks := t.overwrittenChunks.state, int64(len(t.overwrittenChunks.chunks))
	t.overwrittenChunks.mu.Unlock()
	o := Overwritten{Records: max(t.state.Overwritten, state.Overwritten), Chunks: chunks}
	for _, v := range t.lastValues {
		if v.Field == format.FieldOverwritten {
			o.Records = max(o.Records, v.Value)
		}
	}
	if until := max(t.state.Until, state.Until); until > 0 && until < format.MaxTicks {
		// All began before the tick until, which may be in the same nanosecond.
		o.Until = max(t.Nanos(until-1)+1, 0)
	}
	return o
}

// noteOverwritten notes that the chunk c was gone when it was to be read. The records in it are not
// all there any more, so it reads the state again, which the writer changes before it overwrites a
// chunk.
func (t *Trace) noteOverwritten(c *chunkInfo) {
	t.until()
	l := &t.overwrittenChunks
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.chunks == nil {
		l.chunks = map[format.Loc]struct{}{}
	}
	l.chunks[c.loc] = struct{}{}
}

// until returns the time from which on nothing is overwritten now. It reads the state again.
func (t *Trace) until() int64 {
	var b [format.StateSize]byte
	n, err := t.readAt(b[:], format.StateOffset)
	l := &t.overwrittenChunks
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && n == len(b) {
		s := format.DecodeState(b[:])
		l.state.Overwritten = max(l.state.Overwritten, s.Overwritten)
		l.state.Until = max(l.state.Until, s.Until)
	}
	return max(l.state.Until, t.state.Until)
}
