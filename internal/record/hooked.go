//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Waits reported by the standard library's hooks leave the same records as those of package scope's
// locks. A wait begins before the goroutine parks, so that a wait that never ends is visible.
// Beyond the allowance, waits are counted without a record.

// HookedWait is a wait reported by a hook. The standard library passes it on as three numbers.
type HookedWait struct {
	Loc   int64 // of its record; 0: none
	Start int64 // ticks; 0: not watched
	Site  int64
}

// waitCost and holdCost are the usual maximum costs of recording a wait and a hold, in ns;
// countCost is the cost of a wait that is only counted. lookCost is the cost of checking whether a
// release must be recorded: 35 ns were measured, over two million in a server. Once the time for
// that is used up, one release of lookOneOf checks whether there is time again, and the others cost
// a fifth: otherwise the refused releases cost a benchmark of a contended lock 3 % of its time.
const (
	waitCost  = 300
	holdCost  = 250
	countCost = 200
	lookCost  = 40
	lookOneOf = 16
)

// BeginHookedWait begins the goroutine's wait for the object at addr.
//
//go:noinline
func BeginHookedWait(addr uintptr, what uint64) (w HookedWait) {
	if atomic.LoadUint64(&sys.Live.Locking) == 0 {
		return w
	}
	r := current.Load()
	s, number, kind := r.siteHere()
	if s == nil {
		return w
	}
	what = ofKind(what, kind)
	id := s.id(r)
	if id&nameOut != 0 {
		return w
	}
	r.lockFacts()
	w.Start, w.Site = r.clock.Now(), int64(number)<<16|int64(what)
	// If releases are rare, the one that would find that there is time again may be far away.
	if releaseAllowance.over(r, w.Start) {
		r.lookAgain(ownersShut.Load(), w.Start)
	}
	holder := uint64(0)
	if format.LockKind(what >> 8).Held() {
		if holder = ownWaits(uint64(addr), w.Start); holder == self() {
			holder = 0 // it holds the inner mutex of a sync.RWMutex, and now waits for readers
		}
	}
	if waitAllowance.take(r, w.Start, waitCost) {
		sums := r.countedAt(s, format.LockKind(what>>8))
		if id = r.names.find(sums.name); id&nameOut == 0 {
			h := r.beginLock(headWait|id<<48, uint64(addr), holder, what|format.LockPlace, 0)
			w.Loc = h.Loc
			if h.Start != 0 {
				w.Start = h.Start
			}
		}
	} else {
		waitAllowance.sum.Add(countCost)
	}
	return w
}

// ofKind returns what for a mutex that is part of a lock of another kind.
func ofKind(what uint64, kind format.LockKind) uint64 {
	if what == MutexWhat && kind != format.LockMutex {
		return format.LockSlot(kind, format.LockExclusive)
	}
	return what
}

// ParkHooked records that the goroutine parks to wait for a mutex, for the first time or after
// another goroutine took it.
func ParkHooked(addr uintptr, w HookedWait) HookedWait {
	if w.Start == 0 {
		return BeginHookedWait(addr, MutexWhat)
	}
	ownSeen(uint64(addr), current.Load().clock.Now())
	return w
}

// EndHookedWait ends the wait.
//
//go:noinline
func EndHookedWait(addr uintptr, w HookedWait) {
	if w.Start == 0 {
		return
	}
	r := current.Load()
	now := max(r.clock.Now(), w.Start+max(r.ticks(2), 1))
	took := now - w.Start
	kind, mode := format.LockOf(uint64(w.Site & 0xffff))
	s := sites.get(int(w.Site >> 16))
	on := atomic.LoadUint64(&sys.Live.Locking)
	long := took >= r.ticks(r.threshold())
	if w.Loc != 0 {
		end := now
		if !long {
			end = w.Start
		}
		endAt(Handle{Loc: w.Loc, Start: w.Start}, end, nil)
	}
	if kind.Held() {
		goid := uint64(0)
		if mode == format.LockExclusive {
			goid = self()
		}
		ownGot(uint64(addr), goid, now, int(w.Site>>16))
	}
	if on == 0 || w.Start < r.began {
		return // its recording is over, and has written its sums
	}
	sums := s.sumsOf(kind).counted()
	if long && w.Loc != 0 {
		sums.contended.Add(contendedOne)
		return
	}
	sums.contended.Add(contendedOne | 1)
	sums.shortWait.Add(took)
	if long {
		r.thinned.Add(1)
	}
}

