//go:build !scope_off

package record

import "sync/atomic"

// pcTable holds values for addresses of the program's code, by number from 0 on. It has no
// lock, because it is used inside of locks. Values are never removed.
type pcTable[T any] struct {
	index *pcIndex
	pages [pcMost / pcPage]atomic.Pointer[[pcPage]atomic.Pointer[T]]
	used  atomic.Int64
}

// pcIndex holds each address (bits 16-63) with 1 + its number, by a hash; 0 is free. It is a
// separate variable without pointers, so that Go's collector does not scan it.
type pcIndex [pcMost]atomic.Uint64

const (
	pcMost = 1 << 13
	pcPage = 1 << 6
	// pcTries is the number of slots of the index that an address may use.
	pcTries = 16
)

// at returns the value of an address, which it creates with makes if needed, and its number;
// nil if the table is full.
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

// get returns the value with a number returned by at.
func (t *pcTable[T]) get(number int) *T { return t.slot(number).Load() }

func (t *pcTable[T]) slot(number int) *atomic.Pointer[T] {
	p := &t.pages[number/pcPage]
	if p.Load() == nil {
		p.CompareAndSwap(nil, new([pcPage]atomic.Pointer[T]))
	}
	return &p.Load()[number%pcPage]
}
