package count

import (
	"math"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// trails are where in memory each place of the code goes, one after the other.
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
	printBits  = 1 << 18 // of each
)

// trail is a place of the code, and the processor that it runs on.
type trail struct {
	pc        uintptr
	proc      uintptr
	burst     uint32
	goroutine uintptr
	last      uintptr // address
	delta     uintptr // to it, from the one before
	start     uintptr // of the steps with this delta
	run       uint32  // how many these are

	loads, stores uint32
	hops          uint32 // to another address
	strided       uint32 // as far as the hop before
	jumps         uint32 // to a line that is not near, and not as far
	pages         uint32 // of them to another page
	arrays        uint32 // of them, to lines that were not used in this burst: of pointers from an array
	links         uint32 // of pointers in what the last one led to
	others        uint32 // computed
	size          uintptr
	far           [row.Buckets]uint32 // how far jumps are

	searches          uint32 // runs from one and the same address
	searched          uint32 // steps of them
	step              uintptr
	shortest, longest uint32
}

// print tells how many lines a place of the code uses, at all.
type print struct {
	pc     uintptr
	at     int // where its bits are: one for each line, by chance
	set    int // of them
	burst  uint32
	bursts int     // in which it was come to
	came   int     // how often it came to a line that was not used in the burst
	chance float64 // how often a bit was set already, by chance
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

// near is how far a line may lie that a processor fetches ahead.
const near = 4 * lineBytes

// within is how far behind the begin of what a pointer points to is a part of it.
const within = 512

// take takes an access, the first one in this burst to its line, or not.
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
		if d+near > 2*near { // either way
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

// fewSteps is how many steps make a run that may be a search.
const fewSteps = 8

// longStep is how far the elements that are searched lie apart at most.
const longStep = 256

// turn ends a run of steps of the same length. One that begins where the last one began is a search, if
// it does not end there, too.
func (x *trail) turn(to uintptr) {
	if x.run >= fewSteps && to == x.start && x.delta <= longStep {
		n := x.run + 2 // the first two are no step, and one that none is compared with
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

// led finds out by which pointer an address was come to: one of the last that were loaded.
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

// print notes that a place of the code comes to a line.
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

// printOf is the print of a place of the code: nil if there are too many places.
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

// lines is how many lines a place of the code uses, about, as a sample tells: the fewer of those that it
// comes to it was seen at before, the more there are. What is seen in one burst lies on one way, so that
// bursts, and not lines, are what meets by chance.
func (f *print) lines() int64 {
	n := float64(f.came)
	each := n / float64(max(f.bursts, 1))
	again := max(n-float64(f.set)-f.chance, 0)
	return max(int64(n*n/(2*(again+(math.Sqrt(again*each)+each)/2+1))), int64(f.set))
}

// fewHops is how many hops a place of the code must have in a burst to be told of.
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

// foldSearch adds searches to their row: runs from one address that end here and there.
func (m *traffic) foldSearch(x *trail) {
	if x.searches < 2 || x.longest < 3*x.shortest/2 {
		return
	}
	s := c.rows.of(row.Search, 0, []uintptr{x.pc})
	if s == nil {
		return
	}
	// Those whose begin or end is not in the burst are as those that are.
	n := uint32(uint64(x.searches) * uint64(x.loads) / uint64(x.searched))
	m.add(&s.Stats, row.Made, n)
	m.add(&s.Stats, row.Compared, x.loads)
	m.add(&s.Stats, row.SearchedAgain, n)
	most(&s.Stats, row.SearchedIn, 1)
	most(&s.Stats, row.MaxElem, int64(x.step))
	most(&s.Stats, row.MaxLen, int64(x.longest))
	see(&s.Stats, row.Len, int64(x.longest), int64(m.weight*float64(n)))
}
