package pack

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/scopeview/scopeview/internal/format"
)

// coder packs and unpacks groups. It can be reused, by one goroutine at a time.
type coder struct {
	enc     *zstd.Encoder
	dec     *zstd.Decoder
	pack    *model
	unpack  *model
	scratch []byte
	check   []byte
	raw     []byte
}

// Values of a group's first byte: the form of the bytes behind it.
const (
	groupPlain   = 0 // the chunks, packed as bytes
	groupRecords = 1 // the model's columns
)

// level is a balance of size and time: the next faster level takes 10 % less time and gives 10 %
// more bytes; the next slower one is the reverse.
const level = zstd.SpeedDefault

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
}

func newCoder(enc *zstd.Encoder, dec *zstd.Decoder) *coder {
	return &coder{enc: enc, dec: dec, pack: newModel(true), unpack: newModel(false)}
}

// records appends a group of chunks of records, each of size bytes, without their headers. ok is
// false if they would not be the same after unpacking: that is a defect of the model.
func (c *coder) records(packed, b []byte, size int) (_ []byte, ok bool) {
	m := c.pack
	m.reset()
	m.findClock(b[:size])
	for at := 0; at < len(b); at += size {
		m.chunk(b[at : at+size])
	}
	for i := range m.cols {
		m.cols[i].choose()
	}
	if !c.same(b, size) {
		return packed, false
	}
	packed = binary.AppendUvarint(append(packed, groupRecords), uint64(m.clock))
	for i := range m.cols {
		packed = m.cols[i].append(packed, c.enc, &c.scratch)
	}
	packed = binary.AppendUvarint(packed, uint64(len(m.texts.bytes)))
	if len(m.texts.bytes) > 0 {
		packed = appendPacked(packed, m.texts.bytes, c.enc)
	}
	return packed, true
}

// same reports whether the packed form of the chunks b is unpacked to them.
func (c *coder) same(b []byte, size int) bool {
	u := c.unpack
	u.reset()
	u.setClock(c.pack.clock)
	for i := range u.cols {
		u.cols[i].list, c.pack.cols[i].list = c.pack.cols[i].list, u.cols[i].list
		u.cols[i].how = c.pack.cols[i].how
	}
	u.texts.bytes, c.pack.texts.bytes = c.pack.texts.bytes, u.texts.bytes
	ok := u.takeTexts() && u.takeShapes()
	out := grow(&c.check, size)
	for at := 0; at < len(b) && ok; at += size {
		copy(out, b[at:at+format.ChunkHeaderSize])
		u.chunk(out)
		ok = !u.bad && bytes.Equal(out, b[at:at+size])
	}
	for i := range u.cols {
		ok = ok && u.cols[i].read()
		u.cols[i].list, c.pack.cols[i].list = c.pack.cols[i].list, u.cols[i].list
	}
	u.texts.bytes, c.pack.texts.bytes = c.pack.texts.bytes, u.texts.bytes
	return ok
}

// scopes returns the number of scopes in the group packed last.
func (c *coder) scopes() int64 { return c.pack.scopes }

// into unpacks a group to b, which has the headers of its chunks, of size bytes each.
func (c *coder) into(b []byte, size int, packed []byte) error {
	in := input{b: packed, z: c.dec}
	switch in.byte() {
	case groupPlain:
		in.packed(&b, len(b), len(in.b))
		return in.err
	case groupRecords:
	default:
		in.fail("a packed group has an unknown kind")
		return in.err
	}
	u := c.unpack
	u.reset()
	u.setClock(max(int64(in.number(1<<8)), 1))
	for i := range u.cols {
		in.column(&u.cols[i], len(b)/4, &c.scratch)
	}
	if n := in.number(uint64(len(b))); n > 0 {
		if p := in.number(uint64(len(in.b))); p <= len(in.b) {
			u.texts.bytes = in.packed(&u.texts.bytes, n, p)
		}
	}
	if in.err == nil && (!u.takeTexts() || !u.takeShapes()) {
		in.fail("the tables of a packed group are invalid")
	}
	for at := 0; at < len(b) && in.err == nil; at += size {
		if u.chunk(b[at : at+size]); u.bad {
			in.fail("the columns of a packed group do not match")
		}
	}
	for i := range u.cols {
		if in.err == nil && !u.cols[i].read() {
			in.fail("a column of a packed group is too long")
		}
	}
	return in.err
}

// read reports whether the whole column was read.
func (k *values) read() bool { return k.next == len(k.list) }

// takeShapes adds the shapes that the columns describe.
func (m *model) takeShapes() bool {
	heads, slots := &m.cols[colShapeHead], &m.cols[colShapeSlots]
	if len(heads.list) != len(slots.list) {
		return false
	}
	for range heads.list {
		m.addShape(shapeKey{m.code(colShapeHead, 0, 0), m.code(colShapeSlots, 0, 0)})
	}
	return true
}

// takeTexts finds the offsets of the texts.
func (m *model) takeTexts() bool {
	lens := &m.cols[colTextLen]
	at := 0
	for range lens.list {
		n, cut := m.code(colTextLen, 0, 0), m.code(colTextCut, 0, 0)
		if m.bad || n > uint64(len(m.texts.bytes)-at) {
			return false
		}
		m.texts.all = append(m.texts.all, textOf{at, int(n), n + cut})
		at += int(n)
	}
	return at == len(m.texts.bytes)
}
