package timeline

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/deltas"
	"github.com/scopeview/scopeview/internal/states"
)

// idle is the state of a processor, or of a thread, without a goroutine.
const idle = states.Count

// held is a stretch in which a goroutine had a place.
type held struct {
	start, end int64
	row        uint32 // number of its row
	state      states.State
}

// track has the goroutines of a place, by time. A processor of Go's and a thread have the
// tracks of all places that include them.
type track struct {
	list     deltas.List
	last     held // latest one coded; in a block, without its start
	unsorted bool // not coded, because out of order
	all      []held
}

// add adds the next stretch. They come by time, except in a corrupt trace.
func (t *track) add(h held, coded *deltas.Bytes) {
	if !t.unsorted && t.list.Len() > 0 && h.start < t.last.start {
		t.list.End(coded)
		for c := t.from(math.MinInt64, coded); c.next(); {
			t.all = append(t.all, c.held)
		}
		t.list, t.unsorted = deltas.List{}, true
	}
	if t.unsorted {
		t.all = append(t.all, h)
		return
	}
	if t.list.Begin(h.start, coded) {
		t.last = held{start: h.start, end: h.start}
	}
	l := &t.list
	l.PutSigned(h.start - t.last.end)
	l.Put(uint64(h.end - h.start))
	row := int64(h.row) - int64(t.last.row)
	same := uint64(1)
	if h.state == t.last.state {
		same = 0
	}
	l.Put((uint64(row)<<1^uint64(row>>63))<<1 | same)
	if same != 0 {
		l.Put(uint64(h.state))
	}
	t.last = h
}

// finish must be called before the track is read.
func (t *track) finish(coded *deltas.Bytes) {
	if t.unsorted {
		slices.SortStableFunc(t.all, func(a, b held) int { return cmp.Compare(a.start, b.start) })
		all := t.all
		*t = track{}
		for _, h := range all {
			t.add(h, coded)
		}
	}
	t.list.End(coded)
}

// trackCursor iterates over a track.
type trackCursor struct {
	held
	i     int // index of the next one
	items *deltas.List
	bytes *deltas.Bytes
	coded deltas.Reader
}

// from returns a cursor. Its first stretch starts at t or before, or is the first of all.
func (t *track) from(at int64, coded *deltas.Bytes) trackCursor {
	return trackCursor{items: &t.list, bytes: coded, i: t.list.Find(at)}
}

func (c *trackCursor) next() bool {
	if c.i == c.items.Len() {
		return false
	}
	if c.i%deltas.Block == 0 {
		c.held = held{}
		c.coded, c.end = c.items.Block(c.i, c.bytes)
	}
	c.i++
	c.start = c.end + c.coded.NextSigned()
	c.end = c.start + int64(c.coded.Next())
	v := c.coded.Next()
	row := v >> 1
	c.row = uint32(int64(c.row) + (int64(row>>1) ^ -int64(row&1)))
	if v&1 != 0 {
		c.state = states.State(c.coded.Next())
	}
	return true
}

// trackKey returns the key of a processor or thread.
func trackKey(n uint32, thread bool) uint64 {
	if thread {
		return 2*uint64(n) + 1
	}
	return 2 * uint64(n)
}

// procs returns the number of processors, including idle ones with lower numbers.
func (s *States) procs() (n int) {
	for _, p := range s.places.list {
		n = max(n, int(p.proc))
	}
	return n
}

// keyed has the tracks of a processor or a thread.
type keyed struct {
	key    uint64
	tracks []*track
}

// byKey returns the tracks in the tile's order.
func (s *States) byKey() (list []keyed) {
	by := map[uint64][]*track{}
	places := slices.SortedFunc(maps.Keys(s.tracks), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.proc, b.proc), cmp.Compare(a.thread, b.thread))
	})
	for _, at := range places {
		if at.proc != 0 {
			k := trackKey(at.proc-1, false)
			by[k] = append(by[k], s.tracks[at])
		}
		if at.thread != 0 {
			k := trackKey(at.thread, true)
			by[k] = append(by[k], s.tracks[at])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(by)) {
		list = append(list, keyed{k, by[k]})
	}
	return list
}

