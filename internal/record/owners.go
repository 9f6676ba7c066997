//go:build !scope_off

package record

import (
	"math"
	"sync/atomic"
	"time"
)

// owner is what is known of a lock of the standard library while somebody waits for it.
//
// A goroutine that gets such a lock at once tells nobody. But while somebody waits every
// release is told, as it is he who then has to be woken. So what was seen since the last
// release is of who releases next.
type owner struct {
	addr    uint64 // 0: free
	waiters int32
	goid    uint64 // who has it, from since on, as he had waited for it; 0: not known
	since   int64  // ticks
	seen    int64  // ticks: since the last release it was seen to be held then; 0: it was not
	site    int32  // where goid locked it
	told    uint64 // the goroutine that was told to let go of a sync.RWMutex, whose mutex comes next
}

// ownerBucket is where the owners of some addresses are. Its lock is held for some ns, and
// is no mutex, as of those hooks tell.
type ownerBucket struct {
	busy atomic.Bool
	used atomic.Int32 // how many of the list are
	list [7]owner

	passed atomic.Int64 // releases that passed by, and are not in recorder.unseen yet
}

// passes counts a release that is to pass by, and returns how many of them are to be counted elsewhere. One
// of lookOneOf does not pass by. It is counted here, as a counter for all would go from CPU to CPU.
func (b *ownerBucket) passes() (passed int64, does bool) {
	if b.passed.Add(1) < lookOneOf {
		return 0, true
	}
	if passed = b.passed.Swap(0); passed < lookOneOf {
		return passed, true // somebody else has had the others
	}
	return passed - 1, false
}

// passedBy returns how many releases have passed by that nobody has counted yet.
func passedBy() (passed int64) {
	for i := range ownerTable {
		passed += ownerTable[i].passed.Swap(0)
	}
	return passed
}

func ownersAt(addr uint64) *ownerBucket { return &ownerTable[addr*0x9e3779b97f4a7c15>>55] }

// wanted reports whether somebody may wait for what is at an address of the bucket. Most mutexes that
// are let go of where others want them have those others still spin, and nobody was told of any.
func (b *ownerBucket) wanted() bool { return b.used.Load() != 0 }

var ownerTable [512]ownerBucket

// ownersMissed counts what was not noted, as the table was full, or held for too long.
var ownersMissed atomic.Int64

// missedFor is for how long what was noted counts as not known once a release was not looked at, so
// that not each of them has to say so.
const missedFor = 20 * time.Microsecond

// ownersKnown is since when all releases were looked at, in ticks: what was noted before it may have
// been let go of since.
var ownersKnown atomic.Int64

// ownMissed notes that a release was not looked at.
func ownMissed(now, while int64) {
	if was := ownersKnown.Load(); was < now+while/2 {
		ownersKnown.CompareAndSwap(was, now+while)
	}
}

// ownersShut is odd while releases pass by, and then nothing that was noted is known. Each change adds
// to it, so that who opens it again finds out whether another one has shut it meanwhile.
var ownersShut atomic.Uint32

// ownShut has the releases that follow pass by, but for one of lookOneOf.
func ownShut(was uint32) { ownersShut.CompareAndSwap(was, was+1+was&1) }

// ownOpen has all releases be looked at again, and reports whether nobody has shut it meanwhile. The
// caller then calls ownMissed again: what passed by in between is covered by missedFor.
func ownOpen(was uint32, now, while int64) bool {
	ownMissed(now, while)
	return ownersShut.CompareAndSwap(was, was+1)
}

// knownSince is the time from which on what was noted is known.
func knownSince() int64 {
	if ownersShut.Load()&1 != 0 {
		return math.MaxInt64
	}
	return ownersKnown.Load()
}

// ownerOf is the entry of an address, with its bucket locked; make makes one. nil: there
// is none, and nothing is locked.
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

// ownWaits notes that somebody begins to wait, and returns who has the lock; 0: not known.
func ownWaits(addr uint64, now int64) (holder uint64) {
	if o, b := ownerOf(addr, true); o != nil {
		o.waiters++
		o.told = 0
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

// ownSeen notes that somebody who was woken found the lock taken.
func ownSeen(addr uint64, now int64) {
	if o, b := ownerOf(addr, false); o != nil {
		if o.seen <= knownSince() {
			o.seen = now
		}
		b.busy.Store(false)
	}
}

// ownGot notes that who waited goes on, and, if goid is not 0, has the lock. Nobody is told
// of his release where nobody else waits.
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

// release is what is known of a lock that is let go of.
type release struct {
	start int64 // ticks: from when on it was held
	exact bool  // else longer, perhaps
	site  int32 // where it was locked, if exact
}

// ownLets notes that goid lets go. ok is false where nothing is known of when it got the lock.
// A writer of a sync.RWMutex lets go twice, outer first.
func ownLets(addr, goid uint64, outer bool) (rel release, ok bool) {
	o, b := ownerOf(addr, false)
	if o == nil {
		return rel, false
	}
	again := !outer && o.told == goid && goid != 0
	o.told = 0
	if outer {
		o.told = goid
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
