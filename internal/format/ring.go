package format

import (
	"encoding/binary"
	"fmt"
)

// Carry is a record of a ring that is still to be known when its chunk is
// overwritten: a scope that is open, or what a goroutine's row is called. It is
// told again as long as that is so, and once more when the scope has ended, with
// its stop. Of several carries for one place and start the latest counts.
type Carry struct {
	Ticks  int64 // when it was told
	Loc    int64 // where the record was: chunk number × chunk size + its place there
	Thread uint32
	Owner  uint32
	Record Record
	Ext    []byte // its extension, if it has one; whole units
}

// carrySize is a Carry without its extension.
const carrySize = 8 + 8 + 4 + 4 + RecordSize

// AppendCarry appends c's payload.
func AppendCarry(b []byte, c *Carry) []byte {
	le := binary.LittleEndian
	b = appendInts(b, c.Ticks, c.Loc)
	b = le.AppendUint32(b, c.Thread)
	b = le.AppendUint32(b, c.Owner)
	b = AppendRecord(b, &c.Record)
	return append(b, c.Ext...)
}

// DecodeCarry reads a carry's payload. Ext aliases it.
func DecodeCarry(p []byte) (c Carry, err error) {
	if len(p) < carrySize || (len(p)-carrySize)%RecordSize != 0 {
		return c, fmt.Errorf("%w: carry of %d bytes", ErrCorrupt, len(p))
	}
	le := binary.LittleEndian
	c = Carry{
		Ticks:  int64(le.Uint64(p)),
		Loc:    int64(le.Uint64(p[8:])),
		Thread: le.Uint32(p[16:]),
		Owner:  le.Uint32(p[20:]),
		Record: DecodeRecord(p[24:]),
		Ext:    p[carrySize:],
	}
	if c.Loc <= 0 || c.Loc%RecordSize != 0 {
		return c, fmt.Errorf("%w: carry of a record at %d", ErrCorrupt, c.Loc)
	}
	if ext := len(c.Ext) > 0; ext != c.Record.Ext() || ext && (!IsExt(le.Uint64(c.Ext)) || ExtUnits(le.Uint64(c.Ext))*RecordSize != len(c.Ext)) {
		return c, fmt.Errorf("%w: carry with an extension of %d bytes", ErrCorrupt, len(c.Ext))
	}
	return c, nil
}
