package timeline

import (
	"encoding/binary"
	"math"
	"strings"
)

// column is a packed list of values.
type column struct {
	name  string
	kind  byte // u, z, d, b, f: see the package's comment
	count int
	bytes []byte
	last  int64
}

// named sets the columns' names and kinds, given as name:kind, and returns the columns.
func named(names string, list ...*column) []*column {
	for i, n := range strings.Fields(names) {
		list[i].name, list[i].kind = n[:len(n)-2], n[len(n)-1]
	}
	return list
}

func (c *column) u(v uint64) {
	c.count++
	if v < 0x80 {
		c.bytes = append(c.bytes, byte(v))
		return
	}
	c.bytes = binary.AppendUvarint(c.bytes, v)
}

func (c *column) z(v int64) { c.u(uint64(v)<<1 ^ uint64(v>>63)) }

func (c *column) d(v int64) {
	c.z(v - c.last)
	c.last = v
}

func (c *column) b(v byte) {
	c.count++
	c.bytes = append(c.bytes, v)
}

func (c *column) f(v float64) {
	c.count++
	c.bytes = binary.LittleEndian.AppendUint64(c.bytes, math.Float64bits(v))
}
