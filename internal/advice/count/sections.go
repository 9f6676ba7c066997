package count

import (
	"runtime"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Values of a mutex. Its row is the place that waits for it most, or until there is one, a
// place that locks it.
const (
	readOnly = others + 1 + iota // sections
	storing
	opaque // without a load or store seen
	accessed
	whole // sections seen, not scaled
	waits
	waitNS
	heldNS
	procs
)

// sections are the critical sections of sync.Mutexes in a burst. Those that are cut by its
// begin or end are not counted.
type sections struct {
	open []section
	seen map[uintptr]*mutexSeen
}

// mostOpen is the maximum number of mutexes followed that are locked at once.
const mostOpen = 64

// section is a section that has not ended.
type section struct {
	mutex, goroutine, pc uintptr
	loads, stores        uint32
}

// mutexSeen counts the sections of one mutex in a burst.
type mutexSeen struct {
	pc                              uintptr
	readOnly, storing, opaque, uses uint32
}

// take handles an access, or the begin or end of a section. Data on a goroutine's stack does
// not count, which includes deferred calls.
func (s *sections) take(a *access) {
	if a.size == lockSize {
		s.ends(a)
		if !a.store && len(s.open) < mostOpen {
			s.open = append(s.open, section{mutex: a.addr, goroutine: a.goroutine, pc: a.pc})
		}
		return
	}
	if a.local {
		return
	}
	for i := range s.open {
		switch x := &s.open[i]; {
		case x.goroutine != a.goroutine:
		case a.store:
			x.stores++
		default:
			x.loads++
		}
	}
}

// ends ends the section of a mutex. It counts only if the same goroutine unlocks it:
// otherwise another one may have stored, too.
func (s *sections) ends(a *access) {
	for i, x := range s.open {
		if x.mutex != a.addr {
			continue
		}
		s.open[i] = s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		if !a.store || x.goroutine != a.goroutine {
			return
		}
		m := s.seen[x.mutex]
		if m == nil {
			m = &mutexSeen{pc: x.pc}
			s.seen[x.mutex] = m
		}
		m.uses += x.loads + x.stores
		switch {
		case x.stores > 0:
			m.storing++
		case x.loads > 0:
			m.readOnly++
		default:
			m.opaque++
		}
		return
	}
}

// fold adds the sections of a burst to their mutexes.
func (s *sections) fold(m *traffic) {
	scaled := func(n uint32) int64 { return int64(m.weight * float64(n)) }
	on := int64(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	for mutex, n := range s.seen {
		pcs := [1]uintptr{n.pc}
		pin()
		if x, shard := findOrFollow(row.Mutex, mutex, pcs[:]); x != nil {
			x.v[readOnly] += scaled(n.readOnly)
			x.v[storing] += scaled(n.storing)
			x.v[opaque] += scaled(n.opaque)
			x.v[accessed] += scaled(n.uses)
			if !m.replayed {
				x.v[whole] += int64(n.readOnly + n.storing + n.opaque)
			}
			x.v[procs] = on
			shard.leave()
		}
		unpin()
	}
	clear(s.seen)
	s.open = s.open[:0]
}

// waitMutex handles a wait for a mutex: the mutex, the time, and the number of others still
// waiting. All of them wait during the same hold.
func waitMutex(a *[8]uintptr, weight int64, pcs []uintptr) {
	pcs = pcs[min(1, len(pcs)):] // without the frame of the sampling function
	x, s := findOrFollow(row.Mutex, a[0], pcs)
	if x == nil {
		return
	}
	x.vote(row.Mutex, pcs)
	ns := weight * int64(a[1])
	x.v[waits] += weight
	x.v[waitNS] += ns
	x.v[heldNS] += ns / int64(uint32(a[2])+1)
	s.leave()
}

// foldMutex adds a mutex to its row.
func foldMutex(x *inst, t *tally) {
	add(t, row.Made, 1)
	add(t, row.Unseen, x.v[unseen])
	add(t, row.Gets, x.v[readOnly])
	add(t, row.Puts, x.v[storing])
	add(t, row.Misses, x.v[opaque])
	add(t, row.Steps, x.v[accessed])
	add(t, row.Watched, x.v[whole])
	add(t, row.Waits, x.v[waits])
	add(t, row.WaitNS, x.v[waitNS])
	add(t, row.HeldNS, x.v[heldNS])
	most(t, row.MaxCap, x.v[procs])
}
