//go:build !scope_off

package record

import "sync/atomic"

// pcTable has what is known of addresses of the program's code, by number from 0 on. It has no
// lock: what is looked for is looked for inside of locks. What is in it stays.
type pcTable[T any] struct {
	index *pcIndex
	pages [pcMost / pcPage]atomic.Pointer[[pcPage]atomic.Pointer[T]]
	used  atomic.Int64
}

// pcIndex has of each address itself (16-63) and 1 + its number, by a hash; 0 is free. It is a
// variable apart: Go's collector does not look through one without pointers.
type pcIndex [pcMost]atomic.Uint64

const (
	pcMost = 1 << 13
	pcPage = 1 << 6
	// pcTries is how many places of the index an address may have.
	pcTries = 16
)

// at is what is known of an address, which makes what is not, and its number; nil where
// the table is full.
func (t *pcTable[T]) at(pc uintptr, makes func(pc uintptr) *T) (v *T, number int) {
	for i := range uint64(pcTries) {
		e := &t.index[(uint64(pc)*0x9e3779b97f4a7c15>>32+i)%pcMost]
		is := e.Load()
		if is == 0 {
			if v == nil {
				if number = int(t.used.Add(1) - 1); number >= pcMost {
					t.used.Add(-1)
					return nil, 0
				}
				v = makes(pc)
				t.slot(number).Store(v)
			}
			if e.CompareAndSwap(0, uint64(pc)<<16|uint64(number+1)) {
				return v, number
			}
			is = e.Load()
		}
		if uintptr(is>>16) == pc {
			number = int(is&(1<<16-1)) - 1
			return t.get(number), number
		}
	}
	return nil, 0
}

// get is what has a number that at has returned.
func (t *pcTable[T]) get(number int) *T { return t.slot(number).Load() }

func (t *pcTable[T]) slot(number int) *atomic.Pointer[T] {
	p := &t.pages[number/pcPage]
	if p.Load() == nil {
		p.CompareAndSwap(nil, new([pcPage]atomic.Pointer[T]))
	}
	return &p.Load()[number%pcPage]
}
