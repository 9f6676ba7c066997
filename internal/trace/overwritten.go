package trace

import "github.com/scopeview/scopeview/internal/format"

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
	t.lapped.mu.Lock()
	state, chunks := t.lapped.state, int64(len(t.lapped.chunks))
	t.lapped.mu.Unlock()
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

// missed notes that the chunk c was gone when it was to be read. The records in it are not all
// there any more, so it reads the state again, which the writer changes before it overwrites a
// chunk.
func (t *Trace) missed(c *chunkInfo) {
	t.until()
	l := &t.lapped
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
	l := &t.lapped
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && n == len(b) {
		s := format.DecodeState(b[:])
		l.state.Overwritten = max(l.state.Overwritten, s.Overwritten)
		l.state.Until = max(l.state.Until, s.Until)
	}
	return max(l.state.Until, t.state.Until)
}
