//go:build !scope_off

package scope

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// locking is 0 where locks just lock: no recording, or LocksOff. Else it is the
// recording's generation × 2, + 1 where every hold is recorded.
var locking uint64

// startLocks lets locks be watched.
func (r *recorder) startLocks() {
	if r.opts.locks == LocksOff {
		return
	}
	w := uint64(r.gen) << 1
	if r.opts.locks == LocksAll {
		w |= 1
	}
	atomic.StoreUint64(&locking, w)
}

// lockState is what a lock knows of itself. But for ref, and for holder to those that
// wait, it belongs to whoever has the lock.
type lockState struct {
	holder uint64 // the goroutine that has it; 0: nobody, or not known
	count  uint64 // how often it was had: the recording's generation << countBits, and the number
	hold   handle
	ref    atomic.Pointer[lockRef] // nil: nobody ever had to wait
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

// had notes that the caller got the lock at once; w is the value of locking.
func (l *lockState) had(w uint64, name string, what uint64) {
	l.own(w)
	if ref := l.ref.Load(); ref != nil || w&1 != 0 {
		l.tell(ref, w, name, what, false)
	}
}

// own notes that the caller has the lock.
func (l *lockState) own(w uint64) {
	n := l.count + 1
	if n>>countBits != w>>1 {
		n = w>>1<<countBits | 1
	}
	l.count = n
	setWord(&l.holder, self())
}

// self is the goroutine's id, if that costs nothing.
func self() uint64 {
	if g := current.Load().goids; g.Fast() {
		return g.Read()
	}
	return someGoid
}

// tell tells how often the lock was had, and records the hold if its holder had to
// wait long for it, or if others wait now.
func (l *lockState) tell(ref *lockRef, w uint64, name string, what uint64, long bool) {
	r := current.Load()
	if ref == nil {
		ref = l.known(name, what)
	}
	s := ref.sums
	setWord(&s.acquired, l.count)
	if long || w&1 != 0 || s.waiters.Load() > 0 {
		if id := r.names.find(s.name); id&nameOut == 0 {
			l.hold = r.beginLock(headHold|id<<48, s.addr, 0, what, 0)
		}
	}
}

// leave ends what began when the lock was had. It comes before the lock is let go
// of: afterwards all this belongs to somebody else.
func (l *lockState) leave() {
	setWord(&l.holder, 0)
	if h := l.hold; h.Loc != 0 {
		l.hold = handle{}
		h.End()
	}
}

// wait waits for a lock that is not to be had at once.
//
//go:noinline
func (l *lockState) wait(t tryLocker, name string, what uint64) {
	w := waiting{r: current.Load(), what: what}
	w.start = w.r.clock.Now()
	w.holder = atomic.LoadUint64(&l.holder)
	ref := l.known(name, what)
	w.sums = ref.sums
	watched := w.ready()
	got := false
	for watched && !got && !w.due() {
		got = t.TryLock()
	}
	if !got {
		w.sums.waiters.Add(1)
		t.Lock()
		w.sums.waiters.Add(-1)
	}
	long := false
	on := atomic.LoadUint64(&locking)
	exclusive := what&uint64(format.LockShared) == 0
	if exclusive && on != 0 {
		l.own(on)
	}
	if watched {
		long = w.over(on, 0)
	}
	if exclusive && on != 0 {
		l.tell(ref, on, name, what, long)
	}
}
