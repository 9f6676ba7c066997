package trace

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// followedRing is a Follower's state of a ring.
//
// The state of an overwritten chunk is dropped. So memory is bounded by the chunks of one ring,
// however long it is followed. Scopes that are open then, and the names of rows, come back in carry
// blocks. So for each carried record the Follower needs to know whether it has delivered it: when
// it read the record in its chunk, when it found the end, or from a carry.
type followedRing struct {
	swept  format.State               // when all headers were last read
	dirty  bool                       // a chunk was found gone since
	sweeps int                        // how many more times to read them
	gone   map[format.Loc][]goneChunk // chunks overwritten lately

	unexamined []carryKey // carries that were read and not examined
	closing    []carryKey // scopes that ended according to a carry
	pruned     int64      // value of found when carries were last dropped

	lastPoll    int64 // the last known time after the last poll
	foundChunks int64 // chunks found since the beginning
	gen         uint32
	genLast     int64 // the largest number of gen
	prevGenLast int64 // the largest number of the generation before
	handedOut   int64 // by the numbers, since the beginning
	foundEarly  int64 // of foundChunks, those that had been handed out before the Follower began
	firstGen    uint32
	firstLast   int64 // its largest number then: chunks up to it had been handed out before
	cutChunks   int64 // chunks that may have got more records after they were last read
}

// goneChunk is an overwritten chunk, and how much of it had been read.
type goneChunk struct {
	since    int64
	last     int64 // records that began later were in a later chunk of that number
	gen      uint32
	stamp    int64 // the count of chunks when it was found gone
	complete bool  // everything except the open scopes was read
	seen     marks // else as in liveChunk
}

// goneOf returns the chunk at loc that held the record that began at start, nil if it is not known.
func (k *followedRing) goneOf(loc format.Loc, start int64) *goneChunk {
	list := k.gone[loc]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].since <= start && start <= list[i].last {
			return &list[i]
		}
	}
	return nil
}

// openBegin is the begin of an open scope.
type openBegin struct {
	loc    format.Loc
	start  int64
	thread uint32
}

// startRing records the chunks and carries of a ring at the beginning.
func (f *Follower) startRing() {
	t, k := f.t, &f.ring
	k.gone = map[format.Loc][]goneChunk{}
	for _, c := range t.chunks {
		f.countChunk(&c)
	}
	k.handedOut, k.foundChunks, k.foundEarly = 0, 0, 0
	k.firstGen, k.firstLast = k.gen, k.genLast
	for key := range t.carried {
		k.unexamined = append(k.unexamined, key)
	}
	t.onCarry = func(key carryKey) { k.unexamined = append(k.unexamined, key) }
	k.swept = t.state
	f.examineCarries()
}

// countChunk counts a chunk that was handed out.
func (f *Follower) countChunk(c *chunkInfo) {
	k, n := &f.ring, int64(f.t.addr.number(c))
	if n == 0 {
		return
	}
	k.foundChunks++
	if c.Gen < k.firstGen || c.Gen == k.firstGen && n <= k.firstLast {
		k.foundEarly++
		return
	}
	last := &k.genLast
	switch {
	case c.Gen > k.gen:
		// The last generation's largest number is not known, except from chunks of it that are
		// found later.
		k.prevGenLast = k.genLast
		if c.Gen > k.gen+1 {
			k.prevGenLast = math.MaxInt64
		}
		k.gen, k.genLast = c.Gen, 0
	case c.Gen+1 == k.gen:
		last = &k.prevGenLast
	case c.Gen < k.gen:
		return
	}
	if n > *last {
		k.handedOut += n - *last
		for m := max(*last+1, n-int64(f.ringChunks(1))); m < n; m++ {
			if old := f.t.numbered(m); old != nil && old.Gen < c.Gen {
				k.handedOut-- // still in use, so this number was left out
			}
		}
		*last = n
	}
}

// sweep drops the overwritten chunks. Only their headers show which those are, so all headers are
// read when sweepDue reports it.
func (f *Follower) sweep() error {
	if !f.sweepDue() {
		return nil
	}
	gone, err := f.findGone()
	if err != nil || len(gone) == 0 {
		return err
	}
	f.keepOpen(gone) // before the tables are cut
	f.dropGone(gone)
	for key := range f.t.carried {
		if gone[f.t.chunkLoc(key.loc)] != nil {
			f.ring.unexamined = append(f.ring.unexamined, key)
		}
	}
	return nil
}

// sweepDue reports whether chunks may have been overwritten since the last sweep: only if the
// flusher has worked. It changes the state before it overwrites anything. As it may take a while
// between the two, the following polls sweep too.
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

// findGone finds the overwritten chunks, and what was read of each.
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
			gone[c.loc] = &goneChunk{since: c.Since, last: k.lastPoll, gen: c.Gen, stamp: k.foundChunks, complete: true}
			f.unborn = append(f.unborn, c.at)
		}
	}
	k.swept, k.dirty = t.state, false
	return gone, nil
}

// keepOpen notes the scopes that were open in chunks that are gone, and how far the live ones among
// these had been read.
func (f *Follower) keepOpen(gone map[format.Loc]*goneChunk) {
	for _, c := range f.live {
		g := gone[c.loc]
		if g == nil {
			continue
		}
		g.complete, g.seen = false, c.seen
		if !c.whole {
			f.ring.cutChunks++
		}
		c.eachOpen(f.noteOpen)
	}
	for loc, b := range f.open {
		if gone[f.t.chunkLoc(loc)] != nil {
			f.noteOpen(b)
			delete(f.open, loc)
		}
	}
}

// dropGone drops the tables' entries for chunks that are gone.
func (f *Follower) dropGone(gone map[format.Loc]*goneChunk) {
	t, k := f.t, &f.ring
	is := func(loc format.Loc) bool { return gone[t.chunkLoc(loc)] != nil }
	f.live = slices.DeleteFunc(f.live, func(c *liveChunk) bool { return is(c.loc) })
	t.chunks = slices.DeleteFunc(t.chunks, func(c chunkInfo) bool { return is(c.loc) })
	t.tails = slices.DeleteFunc(t.tails, func(b blockTail) bool { return is(b.loc) })
	t.beats = slices.DeleteFunc(t.beats, func(b beatRef) bool { return is(b.loc) })
	t.allBeats = nil
	t.sched.drop(is)
	t.overwrittenChunks.mu.Lock()
	defer t.overwrittenChunks.mu.Unlock()
	for loc, g := range gone {
		delete(t.overwrittenChunks.chunks, loc)
		k.gone[loc] = append(k.gone[loc], *g)
	}
}

// ringChunks returns n times the number of the ring's chunks.
func (f *Follower) ringChunks(n int) int { return n * int(min(max(f.t.header.Ring, 64), 1<<20)) }

// Missed returns a lower bound of the number of chunks of records that were overwritten before this
// Follower had read them to their end, because Poll was called too rarely. It counts from the
// creation of the Follower.
func (f *Follower) Missed() int64 {
	t, k := f.t, &f.ring
	missing := k.handedOut - (k.foundChunks - k.foundEarly)
	// The latest numbers may be those of chunks that are not there yet; in a closed trace all are
	// there.
	for n := k.genLast; !t.state.Closed && n > max(k.genLast-int64(f.ringChunks(1)), 0) && missing > 0; n-- {
		c := t.numbered(n)
		gone := slices.ContainsFunc(k.gone[t.numberedLoc(n)], func(g goneChunk) bool { return g.gen == k.gen })
		if !gone && (c == nil || c.Gen != k.gen) {
			missing--
		}
	}
	return k.cutChunks + max(missing, 0)
}
