package count

import (
	"slices"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// lines are the cache lines that several processors use in a burst.
type lines struct {
	all  []line
	used []int32 // indexes of all, in this burst
	lost atomic.Int64
}

const (
	mostLines = 1 << 10
	mostUsers = 8
	mostPCs   = 4
)

// line is one cache line. Sets of bytes and of processors are bits.
type line struct {
	at     uintptr
	burst  uint32
	users  [mostUsers]lineUser
	pcs    [mostPCs]lineUse
	valid  uint64     // processors that have its current content
	had    uint64     // processors that have had it
	stale  [64]uint64 // by processor: bytes that others have stored to since it lost the line
	writer uintptr    // goroutine of the last store

	loads, stores uint32
	apart         uint32 // misses for bytes that no other one had stored to
	same          uint32 // misses for bytes that another one had stored to
	atomic        uint32 // of both, by atomic stores
	shared        uint32 // accesses to bytes that another goroutine uses, too
}

// lineUser is a goroutine that uses a line.
type lineUser struct{ goroutine, loaded, stored uint64 }

// lineUse is a place of the code that uses a line.
type lineUse struct {
	pc     uintptr
	misses uint32
}

func (l *lines) init(owner *traffic) {
	l.all = sys.OffHeap[line](owner, mostLines)
	l.used = make([]int32, 0, mostLines)
}

// of returns a line, and adds it if necessary: nil if there is no room.
func (l *lines) of(burst uint32, at uintptr) *line {
	h := hashed(at) >> 20
	for i := range uint64(8) {
		k := (h + i) % mostLines
		x := &l.all[k]
		if x.burst == burst && x.at == at {
			return x
		}
		if x.burst != burst {
			*x = line{at: at, burst: burst}
			l.used = append(l.used, int32(k))
			return x
		}
	}
	l.lost.Add(1)
	return nil
}

// take handles an access to a line that several processors use. A processor loses the line
// when another one stores to it, and its next load or store then misses.
func (l *lines) take(m *traffic, p uintptr, a *access) {
	x := l.of(m.burst, a.addr>>lineShift)
	if x == nil {
		return
	}
	size := a.size
	if size == atomicSize {
		size = 4
	}
	n := min(max(size, 1), lineBytes-a.addr&(lineBytes-1))
	bytes := ^uint64(0) >> (lineBytes - n) << (a.addr & (lineBytes - 1))
	p &= 63
	bit := uint64(1) << p
	if x.valid&bit == 0 && x.had&bit != 0 && x.writer != a.goroutine {
		if x.stale[p]&bytes != 0 {
			x.same++
		} else {
			x.apart++
		}
		if a.size == atomicSize {
			x.atomic++
		}
		x.missed(a.pc)
	}
	x.had |= bit
	x.stale[p] = 0
	x.valid |= bit
	x.use(a, bytes)
	if !a.store {
		x.loads++
		return
	}
	x.stores++
	x.writer, x.valid = a.goroutine, bit
	for q := range x.stale {
		if q != int(p) && x.had>>q&1 != 0 {
			x.stale[q] |= bytes
		}
	}
}

// use records the bytes that a goroutine uses, and whether another one uses them.
func (x *line) use(a *access, bytes uint64) {
	var mine *lineUser
	others := uint64(0)
	for i := range x.users {
		u := &x.users[i]
		switch u.goroutine {
		case uint64(a.goroutine):
			mine = u
		case 0:
			if mine == nil {
				u.goroutine, mine = uint64(a.goroutine), u
			}
		default:
			others |= u.stored
			if a.store {
				others |= u.loaded
			}
		}
	}
	if others&bytes != 0 {
		x.shared++
	}
	if mine == nil {
		return // more goroutines than a line records
	}
	if a.store {
		mine.stored |= bytes
	} else {
		mine.loaded |= bytes
	}
}

func (x *line) missed(pc uintptr) {
	least := &x.pcs[0]
	for i := range x.pcs {
		u := &x.pcs[i]
		if u.pc == pc || u.pc == 0 {
			u.pc = pc
			u.misses++
			return
		}
		if u.misses < least.misses {
			least = u
		}
	}
	*least = lineUse{pc, 1}
}

// fewMisses is the minimum number of misses of a line in a burst for it to be reported.
const fewMisses = 8

// fold adds the lines of a burst to their rows.
func (l *lines) fold(m *traffic) {
	for _, k := range l.used {
		x := &l.all[k]
		if x.apart+x.same < fewMisses {
			continue
		}
		var buf [mostPCs]uintptr
		s := c.rows.of(row.Line, 0, x.places(buf[:0]))
		if s == nil {
			continue
		}
		t := &s.Stats
		m.add(t, row.Gets, x.loads)
		m.add(t, row.Puts, x.stores)
		m.add(t, row.Misses, x.apart)
		m.add(t, row.Contended, x.same)
		m.add(t, row.Shared, x.shared)
		m.add(t, row.Waits, x.atomic)
		add(t, row.Made, 1)
		users, among := 0, 0
		for i := range x.users {
			if u := &x.users[i]; u.goroutine != 0 {
				users++
				if u.stored != 0 {
					among++
				}
			}
		}
		most(t, row.MaxLen, int64(users))
		most(t, row.MaxCap, int64(among))
		_, size := object(x.at << lineShift)
		most(t, row.MaxElem, int64(size))
	}
	l.used = l.used[:0]
}

// places returns the places of the code with the most misses, by address, so that the next
// burst finds the same ones.
func (x *line) places(pcs []uintptr) []uintptr {
	top := uint32(0)
	for _, u := range x.pcs {
		top = max(top, u.misses)
	}
	for _, u := range x.pcs {
		if u.misses > top/8 {
			pcs = append(pcs, u.pc)
		}
	}
	slices.Sort(pcs)
	return pcs
}

// add adds n accesses of this burst, scaled by its weight.
func (m *traffic) add(t *tally, v row.Value, n uint32) {
	if n > 0 {
		add(t, v, int64(m.weight*float64(n)))
	}
}
