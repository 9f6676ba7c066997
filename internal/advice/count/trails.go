package count

import (
	"math"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// trails are the sequences of addresses that each place of the code accesses.
type trails struct {
	all    []trail
	used   []int32
	prints []print
	bits   []uint64
	lost   atomic.Int64
}

const (
	mostTrails = 1 << 12
	mostPrints = 64
	printBits  = 1 << 18 // per print
)

// trail is a place of the code on one processor.
type trail struct {
	pc        uintptr
	proc      uintptr
	burst     uint32
	goroutine uintptr
	last      uintptr // address
	delta     uintptr // to last, from the one before
	start     uintptr // address where the steps with this delta began
	run       uint32  // number of these steps

	loads, stores uint32
	hops          uint32 // accesses to another address
	strided       uint32 // of hops: by the same distance as the one before
	jumps         uint32 // of hops: to a distant line, by another distance
	pages         uint32 // of jumps: to another page
	arrays        uint32 // of jumps: to lines new in this burst, by pointers from an array
	links         uint32 // by pointers in the object that the last one led to
	others        uint32 // by computed addresses
	size          uintptr
	far           [row.Buckets]uint32 // distances of jumps

	searches          uint32 // runs that start at the same address
	searched          uint32 // steps of these
	step              uintptr
	shortest, longest uint32
}

// print estimates the number of lines that a place of the code uses in total.
type print struct {
	pc     uintptr
	at     int // index of its bits: one per line, hashed
	set    int // number of set bits
	burst  uint32
	bursts int     // bursts with accesses
	came   int     // accesses to lines new in their burst
	chance float64 // expected number of bits already set by collision
}

func (t *trails) init(owner *traffic) {
	t.all = sys.OffHeap[trail](owner, mostTrails)
	t.used = make([]int32, 0, mostTrails)
	t.prints = sys.OffHeap[print](owner, mostPrints)
	t.bits = sys.OffHeap[uint64](owner, mostPrints*printBits/64)
}

func (t *trails) of(burst uint32, p, pc uintptr) *trail {
	h := hashed(pc^p<<48) >> 20
	for i := range uint64(8) {
		k := (h + i) % mostTrails
		x := &t.all[k]
		if x.burst == burst && x.pc == pc && x.proc == p {
			return x
		}
		if x.burst != burst {
			*x = trail{pc: pc, proc: p, burst: burst}
			t.used = append(t.used, int32(k))
			return x
		}
	}
	t.lost.Add(1)
	return nil
}

// near is the distance of lines that a processor prefetches.
const near = 4 * lineBytes

// within is the maximum offset from a pointer's target that still counts as part of its
// object.
const within = 512

// take handles an access; first reports whether it is the first one to its line in this
// burst.
func (t *trails) take(m *traffic, p uintptr, a *access, first bool) {
	x := t.of(m.burst, p, a.pc)
	if x == nil {
		return
	}
	if a.store {
		x.stores++
	} else {
		x.loads++
	}
	if x.goroutine != a.goroutine {
		x.goroutine, x.last, x.run, x.delta = a.goroutine, a.addr, 0, 0
		x.start = a.addr
	}
	d := a.addr - x.last
	switch {
	case d == 0:
	case d == x.delta:
		x.hops++
		x.strided++
		x.run++
	default:
		x.hops++
		x.turn(a.addr)
		if d+near > 2*near { // in either direction
			x.jumps++
			away := int64(d)
			x.far[row.Bucket(max(away, -away))]++
			if a.addr>>pageShift != x.last>>pageShift {
				x.pages++
			}
			if first {
				m.led(p, x, a.addr)
				if !m.replayed {
					t.print(m.burst, a.pc, a.addr)
				}
			}
		}
		x.delta = d
	}
	x.last = a.addr
	if !a.store {
		r := &m.recent[p]
		r.addr[r.next&3], r.trail[r.next&3] = a.addr, x
		r.next++
	}
}

// fewSteps is the minimum number of steps of a run that may be a search.
const fewSteps = 8

// longStep is the maximum distance of searched elements.
const longStep = 256

// turn ends a run of steps of the same length. One that starts where the last one started is
// a search, unless it ends there, too.
func (x *trail) turn(to uintptr) {
	if x.run >= fewSteps && to == x.start && x.delta <= longStep {
		n := x.run + 2 // the first two accesses are no step
		x.searches++
		x.searched += n
		x.step = x.delta
		x.longest = max(x.longest, n)
		if x.shortest == 0 || n < x.shortest {
			x.shortest = n
		}
	}
	if x.run > 0 || to < x.start {
		x.start = to
	}
	x.run = 0
}

// led finds the pointer that led to an address: one of the last that were loaded.
func (m *traffic) led(p uintptr, x *trail, addr uintptr) {
	r := &m.recent[p]
	for i := range r.addr {
		from, by := r.addr[i], r.trail[i]
		if from == 0 || by == nil || by.burst != m.burst {
			continue
		}
		if _, size := object(from); size == 0 {
			continue
		}
		if to := uintptr(sys.LoadWord(from &^ 7)); to == 0 || addr-to >= within {
			continue
		}
		if _, size := object(addr); size > x.size {
			x.size = size
		}
		if by.strided*2 > by.hops {
			x.arrays++
		} else {
			x.links++
		}
		return
	}
	x.others++
}

// print records that a place of the code accesses a line.
func (t *trails) print(burst uint32, pc, addr uintptr) {
	f := t.printOf(pc)
	if f == nil || f.set > printBits*3/4 {
		return
	}
	f.came++
	if f.burst != burst {
		f.burst = burst
		f.bursts++
	}
	f.chance += float64(f.set) / printBits
	bit := hashed(addr>>lineShift) >> 32 % printBits
	if w := &f.bits(t)[bit/64]; *w>>(bit%64)&1 == 0 {
		*w |= 1 << (bit % 64)
		f.set++
	}
}

// printOf returns the print of a place of the code: nil if there are too many places.
func (t *trails) printOf(pc uintptr) *print {
	h := hashed(pc) >> 40
	for i := range uint64(8) {
		k := (h + i) % mostPrints
		switch f := &t.prints[k]; f.pc {
		case 0:
			f.pc, f.at = pc, int(k)*printBits/64
			return f
		case pc:
			return f
		}
	}
	return nil
}

func (f *print) bits(t *trails) []uint64 { return t.bits[f.at:][:printBits/64] }

// lines estimates the number of lines that a place of the code uses, by sampling: the fewer
// of its lines were seen before, the more there are. The lines of one burst lie on one path,
// so bursts, not lines, are the independent samples.
func (f *print) lines() int64 {
	n := float64(f.came)
	each := n / float64(max(f.bursts, 1))
	again := max(n-float64(f.set)-f.chance, 0)
	return max(int64(n*n/(2*(again+(math.Sqrt(again*each)+each)/2+1))), int64(f.set))
}

// fewHops is the minimum number of hops of a place of the code in a burst for it to be
// reported.
const fewHops = 32

// fold adds the trails of a burst to their rows.
func (t *trails) fold(m *traffic) {
	for _, k := range t.used {
		x := &t.all[k]
		m.foldSearch(x)
		if x.jumps < fewHops {
			continue
		}
		s := c.rows.of(row.Scan, 0, []uintptr{x.pc})
		if s == nil {
			continue
		}
		to := &s.Stats
		m.add(to, row.Made, x.loads+x.stores)
		m.add(to, row.Gets, x.loads)
		m.add(to, row.Puts, x.stores)
		m.add(to, row.Steps, x.hops)
		m.add(to, row.Compared, x.strided)
		m.add(to, row.Probes, x.jumps)
		m.add(to, row.Misses, x.pages)
		m.add(to, row.Pointed, x.arrays)
		m.add(to, row.Chased, x.links)
		m.add(to, row.Placed, x.others)
		add(to, row.Watched, int64(x.loads+x.stores))
		most(to, row.MaxElem, int64(x.size))
		if f := t.printOf(x.pc); f != nil {
			atomic.StoreInt64(&to.V[row.MaxLen], f.lines()) // the last estimate is the best
		}
		for b, n := range x.far {
			if n > 0 {
				addHist(to, row.Cap, b, int64(m.weight*float64(n)))
			}
		}
	}
	t.used = t.used[:0]
}

// foldSearch adds searches to their row: runs from one address that end at different ones.
func (m *traffic) foldSearch(x *trail) {
	if x.searches < 2 || x.longest < 3*x.shortest/2 {
		return
	}
	s := c.rows.of(row.Search, 0, []uintptr{x.pc})
	if s == nil {
		return
	}
	// Those cut off by the burst are taken to be like the others.
	n := uint32(uint64(x.searches) * uint64(x.loads) / uint64(x.searched))
	m.add(&s.Stats, row.Made, n)
	m.add(&s.Stats, row.Compared, x.loads)
	m.add(&s.Stats, row.SearchedAgain, n)
	most(&s.Stats, row.SearchedIn, 1)
	most(&s.Stats, row.MaxElem, int64(x.step))
	most(&s.Stats, row.MaxLen, int64(x.longest))
	see(&s.Stats, row.Len, int64(x.longest), int64(m.weight*float64(n)))
}
