//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// startLocks starts watching locks. sys.Live.Locking is 0 if locks just lock, without a
// recording or with LocksOff. Else it is the recording's generation × 2, + 1 if every hold is
// recorded.
func (r *recorder) startLocks() {
	if r.opts.locks == LocksOff {
		return
	}
	w := uint64(r.gen) << 1
	if r.opts.locks == LocksAll {
		w |= 1
	}
	ownersKnown.Store(r.clock.Now()) // invalidates the notes of an earlier recording
	ownersShut.And(^uint32(1))
	passedBy()
	atomic.StoreUint64(&sys.Live.Locking, w)
	lookAtBlocks(true)
}

// What a lock is: its kind, and how it is held.
const (
	MutexWhat  = uint64(format.LockMutex)<<8 | uint64(format.LockExclusive)
	RWWhat     = uint64(format.LockRWMutex)<<8 | uint64(format.LockExclusive)
	RWReadWhat = uint64(format.LockRWMutex)<<8 | uint64(format.LockShared)
	retryWhat  = uint64(format.LockRetry) << 8
)

// LockState is the state of a lock of package scope. Except for sums, and for holder, which
// waiters read, it belongs to the lock's holder.
type LockState struct {
	_      [0]atomic.Uint64 // aligns it where int has 32 bits: loading holder panics otherwise
	holder uint64           // the goroutine that holds it; 0: none or unknown
	count  uint64           // acquisitions: the recording's generation << countBits, and the number
	hold   Handle
	sums   atomic.Pointer[lockSums] // nil: no goroutine ever had to wait
	life   *lockLife                // of the lock that has sums
}

const countBits = 40

// someGoid is the holder if goroutine ids are too expensive to read. Its bit is outside of
// those of an id.
const someGoid = 1 << 63

// TryLocker is the side of a lock to be acquired: the writers' or the readers'.
type TryLocker interface {
	sync.Locker
	TryLock() bool
}

// self returns the goroutine's id, or someGoid if reading it is expensive.
func self() uint64 {
	if g := &current.Load().goids; g.Fast() {
		return g.Read()
	}
	return someGoid
}

// Had records that the caller has acquired the lock; w is sys.Live.Locking. The hold is
// recorded if the caller has waited long for it, if others wait, or if all holds are.
func (l *LockState) Had(w uint64, name string, what uint64, long bool) {
	n := l.count + 1
	if n>>countBits != w>>1 {
		n = w>>1<<countBits | 1
	}
	l.count = n
	goid := uint64(someGoid)
	if g := &current.Load().goids; g.Fast() { // self, which here would be a call
		goid = g.Read()
	}
	setWord(&l.holder, goid)
	s := l.sums.Load()
	if s != nil {
		setWord(&s.acquired, n)
		if s.waiters.Load() > 0 {
			long = true
		}
	}
	if long || w&1 != 0 {
		l.begin(name, what)
	}
}

// begin begins the record of the hold.
func (l *LockState) begin(name string, what uint64) {
	r := current.Load()
	s := l.known(name, what)
	addr := s.addr
	find := r.names.given
	if s.name == "" {
		s, what, find = r.place(what), what|format.LockPlace, r.names.find
	}
	if id := find(s.name); id&nameOut == 0 {
		if what&format.LockPlace == 0 {
			setWord(&s.acquired, l.count)
		}
		l.hold = r.beginLock(headHold|id<<48, addr, 0, what, 0)
	}
}

// Release records that the lock is about to be released.
func (l *LockState) Release() {
	if l.holder != 0 {
		if l.hold.Loc != 0 {
			l.end()
		}
		setWord(&l.holder, 0)
	}
}

// end ends the hold, before the lock is released: afterwards all this belongs to another
// goroutine.
func (l *LockState) end() {
	h := l.hold
	l.hold = Handle{}
	h.End()
}

// Wait waits for a lock that is not free.
//
//go:noinline
func (l *LockState) Wait(t TryLocker, name string, what uint64) {
	w := waiting{r: current.Load(), what: what}
	w.start = w.r.clock.Now()
	w.holder = atomic.LoadUint64(&l.holder)
	s := l.known(name, what)
	w.sums, w.addr = s, s.addr
	if s.name == "" {
		w.sums, w.what = w.r.place(what), what|format.LockPlace
	}
	watched := w.ready()
	got := false
	for watched && !got && !w.due() {
		got = t.TryLock()
	}
	if !got {
		s.waiters.Add(1)
		t.Lock()
		s.waiters.Add(-1)
	}
	on := atomic.LoadUint64(&sys.Live.Locking)
	exclusive := on != 0 && what&uint64(format.LockShared) == 0
	if exclusive {
		setWord(&l.holder, self()) // before the wait is recorded: others may come meanwhile
	}
	long := watched && w.over(on, 0)
	if exclusive {
		l.Had(on, name, what, long)
	}
}
