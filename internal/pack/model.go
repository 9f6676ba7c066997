package pack

import (
	"encoding/binary"
	"math/bits"

	"github.com/scopeview/scopeview/internal/format"
)

const unit = format.RecordSize

// Values of colShape for a place without a record.
const (
	shapeHole  = 0
	shapeOther = 1
	firstShape = 2
)

// model predicts each property of a chunk's records from those before. It is the same for both
// directions: packing, it stores the prediction error; unpacking, it reads it.
type model struct {
	packing bool
	cols    [columns]values
	clock   int64 // ticks in a unit of the clock
	inverse float64
	scopes  int64
	bad     bool // unpacking: a number was missing, or made no sense

	shapes []shape
	known  map[shapeKey]int
	recent [256]int // packing: the shapes used last, by a hash
	texts  texts

	// Of the chunk.
	b        []byte
	end      int
	assembly bool
	goids    map[uint64]int
	gs       []goroutine // [0] stands for the time before the chunk
	cur      int
	open     [2]uint64 // words 1 and 3 of the previous open scope
}

// goroutine is the state of a goroutine in the chunk so far.
type goroutine struct {
	goid  uint64
	last  int64 // time of its last begin or end
	ended bool  // the last was an end
	in    []running
	open  []int // offsets of the open scopes that it has begun
}

// running is an ended scope whose end the model has not reached yet.
type running struct {
	off, shape int
}

func newModel(packing bool) *model {
	m := &model{packing: packing, clock: 1, inverse: 1, known: map[shapeKey]int{}, goids: map[uint64]int{}, texts: texts{known: map[string]int{}}}
	for c := range m.cols {
		m.cols[c].is = column(c).how()
	}
	return m
}

// reset forgets the previous group.
func (m *model) reset() {
	for i := range m.cols {
		m.cols[i].reset()
	}
	m.bad, m.scopes = false, 0
	m.shapes = m.shapes[:0]
	clear(m.known)
	clear(m.recent[:])
	m.texts.reset()
	m.setClock(1)
}

func (m *model) setClock(unit int64) { m.clock, m.inverse = unit, 1/float64(unit) }

// code adds v to the column c when packing, else returns the column's next value. pred is the
// expected value.
func (m *model) code(c column, v, pred uint64) uint64 {
	k := &m.cols[c]
	switch {
	case m.packing:
		k.add(v, pred)
		return v
	case k.next >= len(k.list):
		m.bad = true
		return 0
	}
	s := k.list[k.next]
	k.next++
	if k.how == plain {
		return s
	}
	return pred + unzigzag(s)
}

// ticks is code for a time difference, predicted by the mean of the earlier ones.
func (m *model) ticks(c column, d int64, mean *int64) int64 {
	q, rest := d, int64(0)
	if m.clock > 1 {
		if m.packing {
			q, rest = m.divide(d)
		}
		rest = int64(m.code(colRest, uint64(rest), 0))
	}
	pred := *mean >> 3
	q = int64(m.code(c, uint64(q), uint64(pred)))
	if *mean == 0 {
		*mean = 8 * q
	} else { // an outlier moves the mean at most as far as twice the mean would
		*mean += min(max(q, 0), 2*pred+16) - pred
	}
	return q*m.clock + rest
}

func (m *model) divide(d int64) (q, rest int64) {
	const exact = 1 << 50
	if d > exact || d < -exact {
		q = d / m.clock
	} else {
		q = int64(float64(d) * m.inverse)
	}
	rest = d - q*m.clock
	for rest < 0 {
		q, rest = q-1, rest+m.clock
	}
	for rest >= m.clock {
		q, rest = q+1, rest-m.clock
	}
	return q, rest
}

func (m *model) word(off int) uint64   { return binary.LittleEndian.Uint64(m.b[off:]) }
func (m *model) put(off int, w uint64) { binary.LittleEndian.PutUint64(m.b[off:], w) }
func (m *model) same(off int, w uint64) {
	if !m.packing {
		m.put(off, w)
	}
}

// zero sets the bytes [from, to) to zero; when packing they are zero already.
func (m *model) zero(from, to int) {
	if !m.packing {
		clear(m.b[from:to])
	}
}

