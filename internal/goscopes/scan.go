package goscopes

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/gowire"
)

// scanned holds the events of one generation that scopes are made from.
type scanned struct {
	clock bool  // it has its clock
	bad   int64 // number of bytes that could not be read
	first int64 // ns by the trace's clock: its first event, and its last
	last  int64
	snap  gowire.Snapshot
	texts map[uint64]string
	roots map[uint64]root // by stack
	list  []event         // by time
	beats []beat          // by time
}

// beat holds values of the whole program at a time; 0: unknown.
type beat struct {
	at                  int64
	procs, heap, goal   int64
	cycles              int64 // garbage collections begun since the previous beat
	heapAt, goalAt, pAt int64 // the time of each value
}

// beatEvery is the distance between beats, in ns.
const beatEvery = 100_000_000

// root holds the outermost frames of a stack, as numbers of texts; 0: no frame.
type root struct{ outer, next uint64 }

// event is an event of a goroutine.
type event struct {
	time   int64
	goid   uint64 // 0: unknown
	thread uint64
	kind   byte // gowire's number of the event
	a, b   uint64
	text   uint64
}

// The fields a, b and text of events are:
//
//	GoCreate, GoCreateBlocked    the goroutine created, the stack of its first function
//	GoStart                      none; it runs for the first time in this generation
//	GoDestroy                    none
//	GoStatus                     a stack of the goroutine, 0: unknown
//	UserTaskBegin                task, its parent, name
//	UserTaskEnd                  task
//	UserRegionBegin, -End        task, –, name
//	UserLog                      task, message, category

// scanner scans one generation.
type scanner struct {
	scanned
	scale    float64
	threads  map[uint64]*thread
	inCall   map[uint64]uint64 // by thread, the goroutine in a system call on it, as other threads recorded
	all      bool
	byTime   map[int64]*beat     // beats by time divided by beatEvery
	nameless map[uint64]struct{} // goroutines that exist and for which no stack was seen yet
}

// thread is the state of a thread while its events are read.
type thread struct {
	id    uint64
	goid  uint64 // the goroutine that it runs, if known is set
	known bool   // whether it runs a goroutine is known
}

// unknownGoid stands for the goroutine of a thread while that is unknown.
const unknownGoid = math.MaxUint64

