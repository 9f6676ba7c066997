package trace

import "github.com/scopeview/scopeview/internal/format"

// Overwritten is what a ring let go of.
type Overwritten struct {
	Records int64 // that were overwritten
	Until   int64 // ns from the start: what began at or after it is all there, but for what was lost
	Chunks  int64 // those that were overwritten when this Trace came to read them; see also Follower.Missed
}

// Ring returns the bytes that are used again and again; 0: the trace is no ring.
func (t *Trace) Ring() int64 {
	if t.header.Limit > 0 && t.header.Ring > 0 {
		return t.header.Limit // it lies, or lay, in segments: not all of its places are used at a time
	}
	return int64(t.header.Ring) * int64(t.header.ChunkSize)
}

// Overwritten returns what is not in the trace because its ring was full. Where the
// writer goes on it is as it was at the last look: at Open, and when Events came
// to a chunk that was gone.
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
		o.Until = max(t.Nanos(until), 0)
	}
	return o
}

// missed takes note that the chunk c was gone when it was to be read. What began
// in it is not "all there" any more, so the state, which the writer changes
// before it overwrites, is read again.
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

// until returns the time from which on nothing is overwritten now. It reads the state
// again.
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
