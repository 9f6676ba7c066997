package sys

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// Func is a function of the program, as its calls see it. It is static data, and needs no
// initialization before its first call.
type Func struct {
	FuncState

	// Name is the name of its scopes.
	Name string
}

// FuncState is the state of a function in a recording.
type FuncState struct {
	gen  int64  // of the recording that has assigned its word; 0: none
	word uint64 // its part of a record's word 2, with its number in the lowest 16 bits

	// Live.On must exceed Hidden for a call to be counted: Hidden is 0, or greater than Live.On
	// ever is. So a call checks both at once.
	Hidden uint32
	_      uint32
}

// Hide makes calls of the function be ignored, and not even counted, or be counted again.
func (s *FuncState) Hide(hide bool) {
	var least uint32
	if hide {
		least = math.MaxUint32
	}
	atomic.StoreUint32(&s.Hidden, least)
}

// FuncOf returns the Func that begins with the state: a value of another package's type that has
// the same layout.
func FuncOf(s *FuncState) *Func { return (*Func)(unsafe.Pointer(s)) }

// MaxFuncs is the number of functions that can have a number. The first two are not recorded:
// NoFunc counts functions that are filtered out, and OtherFuncs those beyond the last number.
const (
	MaxFuncs   = 1 << 16
	NoFunc     = 0
	OtherFuncs = 1
	FirstFunc  = 2
)

// Results of Take.
const (
	Took    = 1
	LeftOut = 2
)

// FirstCredit is the number of calls of a function that each P may record before its limit is
// set, so that an initial burst can't cost much.
const FirstCredit = 256

// NoCredit is a limit that allows no call.
const NoCredit = -1 << 62

// Assign sets f's word in the recording gen. head is its part of a record's word 2, without the
// goroutine.
func (f *Func) Assign(gen int64, head uint64, number int) {
	atomic.StoreUint64(&f.word, head|uint64(number))
	atomic.StoreInt64(&f.gen, gen)
}

// Number returns f's number in the recording gen; -1: none yet.
func (f *Func) Number(gen int64) int {
	if atomic.LoadInt64(&f.gen) != gen {
		return -1
	}
	return int(atomic.LoadUint64(&f.word) & (MaxFuncs - 1))
}

// Tally counts the calls of a function: on one P, which alone writes the counts, or on all
// together.
type Tally struct {
	skipped  int64 // calls that were not recorded
	recorded int64
	limit    int64 // a call is recorded if fewer than limit + FirstCredit were
	_        int64
}

// Counts returns how many calls were recorded so far, and how many were not.
func (t *Tally) Counts() (recorded, skipped int64) {
	return atomic.LoadInt64(&t.recorded), atomic.LoadInt64(&t.skipped)
}

// Credit returns how many calls would be recorded now; none if it is negative.
func (t *Tally) Credit() int64 {
	return atomic.LoadInt64(&t.limit) - atomic.LoadInt64(&t.recorded) + FirstCredit
}

// Allow allows n more calls to be recorded. Only one goroutine may call it.
func (t *Tally) Allow(n int64) {
	atomic.StoreInt64(&t.limit, atomic.LoadInt64(&t.recorded)+n-FirstCredit)
}

// Deny allows no more calls to be recorded.
func (t *Tally) Deny() { atomic.StoreInt64(&t.limit, NoCredit) }

// TakeShared counts a call in a shared tally, and reports whether it is to be recorded.
func (t *Tally) TakeShared() bool {
	for {
		n := atomic.LoadInt64(&t.recorded)
		if n-atomic.LoadInt64(&t.limit) >= FirstCredit {
			atomic.AddInt64(&t.skipped, 1)
			return false
		}
		if atomic.CompareAndSwapInt64(&t.recorded, n, n+1) {
			return true
		}
	}
}
