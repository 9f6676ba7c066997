//go:build !scope_off

package scope

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// startLocks lets locks be watched: sys.Live.Locking is 0 where locks just lock, without
// a recording or with LocksOff. Else it is the recording's generation × 2, + 1 where
// every hold is recorded.
func (r *recorder) startLocks() {
	if r.opts.locks == LocksOff {
		return
	}
	w := uint64(r.gen) << 1
	if r.opts.locks == LocksAll {
		w |= 1
	}
	atomic.StoreUint64(&sys.Live.Locking, w)
}

// lockState is what a lock knows of itself. But for sums, and for holder to those that
// wait, it belongs to whoever has the lock.
type lockState struct {
	holder uint64 // the goroutine that has it; 0: nobody, or not known
	count  uint64 // how often it was had: the recording's generation << countBits, and the number
	hold   handle
	sums   atomic.Pointer[lockSums] // nil: nobody ever had to wait
	life   *lockLife                // of whoever has sums
}

const countBits = 40

// someGoid is the holder where goroutines' ids can't be had cheaply. Its bits are
// outside of those of an id.
const someGoid = 1 << 63

// tryLocker is the side of a lock that somebody wants: to write, or to read.
type tryLocker interface {
	sync.Locker
	TryLock() bool
}

// self is the goroutine's id, if that costs nothing.
func self() uint64 {
	if g := &current.Load().goids; g.Fast() {
		return g.Read()
	}
	return someGoid
}

// had notes that the caller got the lock; w is sys.Live.Locking. Its hold is
// recorded if the caller has waited long for it, if others wait, or if all are.
func (l *lockState) had(w uint64, name string, what uint64, long bool) {
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

// begin records that the lock is held from now on.
func (l *lockState) begin(name string, what uint64) {
	r := current.Load()
	s := l.known(name, what)
	addr := s.addr
	if s.name == "" {
		s, what = r.place(what), what|format.LockPlace
	}
	if id := r.names.find(s.name); id&nameOut == 0 {
		if what&format.LockPlace == 0 {
			setWord(&s.acquired, l.count)
		}
		l.hold = r.beginLock(headHold|id<<48, addr, 0, what, 0)
	}
}

// end ends that, before the lock is let go of: afterwards all this belongs to somebody
// else.
func (l *lockState) end() {
	h := l.hold
	l.hold = handle{}
	h.End()
}

// wait waits for a lock that is not to be had at once.
//
//go:noinline
func (l *lockState) wait(t tryLocker, name string, what uint64) {
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
		setWord(&l.holder, self()) // before the wait is told of: others may come meanwhile
	}
	long := watched && w.over(on, 0)
	if exclusive {
		l.had(on, name, what, long)
	}
}
