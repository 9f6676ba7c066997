package chunks

import "github.com/scopeview/scopeview/internal/format"

// A Builder builds one chunk: its records, or its blocks.
type Builder struct {
	Head format.ChunkHeader // Build sets Sealed
	b    []byte             // the used part; its capacity is the chunk's size
}

// NewBuilder returns a Builder of a chunk of size bytes.
func NewBuilder(size int, head format.ChunkHeader) *Builder {
	return &Builder{Head: head, b: make([]byte, format.ChunkHeaderSize, size)}
}

// Reset empties the chunk, for the next one in the same memory.
func (c *Builder) Reset(head format.ChunkHeader) {
	c.Head, c.b = head, c.b[:format.ChunkHeaderSize]
}

// Left returns how many bytes the chunk still has room for.
func (c *Builder) Left() int { return cap(c.b) - len(c.b) }

// Record appends a record and its extension, for which there must be room, and returns its offset
// in the chunk.
func (c *Builder) Record(r *format.Record, ext []byte) (off int) {
	off = len(c.b)
	c.b = append(format.AppendRecord(c.b, r), ext...)
	return off
}

// Block appends a block. It returns false, and appends nothing, if there is no room for it.
func (c *Builder) Block(t format.BlockType, payload []byte) bool {
	if format.BlockSize(len(payload)) > c.Left() {
		return false
	}
	c.b = format.AppendBlock(c.b, t, payload)
	return true
}

// Empty reports whether the chunk has neither a record nor a block.
func (c *Builder) Empty() bool { return len(c.b) == format.ChunkHeaderSize }

// Build returns the chunk, sealed, with zeros behind the used part. It is valid until the next call
// of another method.
func (c *Builder) Build() []byte {
	c.Head.Sealed = int64(len(c.b))
	format.PutChunkHeader(c.b, &c.Head)
	b := c.b[:cap(c.b)]
	clear(b[len(c.b):])
	return b
}
