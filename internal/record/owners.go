//go:build !scope_off

package record

import (
	"math"
	"sync/atomic"
	"time"
)

// owner is the state of a standard library lock while a goroutine waits for it.
//
// A goroutine that gets such a lock at once is not reported. But while another one waits, every
// release is reported, because it has to wake the waiter. So what was observed since the last
// release concerns the goroutine that releases next.
type owner struct {
	addr     uint64 // 0: free
	waiters  int32
	goid     uint64 // the holder, since since, if it had waited for it; 0: unknown
	since    int64  // ticks
	seen     int64  // ticks: when it was first seen to be held since the last release; 0: never
	site     int32  // where goid locked it
	released uint64 // the goroutine that released a sync.RWMutex, whose inner mutex comes next
}

// ownerBucket holds the owners of some addresses. Its lock is held for some ns, and is not a mutex,
// which would itself be reported by the hooks.
type ownerBucket struct {
	busy atomic.Bool
	used atomic.Int32 // entries in use
	list [7]owner

	passed atomic.Int64 // skipped releases that are not in recorder.unseen yet
}

// passes counts a release that is to be skipped, and returns how many of them the caller must add
// to its count. One of lookOneOf is not skipped. They are counted here because a shared counter
// would move from CPU to CPU.
func (b *ownerBucket) passes() (passed int64, does bool) {
	if b.passed.Add(1) < lookOneOf {
		return 0, true
	}
	if passed = b.passed.Swap(0); passed < lookOneOf {
		return passed, true // another goroutine has counted the rest
	}
	return passed - 1, false
}

// passedBy returns how many releases were skipped and not counted yet.
func passedBy() (passed int64) {
	for i := range ownerTable {
		passed += ownerTable[i].passed.Swap(0)
	}
	return passed
}

func ownersAt(addr uint64) *ownerBucket { return &ownerTable[addr*0x9e3779b97f4a7c15>>55] }

// wanted reports whether a goroutine may wait for an address of the bucket. Most contended mutexes
// are released while others still spin, of which no hook has reported any.
func (b *ownerBucket) wanted() bool { return b.used.Load() != 0 }

var ownerTable [512]ownerBucket

// ownersMissed counts what was not noted, because the table was full, or locked for too long.
var ownersMissed atomic.Int64

// missedFor is the time for which notes count as unknown after a release that was not checked, so
// that not every such release has to record that.
const missedFor = 20 * time.Microsecond

// ownersKnown is the time since which all releases were checked, in ticks: locks noted before may
// have been released since.
var ownersKnown atomic.Int64

// ownMissed records that a release was not checked.
func ownMissed(now, while int64) {
	if was := ownersKnown.Load(); was < now+while/2 {
		ownersKnown.CompareAndSwap(was, now+while)
	}
}

// ownersShut is odd while releases are skipped, when all notes count as unknown. Each change
// increments it, so that a goroutine that clears it detects whether another one has set it
// meanwhile.
var ownersShut atomic.Uint32

// ownShut makes later releases be skipped, except one of lookOneOf.
func ownShut(was uint32) { ownersShut.CompareAndSwap(was, was+1+was&1) }

// ownOpen resumes checking all releases, and reports whether ownersShut was unchanged. The caller
// then calls ownMissed again: missedFor covers the releases skipped in between.
func ownOpen(was uint32, now, while int64) bool {
	ownMissed(now, while)
	return ownersShut.CompareAndSwap(was, was+1)
}

// knownSince returns the time since which notes are valid.
func knownSince() int64 {
	if ownersShut.Load()&1 != 0 {
		return math.MaxInt64
	}
	return ownersKnown.Load()
}

// ownerOf returns the entry of an address, with its bucket locked, and creates it if make is set.
// If it returns nil, nothing is locked.
func ownerOf(addr uint64, make bool) (*owner, *ownerBucket) {
	b := ownersAt(addr)
	for tries := 0; !b.busy.CompareAndSwap(false, true); tries++ {
		if tries == 1000 {
			ownersMissed.Add(1)
			return nil, nil
		}
	}
	var free *owner
	for i := range b.list {
		o := &b.list[i]
		if o.addr == addr {
			return o, b
		}
		if o.addr == 0 {
			free = o
		}
	}
	if make && free != nil {
		*free = owner{addr: addr}
		b.used.Add(1)
		return free, b
	}
	b.busy.Store(false)
	if make {
		ownersMissed.Add(1)
	}
	return nil, nil
}

// ownWaits records that a goroutine begins to wait, and returns the lock's holder; 0: unknown.
func ownWaits(addr uint64, now int64) (holder uint64) {
	if o, b := ownerOf(addr, true); o != nil {
		o.waiters++
		o.released = 0
		known := knownSince()
		if o.seen <= known {
			o.seen = now
		}
		if o.since > known {
			holder = o.goid
		}
		b.busy.Store(false)
	}
	return holder
}

// ownSeen records that a woken goroutine found the lock taken.
func ownSeen(addr uint64, now int64) {
	if o, b := ownerOf(addr, false); o != nil {
		if o.seen <= knownSince() {
			o.seen = now
		}
		b.busy.Store(false)
	}
}

// ownGot records that a waiting goroutine continues, and holds the lock if goid is not 0. Its
// release is reported only if others wait.
func ownGot(addr, goid uint64, now int64, site int) {
	if o, b := ownerOf(addr, false); o != nil {
		if o.waiters--; o.waiters <= 0 {
			o.addr = 0
			b.used.Add(-1)
		} else if goid != 0 {
			o.goid, o.since, o.site = goid, now, int32(site)
		}
		b.busy.Store(false)
	}
}

// release describes a released lock.
type release struct {
	start int64 // ticks: it was held since then
	exact bool  // else perhaps longer
	site  int32 // where it was locked, if exact
}

// ownLets records that goid releases a lock. ok is false if it is unknown since when it held it. A
// writer of a sync.RWMutex releases twice, outer first.
func ownLets(addr, goid uint64, outer bool) (rel release, ok bool) {
	o, b := ownerOf(addr, false)
	if o == nil {
		return rel, false
	}
	again := !outer && o.released == goid && goid != 0
	o.released = 0
	if outer {
		o.released = goid
	}
	known := knownSince()
	rel = release{o.seen, false, o.site}
	if o.goid != 0 && o.goid == goid && o.since > known {
		rel.start, rel.exact = o.since, true
	}
	if !again {
		o.goid, o.seen = 0, 0
	}
	b.busy.Store(false)
	return rel, rel.start > known && !again
}
