package timeline

import (
	"encoding/binary"
	"sync"

	"github.com/scopeview/scopeview/internal/states"
)

// StateTile has the states of goroutines in a stretch of time at a resolution, in packed
// columns:
//
//	stateGoid u, stateCount u, stateStart d, stateFunc u, stateSystem b
//	              the rows: the goroutine, its number of items, the begin of the first, the function that it
//	              began with (index into Frames; 0: not known), 1 for the runtime's own
//	state b, stateDur u
//	              the items, row by row. Each begins where the one before ends
//	stateReason u, stateThread u, stateStack u, stateBy u, stateByStack u
//	              of the item, or of the longest in it: index into Reasons, the thread, index into Stacks,
//	              the goroutine that ended it and its stack
//	stateProc u
//	              with Res 0: Go's processor of the item, from 1; 0: none, or not known
//	stateMany u, stateTop u, stateLock u
//	              with Res > 0: the number of intervals merged in the item; the time of state, which took
//	              most of it; the time of waiting for locks
//	trackKey u, trackCount u, trackStart d, track b, trackDur u, trackBy u, trackMany u, trackTop u
//	              with Res > 0: the goroutines on a processor of Go's (key 2n) or a thread (key 2n+1),
//	              in rows and items as above; with Res 0 the items have that. The state after the last
//	              of Names means that no goroutine had it
//	countRunning u, countReady u, countBlocked u
//	              with Res > 0: for each Bin ns from CountFrom on, the summed time of goroutines
//	              running, waiting for a processor, and in other states. The runtime's own count only while running
//
// Neighbours are merged by the rule of docs/merging.md.
type StateTile struct {
	From     int64       `json:"from"`
	To       int64       `json:"to"`
	Res      int64       `json:"res"`
	Names    []string    `json:"names"`   // of the states
	Frames   []string    `json:"frames"`  // the first is empty
	Stacks   [][]int     `json:"stacks"`  // the first is empty; indexes into Frames, innermost first
	Reasons  []string    `json:"reasons"` // the first is empty
	Items    int64       `json:"-"`
	Switches bool        `json:"switches"` // the times of threads on CPUs are known
	Facts    [][2]string `json:"facts,omitempty"`
	// Known has the stretches of time in which the tile has all states.
	Known     [][2]int64 `json:"known,omitempty"`
	Procs     int        `json:"procs"` // number of Go's processors that ever had a goroutine
	CountFrom int64      `json:"countFrom,omitempty"`
	Bin       int64      `json:"bin,omitempty"`

	columns []*column
}

type stateColumns struct {
	goid, count, start, fn, system     column
	state, dur                         column
	reason, thread, stack, by, byStack column
	proc                               column // with Res 0
	many, top, lock                    column
	track                              trackColumns
	counts                             [classes]column
}

func newStateColumns(merged bool) (c *stateColumns, list []*column) {
	c = &stateColumns{}
	list = named("stateGoid:u stateCount:u stateStart:d stateFunc:u stateSystem:b state:b stateDur:u stateReason:u stateThread:u stateStack:u stateBy:u stateByStack:u",
		&c.goid, &c.count, &c.start, &c.fn, &c.system, &c.state, &c.dur, &c.reason, &c.thread, &c.stack, &c.by, &c.byStack)
	if !merged {
		return c, append(list, named("stateProc:u", &c.proc)...)
	}
	list = append(list, named("stateMany:u stateTop:u stateLock:u", &c.many, &c.top, &c.lock)...)
	list = append(list, c.track.named()...)
	return c, append(list, named("countRunning:u countReady:u countBlocked:u", &c.counts[classRunning], &c.counts[classReady], &c.counts[classBlocked])...)
}

// stateTiler makes a StateTile.
type stateTiler struct {
	s      *States
	tile   *StateTile
	c      *stateColumns
	frames map[string]int
	stacks map[uint32]int
	lists  map[string]int // indexes of stacks by their frames: stacks that only differ in their PCs are one
}

// Tile packs the states that touch [from, to] at a resolution in ns; 0: every interval.
// keep, if not nil, selects goroutines.
func (s *States) Tile(from, to, res int64, keep func(goid uint64) bool) *StateTile {
	res = evenRes(res)
	c, list := newStateColumns(res > 0)
	t := &StateTile{
		From: from, To: to, Res: res, Names: states.Names[:], Frames: []string{""}, Stacks: [][]int{{}}, Reasons: []string{""},
		Switches: s.Switches, Facts: s.Facts, Procs: s.procs(), columns: list,
	}
	if keep == nil {
		for _, x := range s.stretches {
			t.Known = append(t.Known, [2]int64{x.From, x.To})
		}
	}
	b := &stateTiler{s: s, tile: t, c: c, frames: map[string]int{"": 0}, stacks: map[uint32]int{0: 0}, lists: map[string]int{"": 0}}
	if len(s.reasons.list) > 0 {
		t.Reasons = s.reasons.list
	}
	// Each of the three reads everything, and fills its own columns.
	var wg sync.WaitGroup
	if res > 0 {
		wg.Go(b.tracks)
		if keep == nil {
			wg.Go(b.counts)
		}
	}
	for _, r := range s.rows {
		if keep == nil || keep(r.goid) {
			b.row(r)
		}
	}
	wg.Wait()
	return t
}

func (b *stateTiler) row(r *stateRow) {
	n := 0
	b.s.runs(r, b.tile.From, b.tile.To, b.tile.Res, func(u *stateRun) {
		if n == 0 {
			b.c.start.d(u.start)
		}
		b.item(u)
		n++
	})
	if n == 0 {
		return
	}
	b.c.goid.u(r.goid)
	b.c.count.u(uint64(n))
	b.c.fn.u(uint64(b.frame(r.start)))
	system := byte(0)
	if r.system {
		system = 1
	}
	b.c.system.b(system)
	b.tile.Items += int64(n)
}

func (b *stateTiler) item(u *stateRun) {
	c, it := b.c, &u.item
	top := u.top()
	c.state.b(byte(top))
	c.dur.u(uint64(u.end - u.start))
	if it.state != top {
		it = &stateItem{}
	}
	c.reason.u(uint64(it.reason))
	place := at(b.s.places.list, int(it.place))
	c.thread.u(uint64(place.thread))
	c.stack.u(uint64(b.stack(it.stack)))
	c.by.u(at(b.s.goids.list, int(it.by)))
	c.byStack.u(uint64(b.stack(it.byStack)))
	if b.tile.Res > 0 {
		c.many.u(uint64(u.count))
		c.top.u(uint64(u.times[top]))
		c.lock.u(uint64(u.times[states.Lock]))
	} else {
		c.proc.u(uint64(place.proc))
	}
}

// at returns element i, or the zero value beyond the end.
func at[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}

// stack returns a stack's index in the tile.
func (b *stateTiler) stack(id uint32) int {
	k, ok := b.stacks[id]
	if !ok {
		var list []int
		var key []byte
		for _, text := range b.s.frames(id) {
			f := b.frame(text)
			list, key = append(list, f), binary.AppendUvarint(key, uint64(f))
		}
		if k, ok = b.lists[string(key)]; !ok {
			k = len(b.tile.Stacks)
			b.tile.Stacks = append(b.tile.Stacks, list)
			b.lists[string(key)] = k
		}
		b.stacks[id] = k
	}
	return k
}

func (b *stateTiler) frame(text string) int {
	k, ok := b.frames[text]
	if !ok {
		k = len(b.tile.Frames)
		b.frames[text] = k
		b.tile.Frames = append(b.tile.Frames, text)
	}
	return k
}