// HookedUnlock records that the goroutine releases, or has just released, a lock for which others
// wait. A writer of a sync.RWMutex releases that, and then its inner mutex.
//
//go:noinline
func HookedUnlock(addr uintptr, what uint64) {
	b := ownersAt(uint64(addr))
	if atomic.LoadUint64(&sys.Live.Locking) == 0 || !b.wanted() {
		return
	}
	r := current.Load()
	shut := ownersShut.Load()
	if shut&1 != 0 {
		passed, does := b.passes()
		if passed > 0 {
			r.unseen.Add(passed)
		}
		if does {
			return
		}
	}
	now := r.clock.Now()
	if !releaseAllowance.take(r, now, lookCost) {
		r.unseen.Add(1)
		ownMissed(now, r.ticks(missedFor))
		ownShut(shut)
		return
	}
	r.lookAgain(shut, now)
	rel, ok := ownLets(uint64(addr), self(), what == RWWhat)
	if !ok || rel.start < r.began || now <= rel.start {
		return
	}
	if !releaseAllowance.take(r, now, holdCost) {
		r.thinned.Add(1)
		return
	}
	s, _, kind := r.siteHere()
	if s == nil {
		return
	}
	what = ofKind(what, kind) | format.LockPlace
	if rel.exact {
		s = sites.get(int(rel.site))
	} else {
		what |= format.LockSince
	}
	id := r.names.find(r.countedAt(s, format.LockKind(what>>8&0xff)).name)
	if id&nameOut != 0 {
		return
	}
	r.lockFacts()
	h := r.beginLock(headHold|id<<48, uint64(addr), 0, what, rel.start)
	if h.Loc != 0 {
		r.endSince(h, rel.start, now)
	}
}

// lookAgain resumes checking all releases if they are being skipped; shut is an earlier value of
// ownersShut.
func (r *recorder) lookAgain(shut uint32, now int64) {
	if shut&1 != 0 && ownOpen(shut, now, r.ticks(missedFor)) {
		ownMissed(r.clock.Now(), r.ticks(missedFor))
	}
}

// HookedBlock records that the goroutine has just waited for a channel for ns. One of 1<<of such
// waits is reported, and represents them all.
//
//go:noinline
func HookedBlock(addr uintptr, what uint64, ns int64, of uint32) {
	if atomic.LoadUint64(&sys.Live.Locking) == 0 {
		return
	}
	r := current.Load()
	now := r.clock.Now()
	record := blockAllowance.take(r, now, blockCost)
	blockAllowance.adjust(of)
	s, _, _ := r.siteHere()
	if s == nil {
		return
	}
	took := max(int64(float64(ns)*float64(r.rate)/1e9), 2)
	start := now - took
	if start < r.began {
		return
	}
	sums := r.countedAt(s, format.LockKind(what>>8))
	id := r.names.find(sums.name)
	if id&nameOut != 0 {
		return
	}
	r.lockFacts()
	all, brief := uint64(1)<<of, uint64(1)<<of
	long := took >= r.ticks(r.threshold())
	if long && record {
		if h := r.beginLock(headWait|id<<48, uint64(addr), 0, what|format.LockPlace, start); h.Loc != 0 {
			r.endSince(h, start, now)
			brief--
		}
	}
	if long && brief != 0 {
		r.thinned.Add(int64(brief))
	}
	sums = sums.counted()
	sums.contended.Add(all*contendedOne | brief)
	sums.shortWait.Add(took * int64(brief))
}
