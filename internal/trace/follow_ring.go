package trace

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// followedRing is what a Follower knows of a ring.
//
// A chunk that was overwritten is forgotten with all that was known of it. So the memory is
// that for one ring's chunks, however long it is followed. What is open then, and the names
// of rows, come back in carry blocks. So it is to be known of each carried record whether
// it was delivered already: when it was read in its chunk, when its end was met, or as what
// a carry said.
type followedRing struct {
	swept  format.State               // as it was when all headers were looked at last
	dirty  bool                       // a chunk was found gone since
	sweeps int                        // how often they are to be looked at again
	gone   map[format.Loc][]goneChunk // what was overwritten lately

	told    []carryKey // carries that were read and not looked at
	closing []carryKey // scopes that ended by what a carry says
	pruned  int64      // found, when carries were forgotten last

	looked    int64 // the last moment that was known after the last look
	found     int64 // chunks that were found since the beginning
	gen       uint32
	last      int64 // the largest number of gen
	before    int64 // and of the generation before
	handedOut int64 // by the numbers, since the beginning
	early     int64 // of found, those that had been handed out before that
	firstGen  uint32
	firstLast int64 // those up to this number of that generation
	cut       int64 // chunks that may have come to hold more after the last look
}

// goneChunk is a chunk that was overwritten: how much of it had been read.
type goneChunk struct {
	since int64
	last  int64 // what began later was in a later chunk of that number
	gen   uint32
	stamp int64 // the count of chunks when it was found gone
	all   bool  // but for what was open
	seen  marks // else as in liveChunk
}

// goneOf returns the chunk at loc that held what began at start, nil if it is not known.
func (k *followedRing) goneOf(loc format.Loc, start int64) *goneChunk {
	list := k.gone[loc]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].since <= start && start <= list[i].last {
			return &list[i]
		}
	}
	return nil
}

// openBegin is the begin of a scope that was open.
type openBegin struct {
	loc    format.Loc
	start  int64
	thread uint32
}

// startRing takes in what a ring holds when it begins to be followed.
func (f *Follower) startRing() {
	t, k := f.t, &f.ring
	k.gone = map[format.Loc][]goneChunk{}
	for _, c := range t.chunks {
		f.number(&c)
	}
	k.handedOut, k.found, k.early = 0, 0, 0
	k.firstGen, k.firstLast = k.gen, k.last
	for key := range t.carried {
		k.told = append(k.told, key)
	}
	t.onCarry = func(key carryKey) { k.told = append(k.told, key) }
	k.swept = t.state
	f.decide()
}

// number counts a chunk that was handed out.
func (f *Follower) number(c *chunkInfo) {
	k, n := &f.ring, int64(f.t.addr.number(c))
	if n == 0 {
		return
	}
	k.found++
	if c.Gen < k.firstGen || c.Gen == k.firstGen && n <= k.firstLast {
		k.early++
		return
	}
	last := &k.last
	switch {
	case c.Gen > k.gen:
		// How far the numbers of the last generation went is not known, but by those that
		// are found later.
		k.before = k.last
		if c.Gen > k.gen+1 {
			k.before = math.MaxInt64
		}
		k.gen, k.last = c.Gen, 0
	case c.Gen+1 == k.gen:
		last = &k.before
	case c.Gen < k.gen:
		return
	}
	if n > *last {
		k.handedOut += n - *last
		for m := max(*last+1, n-int64(f.rings(1))); m < n; m++ {
			if old := f.t.numbered(m); old != nil && old.Gen < c.Gen {
				k.handedOut-- // still in use, so that it was left out
			}
		}
		*last = n
	}
}

// sweep forgets the chunks that were overwritten. Which those are only their headers tell,
// so all are looked at when that may be worth it.
func (f *Follower) sweep() error {
	if !f.sweepDue() {
		return nil
	}
	gone, err := f.findGone()
	if err != nil || len(gone) == 0 {
		return err
	}
	f.keepOpen(gone) // before the tables are cut
	f.forget(gone)
	for key := range f.t.carried {
		if gone[f.t.chunkLoc(key.loc)] != nil {
			f.ring.told = append(f.ring.told, key)
		}
	}
	return nil
}

