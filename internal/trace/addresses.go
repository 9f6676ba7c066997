package trace

import (
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
)

// addresses maps Locs to file offsets. In this package a Loc is an address in the format, and an
// int64 is an offset in the file. Only addresses converts one to the other. addressesOf alone
// chooses the kind that a trace needs.
type addresses interface {
	// loc returns the Loc of the chunk at the offset at, whose header is h. The error
	// wraps format.ErrCorrupt.
	loc(at int64, h *format.ChunkHeader) (format.Loc, error)

	// number returns the number of a chunk that can be overwritten, else 0.
	number(c *chunkInfo) uint32

	// age orders chunks by the time they were written; those of the same age by their Locs.
	age(c *chunkInfo) int64

	// canHold reports whether loc can be, or have been, that of a record.
	canHold(loc format.Loc) bool

	// gone reports whether the record at loc that began at start is overwritten. In a file that
	// still grows it may also be in a chunk that was not found yet.
	gone(loc format.Loc, start int64) bool

	// offset returns the offset of loc in the file, for messages; 0 if it is not there any more.
	offset(loc format.Loc) int64

	// read fills b with the bytes at loc, and with zeros from the end of the file or the chunk. The
	// error is errGone if the chunk is not there any more.
	read(b []byte, loc format.Loc) (int, error)

	// unused returns how many bytes between two offsets have no chunk though they should.
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

// linear addresses a trace whose chunks are never overwritten: a Loc is an offset.
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

// ring addresses a trace whose chunks are reused. There a chunk's place is only its present
// position: its number orders it, and ends apart name it by that.
//
// A number alone does not identify a chunk: after some billion records numbers begin again. A
// record that began before the chunk of its number was handed out was in an earlier one, which is
// gone.
//
// The writer may overwrite a chunk while it is read. It zeroes the page with the header first. So
// every reader checks the header afterwards. If that changed, the bytes are of two chunks, or none,
// and the result is errGone.
//
// A scope that a carry block says is open may have an end in a chunk that was overwritten before it
// was read. A carry of the end is written a quarter of a lap after it, and the end is overwritten a
// lap after it. So only a reader that takes half a lap can take the scope for open.
type ring struct{ t *Trace }

// errGone means that a chunk was overwritten since its header was read.
var errGone = errors.New("the chunk was overwritten")

// keptBase is the number of a kept chunk at offset 0: their Locs are behind all others.
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

func (a ring) number(c *chunkInfo) uint32 { return c.Number } // 0 if it is kept

func (a ring) age(c *chunkInfo) int64 {
	if c.flags&format.FlagKept != 0 {
		return -1 // others name their blocks, whenever they were written
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
		err = a.t.checkUnchanged(c)
	}
	return n, err
}

func (a ring) unused(_, _ int64) int64 { return 0 } // a place may be the next to be used, anywhere
func (a ring) reuses() bool            { return true }

// chunkLoc returns the Loc of the chunk that contains loc.
func (t *Trace) chunkLoc(loc format.Loc) format.Loc { return loc - loc%format.Loc(t.header.ChunkSize) }

// chunkOf returns the chunk that contains loc, nil if the index has none there.
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
	same, err := t.chunkFile().Has(c.at, c.ChunkID)
	if err != nil {
		err = ioError(t.path, c.at, err)
	}
	return same, err
}

// checkUnchanged returns errGone if the chunk c was overwritten; a caller that has read c must check.
func (t *Trace) checkUnchanged(c *chunkInfo) error {
	if !t.overwrites() {
		return nil
	}
	same, err := t.unchanged(c)
	if err == nil && !same {
		t.noteOverwritten(c)
		err = errGone
	}
	return err
}

// readAt fills b with the file's bytes at the offset at, and with zeros from its end.
func (t *Trace) readAt(b []byte, at int64) (int, error) {
	n, err := t.chunkFile().Read(b, at)
	if err != nil {
		err = ioError(t.path, at, err)
	}
	return n, err
}

// recordLoc is a record's location, with the thread and the owner that follow from it.
type recordLoc struct {
	loc    format.Loc
	thread uint32
	owner  uint32
	gone   bool // its chunk is overwritten; see reconstructed.go
}
