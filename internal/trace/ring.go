package trace

import (
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
)

// # Rings
//
// In a ring a chunk's place in the file says nothing but where it is now: its
// number is what orders it and what ends apart call it by. So everywhere in this
// package an offset is the logical one, number × chunk size, which without a ring
// is the place; locate makes places of offsets where the file is read, and
// nothing else knows of them.
//
// A number alone does not say which chunk: after some billion records numbers
// begin again. What began before the chunk of that number was handed out was in
// an earlier one, which is gone; holds tells.
//
// The writer may overwrite a chunk while it is read. It zeroes the page with the
// header first. So whoever has read looks at the header again; if that changed
// the bytes are of two chunks, or none, and errGone is all that comes of them.
//
// What is open by a carry block may have an end in a chunk that was overwritten
// before it was read. That the scope ended is told a quarter of a lap after the
// end, and the end is overwritten a lap after it; so only a reading that takes
// half a lap can take it for open.

// errGone is of a chunk that was overwritten since its header was read.
var errGone = errors.New("the chunk was overwritten")

// keptBase is the number that counts for a kept chunk in place 0: their offsets
// are behind all others.
const keptBase = 1 << 24

// inRing tells whether chunks are used again.
func (t *Trace) inRing() bool { return t.header.Ring != 0 }

// overwrites tells whether a chunk can be overwritten from now on.
func (t *Trace) overwrites() bool { return t.inRing() && !t.state.Closed }

// logical is the offset that counts for the chunk at at, whose header is h.
func (t *Trace) logical(at int64, h *format.ChunkHeader) (int64, error) {
	cs := int64(t.header.ChunkSize)
	switch kept := h.Flags&format.FlagKept != 0; {
	case !t.inRing():
		return at, nil
	case kept && h.Kind == format.ChunkRecords:
		return 0, fmt.Errorf("%w: records in a chunk that is kept", format.ErrCorrupt)
	case kept && h.Number != 0:
		return 0, fmt.Errorf("%w: a number, and it is kept", format.ErrCorrupt)
	case kept:
		return keptBase*cs + at, nil
	case h.Number == 0 || h.Number > format.RingNumbers:
		return 0, fmt.Errorf("%w: no chunk of a ring has such a number", format.ErrCorrupt)
	}
	return int64(h.Number) * cs, nil
}

// canHold tells whether a ring's chunk can have, or have had, a record at loc.
func (t *Trace) canHold(loc int64) bool {
	cs := int64(t.header.ChunkSize)
	return loc >= cs && loc < keptBase*cs && loc%cs >= format.ChunkHeaderSize && loc%format.RecordSize == 0
}

// locate is where the file has the chunk that loc lies in, and the place of loc;
// c is nil if there is no such chunk.
func (t *Trace) locate(loc int64) (c *chunkInfo, at int64) {
	rest := loc % int64(t.header.ChunkSize)
	if c = t.chunkAt(loc - rest); c == nil {
		return nil, 0
	}
	return c, c.at + rest
}

// place is where in the file loc is, for people who look there; 0 if it is not
// there any more.
func (t *Trace) place(loc int64) int64 {
	if !t.inRing() {
		return loc
	}
	_, at := t.locate(loc)
	return at
}

// holder is the chunk that a record at loc which began at start lies in: nil if
// the file does not have it, or only a later one of that number.
func (t *Trace) holder(loc, start int64) *chunkInfo {
	c, _ := t.locate(loc)
	if c == nil || t.inRing() && start < c.Since {
		return nil
	}
	return c
}

// unchanged tells whether the chunk c is still in its place.
func (t *Trace) unchanged(c *chunkInfo) (bool, error) {
	h, ok, bad, err := t.places().Head(c.at)
	if err != nil {
		return false, ioError(t.path, c.at, err)
	}
	return ok && bad == nil && h.ID() == c.ChunkID, nil
}

// readLoc fills b with what is at loc, and with zeros from where the file or, in a
// ring, the chunk ends. The error is errGone if the chunk is not there any more.
func (t *Trace) readLoc(b []byte, loc int64) (int, error) {
	if !t.inRing() {
		return t.readPlace(b, loc)
	}
	c, at := t.locate(loc)
	if c == nil {
		clear(b)
		return 0, errGone
	}
	m := int(min(int64(len(b)), c.at+int64(t.header.ChunkSize)-at))
	clear(b[m:])
	n, err := t.readPlace(b[:m], at)
	if err == nil && t.overwrites() {
		err = t.still(c)
	}
	return n, err
}

// still is errGone if the chunk c was overwritten, for who has just read it.
func (t *Trace) still(c *chunkInfo) error {
	same, err := t.unchanged(c)
	if err == nil && !same {
		t.missed(c)
		err = errGone
	}
	return err
}

// readPlace fills b with what is at the place at in the file, and with zeros from
// where that ends.
func (t *Trace) readPlace(b []byte, at int64) (int, error) {
	n, err := t.places().Read(b, at)
	if err != nil {
		err = ioError(t.path, at, err)
	}
	return n, err
}

// Overwritten is what a ring let go of.
type Overwritten struct {
	Records int64 // that were overwritten
	Until   int64 // ns from the start: what began at or after it is all there, but for what was lost
	Chunks  int64 // those that were overwritten when this Trace came to read them; see also Follower.Missed
}

// Ring is the bytes that are used again and again; 0: the trace is no ring.
func (t *Trace) Ring() int64 {
	if t.header.Limit > 0 && t.header.Ring > 0 {
		return t.header.Limit // it lies, or lay, in segments: not all of its places are used at a time
	}
	return int64(t.header.Ring) * int64(t.header.ChunkSize)
}

// Overwritten tells what is not in the trace because its ring was full. Where the
// writer goes on it is as it was at the last look: at Open, and when Events came
// to a chunk that was gone.
func (t *Trace) Overwritten() Overwritten {
	if !t.inRing() {
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
		l.chunks = map[int64]struct{}{}
	}
	l.chunks[c.off] = struct{}{}
}

// until is the time from which on nothing is overwritten now. It reads the state
// again.
func (t *Trace) until() int64 {
	var b [format.StateSize]byte
	n, err := t.readPlace(b[:], format.StateOffset)
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
