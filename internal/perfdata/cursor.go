package perfdata

import (
	"bytes"
	"encoding/binary"
)

// cursor reads fields one after another. After the end they are 0, and bad is set.
type cursor struct {
	b     []byte
	order binary.ByteOrder
	bad   bool
}

// take returns the next n bytes, or nil if there are fewer.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.b, c.bad = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) skip(n int) { c.take(n) }

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// list reads a number of entries, and returns the bytes of that many entries of the
// given size.
func (c *cursor) list(size int) []byte {
	n := c.u64()
	if n > uint64(len(c.b)/size) {
		c.b, c.bad = nil, true
		return nil
	}
	return c.take(int(n) * size)
}

// text reads a text of a feature: its length, and bytes padded with zeros.
func (c *cursor) text() string { return zeroEnded(c.take(int(c.u32()))) }

// zeroEnded returns the text before the first zero.
func zeroEnded(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
