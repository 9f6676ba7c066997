package format

import "encoding/binary"

// Carry is a record of a ring that is still needed when its chunk is
// overwritten: an open scope, or the name of a goroutine's row. It is written
// again while it is needed, and once more, with its stop, when the scope has
// ended. Of several carries with the same place and start the latest counts.
type Carry struct {
	Ticks  int64 // when it was written
	Loc    Loc   // the record's original place
	Thread uint32
	Owner  uint32
	Record Record
	Ext    []byte // its extension, if any; whole units
}

// AppendCarry appends c's payload.
func AppendCarry(b []byte, c *Carry) []byte {
	le := binary.LittleEndian
	b = appendInts(b, c.Ticks, int64(c.Loc))
	b = le.AppendUint32(b, c.Thread)
	b = le.AppendUint32(b, c.Owner)
	b = AppendRecord(b, &c.Record)
	return append(b, c.Ext...)
}

// DecodeCarry reads a carry's payload. Ext aliases it.
func DecodeCarry(p []byte) (c Carry, err error) {
	v, err := decode(BlockCarry, p)
	if err != nil {
		return c, err
	}
	return Carry{
		Ticks: v[0].N, Loc: Loc(v[1].N), Thread: uint32(v[2].N), Owner: uint32(v[3].N),
		Record: DecodeRecord(v[4].B), Ext: v[4].B[RecordSize:],
	}, nil
}
