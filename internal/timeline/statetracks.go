package timeline

import (
	"maps"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/states"
)

// idle is the state of a processor, or of a thread, that no goroutine has.
const idle = states.Count

// track is one of Go's processors, or a thread: which goroutine had it, when.
type track struct{ held []held } // by time

// held is a goroutine's item: its row's number, and its index there.
type held struct{ row, item uint32 }

// trackKey numbers processors and threads.
func trackKey(n uint32, thread bool) uint64 {
	if thread {
		return 2*uint64(n) + 1
	}
	return 2 * uint64(n)
}

// onTracks takes in that an item was at a place.
func (s *States) onTracks(at place, h held) {
	if at.proc != 0 {
		s.onTrack(trackKey(at.proc-1, false), h)
	}
	if at.thread != 0 {
		s.onTrack(trackKey(at.thread, true), h)
	}
}

func (s *States) onTrack(key uint64, h held) {
	t := s.tracks[key]
	if t == nil {
		t = &track{}
		s.tracks[key] = t
	}
	t.held = append(t.held, h)
}

// procs is how many processors there are, of which some may have had nothing to do.
func (s *States) procs() (n int) {
	for _, p := range s.places.list {
		n = max(n, int(p.proc))
	}
	return n
}

func (s *States) startOf(h held) int64 { return s.met[h.row].items[h.item].start }

// runsOn visits what touches [from, to] of a track, merged for an even resolution. by of
// the row's items is the number of a goroutine's row.
//
// A system call may have lost its processor before its end: it has it until another
// goroutine does.
func (s *States) runsOn(key uint64, from, to, res int64, visit func(*stateRow, *stateRun)) {
	list := s.tracks[key].held
	before := func(t int64) int {
		return max(0, sort.Search(len(list), func(i int) bool { return s.startOf(list[i]) >= t })-1)
	}
	begin, _ := stretchOf(s.startOf(list[before(from+1)]), res)
	_, last := stretchOf(to, res)
	i := before(begin)
	next := s.startOf(list[i])
	r := &stateRow{end: next}
	flush := func() { r.runs(from, to, res, func(u *stateRun) { visit(r, u) }) }
	put := func(it stateItem, end int64) {
		if n := len(r.items); n >= tracksAtOnce {
			if _, limit := stretchOf(r.items[n-1].start, res); it.start > limit { // no run goes on behind it
				flush()
				r.items = r.items[:0]
			}
		}
		r.items, r.end = append(r.items, it), end
	}
	for ; i < len(list); i++ {
		of, item, start := s.met[list[i].row], int(list[i].item), next
		if start > r.end {
			put(stateItem{start: r.end, state: s.without(r.end, start)}, start)
		}
		if start > last {
			break
		}
		end := of.endOf(item)
		if i+1 < len(list) {
			next = s.startOf(list[i+1])
			end = min(end, next)
		}
		if end > start {
			put(stateItem{start: start, state: of.items[item].state, by: of.number}, end)
		}
	}
	flush()
}

// tracksAtOnce is how many items of a track are put beside each other before they are merged.
const tracksAtOnce = 4096

// without is the state of a track without a goroutine: where recording was interrupted
// it may have had one.
func (s *States) without(from, to int64) states.State {
	for _, x := range s.told {
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

// tracks packs what processors and threads had.
func (b *stateTiler) tracks() {
	c := &b.c.track
	for _, key := range slices.Sorted(maps.Keys(b.s.tracks)) {
		n := 0
		b.s.runsOn(key, b.tile.From, b.tile.To, b.tile.Res, func(r *stateRow, u *stateRun) {
			if n == 0 {
				c.start.d(u.start)
			}
			n++
			top, goid := u.top(), uint64(0)
			if it := &r.items[u.item]; it.state == top && top != idle && top != states.Unknown {
				goid = b.s.met[it.by].goid
			}
			c.state.b(byte(top))
			c.dur.u(uint64(u.end - u.start))
			c.by.u(goid)
			c.many.u(uint64(u.count))
			c.top.u(uint64(u.times[top]))
		})
		if n > 0 {
			c.key.u(key)
			c.count.u(uint64(n))
		}
	}
}
