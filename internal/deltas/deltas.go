// Package deltas stores lists of elements ordered by time compactly, each as its
// differences from the previous element.
//
// A list is coded in blocks, whose first elements are found by their times. A block is
// decoded from its first element on. Coded blocks do not change any more. They are stored
// in chunks without pointers that are never copied.
package deltas

import (
	"encoding/binary"
	"sort"
)

// Block is the number of elements that are coded together: smaller blocks take more memory,
// and in larger ones it takes longer to reach the last element.
const Block = 64

// Bytes holds the coded blocks of many lists. The zero value is empty.
type Bytes struct{ chunks [][]byte }

const (
	leastChunk = 1 << 10 // a small trace needs little
	mostChunk  = 1 << 16
)

// add stores a copy of p, and returns its position.
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

// List is a list of elements, coded by the caller. The zero value is empty.
type List struct {
	heads []head
	open  []byte // the last block, until it is full
	n     int
}

// head is the first element of a block.
type head struct{ start, at int64 }

// Begin begins an element, which must not start before earlier ones. It returns true for
// the first element of a block, which must be coded without reference to earlier ones. The
// values of the element follow by Put.
func (l *List) Begin(start int64, in *Bytes) (first bool) {
	if first = l.n%Block == 0; first {
		l.flush(in)
		l.heads = append(l.heads, head{start: start})
	}
	l.n++
	return first
}

// Put adds a number to the current element.
func (l *List) Put(v uint64) {
	if v < 0x80 {
		l.open = append(l.open, byte(v))
		return
	}
	l.open = binary.AppendUvarint(l.open, v)
}

// PutSigned is Put for a number near zero.
func (l *List) PutSigned(v int64) { l.Put(uint64(v)<<1 ^ uint64(v>>63)) }

func (l *List) flush(in *Bytes) {
	if len(l.open) > 0 {
		l.heads[len(l.heads)-1].at = in.add(l.open)
		l.open = l.open[:0]
	}
}

// End completes the list for reading. No elements may be added afterwards.
func (l *List) End(in *Bytes) {
	l.flush(in)
	l.open = nil
}

// Len returns the number of elements.
func (l *List) Len() int { return l.n }

// Start returns the start of the first element.
func (l *List) Start() int64 { return l.heads[0].start }

// Find returns the index of the first element of the block that contains the last element
// starting at or before t. It returns 0 if there is no such element.
func (l *List) Find(t int64) int {
	return Block * max(0, sort.Search(len(l.heads), func(i int) bool { return l.heads[i].start > t })-1)
}

// Reader reads the numbers of a block. A copy saves its position.
type Reader struct{ rest []byte }

// Block returns a reader of the block whose first element has index i, and the start of
// that element.
func (l *List) Block(i int, in *Bytes) (r Reader, start int64) {
	h := l.heads[i/Block]
	return Reader{in.chunks[h.at>>32][uint32(h.at):]}, h.start
}

// Next returns the next number.
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

// NextSigned returns the next number of PutSigned.
func (r *Reader) NextSigned() int64 {
	v := r.Next()
	return int64(v>>1) ^ -int64(v&1)
}
