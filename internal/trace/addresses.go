package trace

import (
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
)

// addresses says where a file has what lies at a Loc. In this package a Loc is where
// something is by the format, and an int64 is where the file has it. Only addresses makes
// one of the other. Which of the two a trace needs is asked once, by addressesOf.
type addresses interface {
	// loc returns the Loc of the chunk at the offset at, whose header is h. The error
	// wraps format.ErrCorrupt.
	loc(at int64, h *format.ChunkHeader) (format.Loc, error)

	// number returns the number of a chunk that can be overwritten, else 0.
	number(c *chunkInfo) uint32

	// age orders chunks by when they were written; those of one age are so by their Locs.
	age(c *chunkInfo) int64

	// canHold reports whether a record can be, or have been, at loc.
	canHold(loc format.Loc) bool

	// gone reports whether the record at loc which began at start is overwritten. In a file
	// that still grows it may also be in a chunk that was not found yet.
	gone(loc format.Loc, start int64) bool

	// offset returns where in the file loc is, for people who look there; 0 if it is not
	// there any more.
	offset(loc format.Loc) int64

	// read fills b with what is at loc, and with zeros from where the file or the chunk
	// ends. The error is errGone if the chunk is not there any more.
	read(b []byte, loc format.Loc) (int, error)

	// unused returns how many bytes from one offset to another can't be without a chunk,
	// and are.
	unused(from, to int64) int64

	// reuses reports whether chunks are overwritten at all.
	reuses() bool
}

func addressesOf(t *Trace) addresses {
	if t.header.Ring != 0 {
		return ring{t}
	}
	return linear{t}
}

// linear is of a trace whose chunks are never overwritten: a Loc is an offset.
type linear struct{ t *Trace }

func (a linear) loc(at int64, _ *format.ChunkHeader) (format.Loc, error) { return format.Loc(at), nil }
func (a linear) number(*chunkInfo) uint32                                { return 0 }
func (a linear) age(*chunkInfo) int64                                    { return 0 }
func (a linear) gone(format.Loc, int64) bool                             { return false }
func (a linear) offset(loc format.Loc) int64                             { return int64(loc) }
func (a linear) unused(from, to int64) int64                             { return to - from }
func (a linear) reuses() bool                                            { return false }

func (a linear) canHold(loc format.Loc) bool {
	return loc > 0 && int64(loc) < a.t.size && loc%format.RecordSize == 0
}

func (a linear) read(b []byte, loc format.Loc) (int, error) { return a.t.readAt(b, int64(loc)) }

// ring is of a trace whose chunks are used again. There a chunk's place says nothing but
// where it is now: its number orders it, and is what ends apart call it by.
//
// A number alone does not say which chunk: after some billion records numbers begin again.
// What began before the chunk of that number was handed out was in an earlier one, which is
// gone.
//
// The writer may overwrite a chunk while it is read. It zeroes the page with the header
// first. So whoever has read looks at the header again. If that changed, the bytes are of
// two chunks, or none, and errGone is all that comes of them.
//
// What is open by a carry block may have an end in a chunk that was overwritten before it
// was read. That the scope ended is told a quarter of a lap after the end, and the end is
// overwritten a lap after it. So only a reading that takes half a lap can take it for open.
type ring struct{ t *Trace }

// errGone is of a chunk that was overwritten since its header was read.
var errGone = errors.New("the chunk was overwritten")

// keptBase is the number that counts for a kept chunk at offset 0: their Locs are behind
// all others.
const keptBase = 1 << 24

func (a ring) loc(at int64, h *format.ChunkHeader) (format.Loc, error) {
	cs := int64(a.t.header.ChunkSize)
	switch kept := h.Flags&format.FlagKept != 0; {
	case kept && h.Kind == format.ChunkRecords:
		return 0, fmt.Errorf("%w: records in a chunk that is kept", format.ErrCorrupt)
	case kept && h.Number != 0:
		return 0, fmt.Errorf("%w: a number, and it is kept", format.ErrCorrupt)
	case kept:
		return format.Loc(keptBase*cs + at), nil
	case h.Number == 0 || h.Number > format.RingNumbers:
		return 0, fmt.Errorf("%w: no chunk of a ring has such a number", format.ErrCorrupt)
	}
	return a.t.numberedLoc(int64(h.Number)), nil
}

func (a ring) number(c *chunkInfo) uint32 { return c.Number } // 0 where it is kept

func (a ring) age(c *chunkInfo) int64 {
	if c.flags&format.FlagKept != 0 {
		return -1 // their blocks are what others name, whenever they were written
	}
	return int64(c.Gen)
}

func (a ring) canHold(loc format.Loc) bool {
	cs := format.Loc(a.t.header.ChunkSize)
	return loc >= cs && loc < keptBase*cs && loc%cs >= format.ChunkHeaderSize && loc%format.RecordSize == 0
}

func (a ring) gone(loc format.Loc, start int64) bool {
	c := a.t.chunkOf(loc)
	return c == nil || start < c.Since
}

func (a ring) offset(loc format.Loc) int64 {
	if c := a.t.chunkOf(loc); c != nil {
		return c.at + int64(loc-c.loc)
	}
	return 0
}

func (a ring) read(b []byte, loc format.Loc) (int, error) {
	c := a.t.chunkOf(loc)
	if c == nil {
		clear(b)
		return 0, errGone
	}
	rest := int64(loc - c.loc)
	m := int(min(int64(len(b)), int64(a.t.header.ChunkSize)-rest))
	clear(b[m:])
	n, err := a.t.readAt(b[:m], c.at+rest)
	if err == nil {
		err = a.t.still(c)
	}
	return n, err
}

func (a ring) unused(_, _ int64) int64 { return 0 } // a place may be the next to be used, anywhere
func (a ring) reuses() bool            { return true }

// chunkLoc returns the Loc of the chunk that loc lies in.
func (t *Trace) chunkLoc(loc format.Loc) format.Loc { return loc - loc%format.Loc(t.header.ChunkSize) }

// chunkOf returns the chunk that loc lies in, nil if the index has none there.
func (t *Trace) chunkOf(loc format.Loc) *chunkInfo {
	i, ok := t.findChunk(t.chunkLoc(loc))
	if !ok {
		return nil
	}
	return &t.chunks[i]
}

// numbered returns the chunk of a number, nil if the index has none.
func (t *Trace) numbered(n int64) *chunkInfo { return t.chunkOf(t.numberedLoc(n)) }

func (t *Trace) numberedLoc(n int64) format.Loc { return format.Loc(n * int64(t.header.ChunkSize)) }

// overwrites reports whether a chunk can be overwritten from now on.
func (t *Trace) overwrites() bool { return t.addr.reuses() && !t.state.Closed }

// unchanged reports whether the chunk c is still in its place.
func (t *Trace) unchanged(c *chunkInfo) (bool, error) {
	same, err := t.places().Has(c.at, c.ChunkID)
	if err != nil {
		err = ioError(t.path, c.at, err)
	}
	return same, err
}

// still returns errGone if the chunk c was overwritten, for who has just read it.
func (t *Trace) still(c *chunkInfo) error {
	if !t.overwrites() {
		return nil
	}
	same, err := t.unchanged(c)
	if err == nil && !same {
		t.missed(c)
		err = errGone
	}
	return err
}

// readAt fills b with what the file has at the offset at, and with zeros from where it ends.
func (t *Trace) readAt(b []byte, at int64) (int, error) {
	n, err := t.places().Read(b, at)
	if err != nil {
		err = ioError(t.path, at, err)
	}
	return n, err
}