// scan reads a generation. If all is set, it returns the status of every goroutine that exists.
// Parts that can't be read are left out; readers of the goroutines' states report them.
func scan(g *gowire.Generation, all bool) *scanned {
	s := &scanner{
		scanned: scanned{first: math.MaxInt64, texts: map[uint64]string{}, roots: map[uint64]root{}},
		all:     all, byTime: map[int64]*beat{}, threads: map[uint64]*thread{}, inCall: map[uint64]uint64{}, nameless: map[uint64]struct{}{},
	}
	if s.tables(g); s.scale == 0 {
		s.bad = g.Size()
		return &s.scanned
	}
	s.clock = true
	s.bad += g.Rest()
	for b := range g.Batches() {
		switch {
		case b.End || b.Experimental || len(b.Data) == 0:
		case b.Data[0] > gowire.Frequency && b.Data[0] != gowire.Sync:
			s.batch(&b)
		}
	}
	for i := range s.list {
		if e := &s.list[i]; e.goid == unknownGoid {
			e.goid = s.inCall[e.thread]
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.byTime)) {
		s.beats = append(s.beats, *s.byTime[k])
	}
	slices.SortStableFunc(s.list, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	return &s.scanned
}

// tables reads the texts, the stacks and the clock, which may come last.
func (s *scanner) tables(g *gowire.Generation) {
	for b := range g.Batches() {
		if b.Experimental || len(b.Data) == 0 {
			continue
		}
		r := gowire.Numbers(b.Data[1:])
		switch b.Data[0] {
		case gowire.Strings:
			for r.Kind() == gowire.String {
				id, n := r.Next(), r.Next()
				s.texts[id] = string(r.Bytes(n))
			}
		case gowire.Stacks:
			for r.Kind() == gowire.Stack {
				id, n := r.Next(), r.Next()
				x := root{}
				for i := uint64(0); i < n && !r.Bad; i++ {
					r.Next()
					x = root{r.Next(), x.outer}
					r.Next()
					r.Next()
				}
				s.roots[id] = x
			}
		}
	}
	s.snap, s.scale = g.Clock()
}

// batch reads the events of a thread. Scanning spends most of its time here; of most events only
// the time is used.
func (s *scanner) batch(x *gowire.Batch) {
	t := s.threads[x.Thread]
	if t == nil {
		t = &thread{id: x.Thread}
		s.threads[x.Thread] = t
	}
	b, at := x.Data, 0
	now := int64(float64(x.Time) * s.scale)
	s.first = min(s.first, now)
	var v [5]uint64
	for at < len(b) {
		kind := b[at]
		n, ok := gowire.Args(kind)
		if !ok {
			s.bad += int64(len(b) - at)
			return
		}
		at++
		for i := range n + 1 {
			if at < len(b) && b[at] < 0x80 {
				v[i] = uint64(b[at])
				at++
				continue
			}
			var size int
			if v[i], size = binary.Uvarint(b[at:]); size <= 0 {
				s.bad += int64(len(b) - at)
				return
			}
			at += size
		}
		now += int64(float64(v[0]) * s.scale)
		s.event(t, kind, now, v[1:])
	}
	s.last = max(s.last, now)
}

// event processes an event.
func (s *scanner) event(t *thread, kind byte, now int64, v []uint64) {
	switch kind {
	case gowire.GoStart:
		t.runs(v[0])
		if v[1] == 1 { // its first start since it was created, or since this generation began
			s.add(t, event{time: now, goid: v[0], kind: kind})
		}
	case gowire.GoStop, gowire.GoBlock:
		s.seen(t, now, v[1])
		t.runs(0)
	case gowire.GoSyscallBegin:
		s.seen(t, now, v[1])
	case gowire.GoDestroy, gowire.GoDestroySyscall:
		s.add(t, event{time: now, goid: t.current(), kind: gowire.GoDestroy})
		t.runs(0)
	case gowire.GoSyscallEndBlocked:
		t.runs(0)
	case gowire.GoSwitchDestroy:
		s.add(t, event{time: now, goid: t.current(), kind: gowire.GoDestroy})
		t.runs(v[0])
	case gowire.GoSwitch:
		t.runs(v[0])
	case gowire.GoCreateSyscall:
		s.add(t, event{time: now, goid: v[0], kind: gowire.GoStatus})
		t.runs(v[0])
	case gowire.GoCreate, gowire.GoCreateBlocked:
		s.add(t, event{time: now, goid: t.current(), kind: gowire.GoCreate, a: v[0], b: v[1]})
	case gowire.GoStatus, gowire.GoStatusStack:
		s.status(t, kind, now, v)
	case gowire.HeapAlloc:
		if b := s.beat(now); now >= b.heapAt {
			b.heapAt, b.heap = now, int64(v[0])
		}
	case gowire.HeapGoal:
		if b := s.beat(now); now >= b.goalAt {
			b.goalAt, b.goal = now, int64(v[0])
		}
	case gowire.ProcsChange:
		if b := s.beat(now); now >= b.pAt {
			b.pAt, b.procs = now, int64(v[0])
		}
	case gowire.GCBegin:
		s.beat(now).cycles++
	case gowire.UserTaskBegin:
		s.add(t, event{time: now, goid: t.current(), kind: kind, a: v[0], b: v[1], text: v[2]})
	case gowire.UserTaskEnd:
		s.add(t, event{time: now, goid: t.current(), kind: kind, a: v[0]})
	case gowire.UserRegionBegin, gowire.UserRegionEnd:
		s.add(t, event{time: now, goid: t.current(), kind: kind, a: v[0], text: v[1]})
	case gowire.UserLog:
		s.add(t, event{time: now, goid: t.current(), kind: kind, a: v[0], b: v[2], text: v[1]})
	}
}

// beat returns the beat that a time belongs to.
func (s *scanner) beat(now int64) *beat {
	k := now / beatEvery
	b := s.byTime[k]
	if b == nil {
		b = &beat{}
		s.byTime[k] = b
	}
	b.at = max(b.at, now)
	return b
}

func (s *scanner) add(t *thread, e event) {
	e.thread = t.id
	s.list = append(s.list, e)
}

// status processes the state of a goroutine at the generation's begin.
func (s *scanner) status(t *thread, kind byte, now int64, v []uint64) {
	const running, inCall = 2, 3
	switch id := v[0]; {
	case v[2] == running || v[2] == inCall && v[1] == t.id:
		t.runs(id)
	case v[2] == inCall:
		s.inCall[v[1]] = id
	}
	e := event{time: now, goid: v[0], kind: gowire.GoStatus}
	if kind == gowire.GoStatusStack {
		e.a = v[3]
	}
	if e.a == 0 {
		s.nameless[v[0]] = struct{}{}
	}
	if e.a != 0 || s.all {
		s.add(t, e)
	}
}

// seen records the stack of the goroutine that a thread runs.
func (s *scanner) seen(t *thread, now int64, stack uint64) {
	if len(s.nameless) == 0 || stack == 0 {
		return
	}
	id := t.current()
	if id == unknownGoid {
		id = s.inCall[t.id]
	}
	if _, ok := s.nameless[id]; ok {
		delete(s.nameless, id)
		s.add(t, event{time: now, goid: id, kind: gowire.GoStatus, a: stack})
	}
}

func (t *thread) runs(goid uint64) { t.goid, t.known = goid, true }

func (t *thread) current() uint64 {
	if !t.known {
		return unknownGoid
	}
	return t.goid
}
