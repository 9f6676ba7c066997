package timeline

import (
	"encoding/binary"
	"sync"

	"github.com/scopeview/scopeview/internal/states"
)

// StateTile is what goroutines did in a stretch of time at a resolution, in packed
// columns:
//
//	stateGoid u, stateCount u, stateStart d, stateFunc u, stateSystem b
//	              the rows: the goroutine, its items, when the first begins, the function that it
//	              began with (index into Frames; 0: not known), 1 where it is the runtime's own
//	state b, stateDur u
//	              the items, row by row. Each begins where the one before ends
//	stateReason u, stateThread u, stateStack u, stateBy u, stateByStack u
//	              of the item, or of the longest in it: index into Reasons, the thread, index into Stacks,
//	              the goroutine that ended it and where
//	stateProc u
//	              with Res 0: the processor of Go's that the item had, from 1 on; 0: none, or not known
//	stateMany u, stateTop u, stateLock u
//	              with Res > 0: how many intervals are merged in the item; how long state, which took
//	              the most of it, took; how long of it was waiting for locks
//	trackKey u, trackCount u, trackStart d, track b, trackDur u, trackBy u, trackMany u, trackTop u
//	              with Res > 0: which goroutine had a processor of Go's (key 2n) or a thread (key 2n+1),
//	              in rows and items as above; with Res 0 the items tell that. The state behind the last
//	              of Names is that no goroutine had it
//	countRunning u, countReady u, countBlocked u
//	              with Res > 0: for each Bin ns from CountFrom on, the time that goroutines took together,
//	              running, waiting for a processor, and in other states. The runtime's own count while they run
//
// Neighbours are merged by the rule of docs/merging.md.
type StateTile struct {
	From     int64       `json:"from"`
	To       int64       `json:"to"`
	Res      int64       `json:"res"`
	Names    []string    `json:"names"`   // of the states
	Frames   []string    `json:"frames"`  // the first is empty
	Stacks   [][]int     `json:"stacks"`  // the first is empty; indexes into Frames, the innermost first
	Reasons  []string    `json:"reasons"` // the first is empty
	Items    int64       `json:"-"`
	Switches bool        `json:"switches"` // it is known whether threads were on a CPU
	Facts    [][2]string `json:"facts,omitempty"`
	// Told are the stretches of time in which all that goroutines did is in the tile.
	Told      [][2]int64 `json:"told,omitempty"`
	Procs     int        `json:"procs"` // so many of Go's processors had a goroutine, ever
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
	lists  map[string]int // stacks by their frames: those that only differ in their PCs are one
}

// Tile packs what touches [from, to] at a resolution in ns; 0: every interval.
// keep, if not nil, says which goroutines are in.
func (s *States) Tile(from, to, res int64, keep func(goid uint64) bool) *StateTile {
	res = evenRes(res)
	c, list := newStateColumns(res > 0)
	t := &StateTile{
		From: from, To: to, Res: res, Names: states.Names[:], Frames: []string{""}, Stacks: [][]int{{}}, Reasons: []string{""},
		Switches: s.Switches, Facts: s.Facts, Procs: s.procs(), columns: list,
	}
	if keep == nil {
		for _, x := range s.told {
			t.Told = append(t.Told, [2]int64{x.From, x.To})
		}
	}
	b := &stateTiler{s: s, tile: t, c: c, frames: map[string]int{"": 0}, stacks: map[uint32]int{0: 0}, lists: map[string]int{"": 0}}
	if len(s.reasons.list) > 0 {
		t.Reasons = s.reasons.list
	}
	// Each of the three goes through all there is, and fills columns of its own.
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

// at is the i-th; the zero value where nothing was ever put into the list.
func at[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}

// stack is a stack's place among the tile's.
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