// heldFrom yields the stretches of tracks by time, beginning with the last one that starts
// at t or before, or earlier.
func (s *States) heldFrom(tracks []*track, t int64) iter.Seq[held] {
	return func(yield func(held) bool) {
		list := make([]*trackCursor, 0, len(tracks))
		for _, x := range tracks {
			if c := x.from(t, &s.coded); c.next() {
				list = append(list, &c)
			}
		}
		byStart := func(a, b *trackCursor) int { return cmp.Compare(a.start, b.start) }
		slices.SortStableFunc(list, byStart)
		for len(list) > 0 {
			c := list[0]
			until := int64(math.MaxInt64)
			if len(list) > 1 {
				until = list[1].start
			}
			more := true
			for more && c.start <= until {
				if !yield(c.held) {
					return
				}
				more = c.next()
			}
			list = list[1:]
			if more { // a place usually keeps its turn for long
				i, _ := slices.BinarySearchFunc(list, c, byStart)
				list = slices.Insert(list, i, c)
			}
		}
	}
}

// runsOn visits the runs of a processor or a thread that touch [from, to], merged at an even
// resolution. by of an item is the number of a goroutine's row.
//
// A system call may have lost its processor before its end: it has it until another
// goroutine does.
func (s *States) runsOn(tracks []*track, from, to, res int64, visit func(*stateRun)) {
	begin, some := int64(0), false
	for h := range s.heldFrom(tracks, from) {
		if some && h.start > from {
			break
		}
		begin, some = h.start, true
	}
	begin, _ = stretchOf(begin, res)
	_, last := stretchOf(to, res)
	m := stateMerger{from: from, to: to, res: res, visit: visit}
	var free int64 // start of the current time without a goroutine
	put := func(h *held, end int64) {
		if end > h.start {
			m.put(&stateItem{start: h.start, by: h.row, stateKind: stateKind{state: h.state}}, end)
			free = end
		}
	}
	var h held
	some = false
	for next := range s.heldFrom(tracks, begin) {
		if some {
			put(&h, min(h.end, next.start))
		} else {
			free, some = next.start, true
		}
		if h = next; h.start > free {
			m.put(&stateItem{start: free, stateKind: stateKind{state: s.without(free, h.start)}}, h.start)
			free = h.start
		}
		if h.start > last {
			break
		}
	}
	if h.start <= last {
		put(&h, h.end)
	}
	m.flush()
}

// without returns the state of a track without a goroutine: where recording was interrupted
// it may have had one.
func (s *States) without(from, to int64) states.State {
	for _, x := range s.stretches {
		if x.From <= from && to <= x.To {
			return idle
		}
	}
	return states.Unknown
}

type trackColumns struct {
	key, count, start column
	state, dur, by    column
	many, top         column
}

func (c *trackColumns) named() []*column {
	return named("trackKey:u trackCount:u trackStart:d track:b trackDur:u trackBy:u trackMany:u trackTop:u",
		&c.key, &c.count, &c.start, &c.state, &c.dur, &c.by, &c.many, &c.top)
}

// tracks packs the tracks of processors and threads.
func (b *stateTiler) tracks() {
	c := &b.c.track
	for _, k := range b.s.keyed {
		n := 0
		b.s.runsOn(k.tracks, b.tile.From, b.tile.To, b.tile.Res, func(u *stateRun) {
			if n == 0 {
				c.start.d(u.start)
			}
			n++
			top, goid := u.top(), uint64(0)
			if it := &u.item; it.state == top && top != idle && top != states.Unknown {
				goid = b.s.met[it.by].goid
			}
			c.state.b(byte(top))
			c.dur.u(uint64(u.end - u.start))
			c.by.u(goid)
			c.many.u(uint64(u.count))
			c.top.u(uint64(u.times[top]))
		})
		if n > 0 {
			c.key.u(k.key)
			c.count.u(uint64(n))
		}
	}
}
