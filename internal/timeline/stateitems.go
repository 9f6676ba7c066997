package timeline

import (
	"math"

	"github.com/scopeview/scopeview/internal/deltas"
	"github.com/scopeview/scopeview/internal/states"
)

// stateItem lasts until the next one begins.
type stateItem struct {
	start int64
	by    uint32 // index into goids
	stateKind
}

// stateKind has the fields that many items have in common.
type stateKind struct {
	stack   uint32
	byStack uint32
	place   uint16 // index into places
	state   states.State
	reason  uint8 // index into reasons
	woken   bool  // by is set
}

// kindsMost is the maximum number of numbered kinds. Other items have all fields coded.
const kindsMost = math.MaxUint16

// codeOf returns the code of a kind: its number plus one, or 0 if it has none.
func (s *States) codeOf(k stateKind) uint32 {
	n := s.kinds.of(k, kindsMost)
	if n == 0 && k != (stateKind{}) {
		return 0
	}
	return n + 1
}

// put adds an item to a row: it begins where the one before ends.
func (s *States) put(r *stateRow, code uint32, k *stateKind, by uint32, end int64) {
	l := &r.items
	if l.Begin(r.end, &s.coded) {
		r.by = 0
	}
	l.Put(uint64(code))
	if code == 0 {
		for _, v := range [...]uint32{k.stack, k.byStack, uint32(k.place), uint32(k.state), uint32(k.reason)} {
			l.Put(uint64(v))
		}
		if k.woken {
			l.Put(1)
		} else {
			l.Put(0)
		}
	}
	l.Put(uint64(end - r.end))
	if k.woken {
		l.PutSigned(int64(by) - int64(r.by))
		r.by = by
	}
	r.end = end
}

// stateCursor iterates over a row's items.
type stateCursor struct {
	stateItem // the current item
	end       int64
	i         int // index of the next one
	s         *States
	items     *deltas.List
	coded     deltas.Reader
	last      uint32 // by of the latest item that was woken
}

// from returns a cursor. Its first item is the last one that starts at t or before, or the
// first of all.
func (s *States) from(r *stateRow, t int64) stateCursor {
	c := stateCursor{s: s, items: &r.items, i: r.items.Find(t)}
	for {
		was := c
		if !c.next() || c.end > t || c.i == c.items.Len() {
			return was
		}
	}
}

// next moves to the next item, and reports whether there is one.
func (c *stateCursor) next() bool {
	if c.i == c.items.Len() {
		return false
	}
	if c.i%deltas.Block == 0 {
		c.coded, c.end = c.items.Block(c.i, &c.s.coded)
		c.last = 0
	}
	c.i++
	if code := c.coded.Next(); code > 0 {
		c.stateKind = c.s.kinds.list[code-1]
	} else {
		c.stateKind = c.kind()
	}
	c.start = c.end
	c.end += int64(c.coded.Next())
	c.by = 0
	if c.woken {
		c.last = uint32(int64(c.last) + c.coded.NextSigned())
		c.by = c.last
	}
	return true
}

// kind decodes a kind without a number.
func (c *stateCursor) kind() stateKind {
	next := c.coded.Next
	return stateKind{
		stack: uint32(next()), byStack: uint32(next()), place: uint16(next()), state: states.State(next()), reason: uint8(next()), woken: next() != 0,
	}
}

// upTo returns the number of items of a row that start at t or before.
func (s *States) upTo(r *stateRow, t int64) int {
	c := s.from(r, t)
	if c.next() && c.start <= t {
		return c.i
	}
	return 0
}

// touching returns the number of items of a row that touch [from, to].
func (s *States) touching(r *stateRow, from, to int64) int {
	if r.items.Len() == 0 || r.end <= from || r.items.Start() > to {
		return 0
	}
	return max(s.upTo(r, to)-max(s.upTo(r, from)-1, 0), 0)
}
