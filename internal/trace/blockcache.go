package trace

import "github.com/scopeview/scopeview/internal/format"

// ext reads the extension at loc; nil if there is none, or it is cut off.
func (c *blockCache) ext(t *Trace, loc format.Loc) ([]byte, error) {
	h, err := c.read(t, loc, 8)
	if err != nil || len(h) < 8 {
		return nil, err
	}
	n := format.ExtBytes(h)
	if n == 0 {
		return nil, nil
	}
	x, err := c.read(t, loc, n)
	if len(x) < n {
		return nil, err
	}
	return x, err
}

// blockCache keeps parts of the file from which ends were read: scopes that begin together mostly
// end near each other.
type blockCache struct {
	tags  [cacheBlocks]format.Loc // block number + 1
	data  [cacheBlocks][]byte
	cross []byte
}

const (
	cacheBlocks = 128
	cacheBlock  = 16 << 10 // at most a chunk: neighbours may be unrelated
)

// read returns up to n bytes at loc, fewer at the end of the file. They are valid until the next
// call.
func (c *blockCache) read(t *Trace, loc format.Loc, n int) ([]byte, error) {
	size := min(cacheBlock, format.Loc(t.header.ChunkSize))
	b := loc / size
	at := int(loc % size)
	if at+n > int(size) {
		if cap(c.cross) < n {
			c.cross = make([]byte, n)
		}
		got, err := t.addr.read(c.cross[:n], loc)
		return c.cross[:got], err
	}
	i := b % cacheBlocks
	if c.tags[i] != b+1 {
		c.tags[i] = 0
		if cap(c.data[i]) == 0 {
			c.data[i] = make([]byte, size)
		}
		c.data[i] = c.data[i][:size]
		got, err := t.addr.read(c.data[i], b*size)
		if err != nil {
			return nil, err
		}
		c.data[i] = c.data[i][:got]
		c.tags[i] = b + 1
	}
	d := c.data[i]
	if at >= len(d) {
		return nil, nil
	}
	return d[at:min(at+n, len(d))], nil
}
