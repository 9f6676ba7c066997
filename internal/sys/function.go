package sys

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// Func is a function of the program, as its calls find it. It is static data: nothing is
// done for it before its first call.
type Func struct {
	FuncState

	// Name is what its scopes are called.
	Name string
}

// FuncState is what recordings know of a function.
type FuncState struct {
	gen  int64  // of the recording that has given it its word; 0: none
	word uint64 // what a record's word 2 has of it, and its number, in the lowest 16 bits

	// Hidden is what Live.On must be above for a call to be seen: 0, or more than it ever is. So
	// a call asks for both at once.
	Hidden uint32
	_      uint32
}

// Hide has calls of the function pass by, not even counted, or be seen again.
func (s *FuncState) Hide(hide bool) {
	var least uint32
	if hide {
		least = math.MaxUint32
	}
	atomic.StoreUint32(&s.Hidden, least)
}

// FuncOf is the Func that a state is the first field of: one in memory, of a type of somebody
// else's with the name behind it.
func FuncOf(s *FuncState) *Func { return (*Func)(unsafe.Pointer(s)) }

// MaxFuncs is how many numbers of functions there are. Nothing is recorded of the first
// two: NoFunc counts those that the filter leaves out, and OtherFuncs those beyond the last.
const (
	MaxFuncs   = 1 << 16
	NoFunc     = 0
	OtherFuncs = 1
	FirstFunc  = 2
)

// What Take says.
const (
	Took    = 1
	LeftOut = 2
)

// FirstCredit is how many calls each P may record of a function before its limit is set:
// a burst at its begin can't cost much.
const FirstCredit = 256

// NoCredit is a limit that no call is within.
const NoCredit = -1 << 62

// Assign gives f its word of the recording gen. head is what a record's word 2 has of it,
// without the goroutine.
func (f *Func) Assign(gen int64, head uint64, number int) {
	atomic.StoreUint64(&f.word, head|uint64(number))
	atomic.StoreInt64(&f.gen, gen)
}

// Number is the number that f has in the recording gen; -1: none yet.
func (f *Func) Number(gen int64) int {
	if atomic.LoadInt64(&f.gen) != gen {
		return -1
	}
	return int(atomic.LoadUint64(&f.word) & (MaxFuncs - 1))
}

// Tally is what is counted of the calls of a function: by one P, which then alone
// writes the counts, or by all together.
type Tally struct {
	skipped  int64 // calls that were not recorded
	recorded int64
	limit    int64 // a call is recorded if fewer than limit + FirstCredit were
	_        int64
}

// Counts is how many calls were recorded so far, and how many were not.
func (t *Tally) Counts() (recorded, skipped int64) {
	return atomic.LoadInt64(&t.recorded), atomic.LoadInt64(&t.skipped)
}

// Credit is how many calls it would record now; below 0 none.
func (t *Tally) Credit() int64 {
	return atomic.LoadInt64(&t.limit) - atomic.LoadInt64(&t.recorded) + FirstCredit
}

// Allow lets n calls more than have been be recorded. Only one goroutine may call it.
func (t *Tally) Allow(n int64) {
	atomic.StoreInt64(&t.limit, atomic.LoadInt64(&t.recorded)+n-FirstCredit)
}

// Deny lets none be recorded.
func (t *Tally) Deny() { atomic.StoreInt64(&t.limit, NoCredit) }

// TakeShared counts a call in a tally of all, and reports whether it is to be recorded.
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
