// Package deltas keeps lists of what follows each other in time, in the few bytes that an
// element differs from the one before it.
//
// A list is coded in blocks, whose first elements are found by their times. A block is
// decoded from its first element on. What is coded does not change any more. It lies in
// chunks that have no pointers and are never copied.
package deltas

import (
	"encoding/binary"
	"sort"
)

// Block is how many elements are coded together: fewer take more memory, and of more it
// takes longer to get to the last.
const Block = 64

// Bytes are the coded blocks of many lists. The zero value has none.
type Bytes struct{ chunks [][]byte }

const (
	leastChunk = 1 << 10 // a small trace does with little
	mostChunk  = 1 << 16
)

// add keeps a copy of some bytes, and returns where.
func (b *Bytes) add(p []byte) (at int64) {
	n := len(b.chunks)
	if n == 0 || cap(b.chunks[n-1])-len(b.chunks[n-1]) < len(p) {
		size := min(leastChunk<<min(n, 16), mostChunk)
		b.chunks = append(b.chunks, make([]byte, 0, max(size, len(p))))
		n++
	}
	c := &b.chunks[n-1]
	at = int64(n-1)<<32 | int64(len(*c))
	*c = append(*c, p...)
	return at
}

// List is a list of elements that a caller codes. The zero value is empty.
type List struct {
	heads []head
	open  []byte // the last block, until it is full
	n     int
}

// head is a block's first element.
type head struct{ start, at int64 }

// Begin begins an element, which starts no earlier than those before it. If it is the first
// of a block, which is decoded without those before it, first is true. The element is what
// Put is given then.
func (l *List) Begin(start int64, in *Bytes) (first bool) {
	if first = l.n%Block == 0; first {
		l.flush(in)
		l.heads = append(l.heads, head{start: start})
	}
	l.n++
	return first
}

// Put adds a number to the element that was begun.
func (l *List) Put(v uint64) {
	if v < 0x80 {
		l.open = append(l.open, byte(v))
		return
	}
	l.open = binary.AppendUvarint(l.open, v)
}

// PutSigned is Put of a number that is near zero.
func (l *List) PutSigned(v int64) { l.Put(uint64(v)<<1 ^ uint64(v>>63)) }

func (l *List) flush(in *Bytes) {
	if len(l.open) > 0 {
		l.heads[len(l.heads)-1].at = in.add(l.open)
		l.open = l.open[:0]
	}
}

// End is called before the list is read. It has no further elements then.
func (l *List) End(in *Bytes) {
	l.flush(in)
	l.open = nil
}

// Len is how many elements there are.
func (l *List) Len() int { return l.n }

// Start is when the first element starts.
func (l *List) Start() int64 { return l.heads[0].start }

// Find is the index of the first element of the block in which the last element is that
// starts at t or before. It is 0 where none does.
func (l *List) Find(t int64) int {
	return Block * max(0, sort.Search(len(l.heads), func(i int) bool { return l.heads[i].start > t })-1)
}

// Reader has what was put into a block. It is copied to come back to where it is.
type Reader struct{ rest []byte }

// Block returns the block whose first element has an index, and when that starts.
func (l *List) Block(i int, in *Bytes) (r Reader, start int64) {
	h := l.heads[i/Block]
	return Reader{in.chunks[h.at>>32][uint32(h.at):]}, h.start
}

// Next is the next number.
func (r *Reader) Next() uint64 {
	b := r.rest
	if v := b[0]; v < 0x80 {
		r.rest = b[1:]
		return uint64(v)
	}
	if v := b[1]; v < 0x80 {
		r.rest = b[2:]
		return uint64(b[0]&0x7f) | uint64(v)<<7
	}
	if v := b[2]; v < 0x80 {
		r.rest = b[3:]
		return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(v)<<14
	}
	v, n := binary.Uvarint(b)
	r.rest = b[n:]
	return v
}

// NextSigned is the next number that PutSigned was given.
func (r *Reader) NextSigned() int64 {
	v := r.Next()
	return int64(v>>1) ^ -int64(v&1)
}