// chunk codes the places of the chunk b. Unpacking, it overwrites everything but the header.
func (m *model) chunk(b []byte) {
	m.b = b
	places := 0
	if m.packing {
		n := len(b)
		for n > format.ChunkHeaderSize && binary.LittleEndian.Uint64(b[n-8:]) == 0 {
			n -= 8
		}
		places = (n - format.ChunkHeaderSize + unit - 1) / unit
	}
	places = int(m.code(colEnd, uint64(places), 0))
	m.end = format.ChunkHeaderSize + places*unit
	if places < 0 || places > len(b)/unit || m.end > len(b) {
		m.bad = true
		return
	}
	m.zero(m.end, len(b))
	m.assembly = format.Path(b[5]) == format.PathAssembly
	m.begin(int64(binary.LittleEndian.Uint64(b[16:])))
	for at := format.ChunkHeaderSize; at < m.end && !m.bad; {
		s := 0
		if m.packing {
			s = m.look(at)
		}
		switch s = int(m.code(colShape, uint64(s), 0)); s {
		case shapeHole:
			m.zero(at, at+unit)
			at += unit
		case shapeOther:
			for i := 0; i < unit; i += 8 {
				m.same(at+i, m.code(colRaw, m.word(at+i), 0))
			}
			at += unit
		default:
			if s -= firstShape; s < 0 || s >= len(m.shapes) {
				m.bad = true
				return
			}
			at = m.record(at, s)
		}
	}
	for g := range m.gs {
		m.popAll(g)
	}
}

// begin forgets the previous chunk. since is when this one was handed out.
func (m *model) begin(since int64) {
	clear(m.goids)
	m.gs = m.gs[:0]
	m.cur = m.goroutine(0)
	m.gs[m.cur].last = since
	m.open = [2]uint64{}
}

// goroutine returns the index of the goroutine in gs.
func (m *model) goroutine(goid uint64) int {
	if i, ok := m.goids[goid]; ok {
		return i
	}
	n := len(m.gs)
	m.goids[goid] = n
	if n < cap(m.gs) {
		m.gs = m.gs[:n+1] // with room for its stacks
	} else {
		m.gs = append(m.gs, goroutine{})
	}
	g := &m.gs[n]
	*g = goroutine{goid: goid, in: g.in[:0], open: g.open[:0]}
	return n
}

// record codes the record at the place at, of the shape s, and returns the place behind.
func (m *model) record(at, s int) int {
	sh := &m.shapes[s]
	if at+unit > m.end {
		m.bad = true
		return at
	}
	// Code the ends before it first, of the previous goroutine and of its own: most records begin
	// where another has ended.
	start := int64(m.word(at))
	was := m.cur
	m.pop(was, start)
	if goid := m.code(colGoid, m.word(at+16)&format.MaxGoid, m.gs[was].goid); goid != m.gs[was].goid {
		m.cur = m.goroutine(goid & format.MaxGoid)
		m.pop(m.cur, start)
		if o, g := &m.gs[was], &m.gs[m.cur]; o.last > g.last {
			g.last, g.ended = o.last, o.ended
		}
	}
	g := &m.gs[m.cur]
	c, mean := colNested, &sh.means[0]
	if g.ended {
		c, mean = colNext, &sh.means[1]
	}
	start = g.last + m.ticks(c, start-g.last, mean)
	g.last, g.ended = start, false
	head := g.goid | sh.head()
	m.same(at, uint64(start))
	m.same(at+16, head)

	to := at + unit
	if sh.key.extended() {
		to = m.extension(at, sh, g)
	}
	if sh.class == classEnded || sh.class == classOpen {
		m.scopes++
	}
	switch sh.class {
	case classEnded:
		g.in = append(g.in, running{at, s})
	case classOpen:
		pred := m.open[0]
		if !m.assembly {
			pred = uint64(start) | 1<<63
		}
		m.open[0] = m.code(colOpen1, m.word(at+8), pred)
		m.open[1] = m.code(colOpen3, m.word(at+24), m.open[1])
		m.same(at+8, m.open[0])
		m.same(at+24, m.open[1])
		g.open = append(g.open, at)
	case classEnd:
		pred := uint64(start)
		if off, ok := m.here(sh.begin, at); ok {
			pred = m.word(off)
		}
		begun := m.code(colBegun, m.word(at+8), pred)
		m.same(at+8, begun)
		m.slack(at, sh, start-int64(begun))
	default:
		for i, c := range [...]column{colWord1, colWord3} {
			off := at + 8 + 16*i
			sh.words[i] = m.code(c, m.word(off), sh.words[i])
			m.same(off, sh.words[i])
		}
	}
	return to
}