// sweepDue reports whether something may have been overwritten since the last sweep: if
// the flusher was at work. It says so in the state before it overwrites anything. As it may
// take a while between the two, the polls that follow sweep too.
func (f *Follower) sweepDue() bool {
	k := &f.ring
	switch {
	case !f.t.addr.reuses():
		return false
	case f.t.state != k.swept:
		k.sweeps = 2
	case k.dirty:
	case k.sweeps > 0:
		k.sweeps--
	default:
		return false
	}
	return true
}

// findGone finds the chunks that are overwritten: what of each was read.
func (f *Follower) findGone() (gone map[format.Loc]*goneChunk, err error) {
	t, k := f.t, &f.ring
	gone = map[format.Loc]*goneChunk{}
	for i := range t.chunks {
		c := &t.chunks[i]
		if t.addr.number(c) == 0 {
			continue
		}
		same, err := t.unchanged(c)
		if err != nil {
			return nil, err
		}
		if !same {
			gone[c.loc] = &goneChunk{since: c.Since, last: k.looked, gen: c.Gen, stamp: k.found, all: true}
			f.unborn = append(f.unborn, c.at)
		}
	}
	k.swept, k.dirty = t.state, false
	return gone, nil
}

// keepOpen takes note of what was open in chunks that are gone, and of how far those that
// were live had been read.
func (f *Follower) keepOpen(gone map[format.Loc]*goneChunk) {
	for _, c := range f.live {
		g := gone[c.loc]
		if g == nil {
			continue
		}
		g.all, g.seen = false, c.seen
		if !c.whole {
			f.ring.cut++
		}
		c.eachOpen(f.stillOpen)
	}
	for loc, b := range f.open {
		if gone[f.t.chunkLoc(loc)] != nil {
			f.stillOpen(b)
			delete(f.open, loc)
		}
	}
}

// forget drops what the tables have of chunks that are gone.
func (f *Follower) forget(gone map[format.Loc]*goneChunk) {
	t, k := f.t, &f.ring
	is := func(loc format.Loc) bool { return gone[t.chunkLoc(loc)] != nil }
	f.live = slices.DeleteFunc(f.live, func(c *liveChunk) bool { return is(c.loc) })
	t.chunks = slices.DeleteFunc(t.chunks, func(c chunkInfo) bool { return is(c.loc) })
	t.tails = slices.DeleteFunc(t.tails, func(b blockTail) bool { return is(b.loc) })
	t.beats = slices.DeleteFunc(t.beats, func(b beatRef) bool { return is(b.loc) })
	t.allBeats = nil
	t.sched.forget(is)
	t.lapped.mu.Lock()
	defer t.lapped.mu.Unlock()
	for loc, g := range gone {
		delete(t.lapped.chunks, loc)
		k.gone[loc] = append(k.gone[loc], *g)
	}
}

// rings is so many times the ring's chunks.
func (f *Follower) rings(n int) int { return n * int(min(max(f.t.header.Ring, 64), 1<<20)) }

// Missed returns how many chunks of records, at least, were overwritten before this
// Follower had read them to their end: it was asked too rarely. It counts from
// when the Follower was made.
func (f *Follower) Missed() int64 {
	t, k := f.t, &f.ring
	missing := k.handedOut - (k.found - k.early)
	// The latest numbers may be those of chunks that are not there yet; of a closed trace
	// all are.
	for n := k.last; !t.state.Closed && n > max(k.last-int64(f.rings(1)), 0) && missing > 0; n-- {
		c := t.numbered(n)
		gone := slices.ContainsFunc(k.gone[t.numberedLoc(n)], func(g goneChunk) bool { return g.gen == k.gen })
		if !gone && (c == nil || c.Gen != k.gen) {
			missing--
		}
	}
	return k.cut + max(missing, 0)
}