// pop codes the ends, before start, of scopes of the goroutine g.
func (m *model) pop(g int, start int64) {
	n := 0
	in := m.gs[g].in
	if m.packing {
		for n < len(in) && int64(m.word(in[len(in)-1-n].off+8)) <= start {
			n++
		}
	}
	n = int(m.code(colPops, uint64(n), 0))
	if n < 0 || n > len(in) {
		m.bad = true
		return
	}
	for range n {
		m.ends(g)
	}
}

func (m *model) popAll(g int) {
	for len(m.gs[g].in) > 0 && !m.bad {
		m.ends(g)
	}
}

// ends codes the end of the last scope of g to begin.
func (m *model) ends(i int) {
	g := &m.gs[i]
	r := g.in[len(g.in)-1]
	g.in = g.in[:len(g.in)-1]
	sh := &m.shapes[r.shape]
	start := int64(m.word(r.off))
	c, mean := colOuter, &sh.means[3]
	if !g.ended && g.last == start {
		c, mean = colLeaf, &sh.means[2]
	}
	stop := g.last + m.ticks(c, int64(m.word(r.off+8))-g.last, mean)
	g.last, g.ended = stop, true
	m.same(r.off+8, uint64(stop))
	m.slack(r.off, sh, stop-start)
}

// slack codes word 3 of a record that has a CPU time.
func (m *model) slack(at int, sh *shape, duration int64) {
	q := sh.key.quality()
	if q == format.Unknown {
		duration = 0
	}
	// Both CPU times and their packed values have 62 bits, so the wrapped rest is equal.
	d := duration - int64(m.word(at+24)>>2)
	cpu := duration - m.ticks(colSlack, d, &sh.means[4])
	m.same(at+24, uint64(cpu)<<2|uint64(q))
}

// here returns the offset of the record at loc, if that is in this chunk and before the place at:
// it is known then, except for its end.
func (m *model) here(loc uint64, at int) (off int, ok bool) {
	size := uint64(len(m.b))
	off = int(loc % size)
	return off, loc/size == m.number() && off >= format.ChunkHeaderSize && off < at && off%unit == 0
}

// number returns the chunk's number in Locs.
func (m *model) number() uint64 {
	if n := binary.LittleEndian.Uint32(m.b[40:]); n != 0 {
		return uint64(n)
	}
	return uint64(binary.LittleEndian.Uint32(m.b[8:]))
}

// findClock sets the unit of the clock: the number of which most durations are a multiple. The
// counters of many machines advance by more than one at a time.
func (m *model) findClock(chunk []byte) {
	var durations []uint64
	for at := format.ChunkHeaderSize; at+unit <= len(chunk); at += unit {
		r := format.DecodeRecord(chunk[at:])
		if k := r.Kind().Spec(); k != nil && k.Scope && r.Start > 0 && r.Stop > r.Start && r.Stop < format.MaxTicks {
			durations = append(durations, uint64(r.Stop-r.Start))
		}
	}
	var votes [256]int
	n := 0
	for len(durations) >= 4 {
		g := uint64(0)
		for _, d := range durations[:4] {
			g = gcd(g, d)
		}
		durations = durations[4:]
		if g > 0 {
			n++
			if g < uint64(len(votes)) {
				votes[g]++
			}
		}
	}
	best := 1
	for g := 2; g < len(votes); g++ {
		if votes[g] > votes[best] {
			best = g
		}
	}
	if 2*votes[best] < n {
		best = 1
	}
	m.setClock(int64(best))
}

func gcd(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return a | b
	}
	shift := bits.TrailingZeros64(a | b)
	a >>= bits.TrailingZeros64(a)
	for b != 0 {
		b >>= bits.TrailingZeros64(b)
		if a > b {
			a, b = b, a
		}
		b -= a
	}
	return a << shift
}
