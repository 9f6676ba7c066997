package bulk

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/scopeview/scopeview/internal/format"
)

// load has the parameters of a shape.
type load struct {
	perChunk   int64  // maximum number of scopes in a chunk, which leaves room for other records
	span       int64  // ticks of a chunk
	rate       int64  // ticks a second
	goroutines int64  // a multiple of the Ps
	cast       int64  // number of goroutines that take turns in a chunk; a divisor of a P's goroutines
	depth      int    // maximum nesting of scopes
	begins16   uint32 // begins among 65,536 events below that depth
	turns16    uint32 // switches to another goroutine among 65,536 events
}

const tsc = 2_445_000_000

var loads = map[Shape]load{
	Regular:   {perChunk: room - 2, span: (room - 2) * regularStep, rate: 1e9},
	Irregular: {perChunk: room - 2, span: 2_000_000, rate: tsc, goroutines: 8, cast: 2, depth: 8, begins16: 34000, turns16: 600},
	Rows:      {perChunk: room - 2, span: 2_000_000, rate: tsc, goroutines: 5000, cast: 10, depth: 6, begins16: 34000, turns16: 600},
	Deep:      {perChunk: room - 2, span: 2_000_000, rate: tsc, goroutines: 8, cast: 2, depth: 64, begins16: 44000, turns16: 200},
	Long:      {perChunk: room - 46, span: 2_000_000, rate: tsc, goroutines: 8, cast: 2, depth: 8, begins16: 34000, turns16: 600},
	Args:      {perChunk: room/2 - 2, span: 1_200_000, rate: tsc, goroutines: 8, cast: 2, depth: 8, begins16: 34000, turns16: 600},
	Ring:      {perChunk: room - 46, span: 2_000_000, rate: tsc, goroutines: 8, cast: 2, depth: 8, begins16: 34000, turns16: 600},
	Killed:    {perChunk: room - 2, span: 2_000_000, rate: tsc, goroutines: 8, cast: 2, depth: 8, begins16: 34000, turns16: 600},
	Cut:       {perChunk: room - 2, span: 2_000_000, rate: tsc, goroutines: 8, cast: 2, depth: 8, begins16: 34000, turns16: 600},
}

const regularStep = 300 // ns from begin to begin, similar to real scopes

// unit is the mean of logNormal.
const unit = 1024

// logNormal has samples of that distribution, from which draws select: most times are below
// the mean, and some are ten times as long.
var logNormal = func() (t [4096]uint32) {
	r := rand.New(rand.NewPCG(1, 2))
	var sum float64
	var x [4096]float64
	for i := range x {
		x[i] = math.Exp(0.9 * r.NormFloat64())
		sum += x[i]
	}
	for i := range t {
		t[i] = uint32(x[i] * unit * float64(len(x)) / sum)
	}
	return t
}()

// frequent has the names from which draws select: the n-th with a frequency of 1/n.
var frequent = func() (t [256]uint16) {
	at := 0.0
	for n := range 12 {
		share := 256 / 3.1032 / float64(n+1)
		for i := int(at); i < min(int(at+share)+1, 256); i++ {
			t[i] = uint16(format.FirstName + n)
		}
		at += share
	}
	return t
}()

// goroutine returns the id of goroutine n.
func goroutine(n int) uint64 { return uint64(20 + n) }

// thread returns the id of the thread of a P.
func thread(owner int64) uint32 { return uint32(4712 + owner) }

// maker builds chunks of records.
type maker struct {
	*plan
	random uint64
	drafts [room]draft
	begun  [16][]int // by member of the cast: its open drafts
}

// draft is a scope with times in the scale of logNormal.
type draft struct {
	start, stop uint32
	who         uint8
	switched    bool // the goroutine was off its thread in between
	open        bool
}

// draw returns 64 random bits by splitmix64, with a state per chunk.
func (m *maker) draw() uint64 {
	m.random += 0x9e3779b97f4a7c15
	z := m.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// chunk builds chunk i in b, which must be zero.
func (m *maker) chunk(b []byte, i int64) {
	owner, since := i%owners, m.since(i)
	h := format.ChunkHeader{
		Kind: format.ChunkRecords, Path: format.PathAssembly, Index: uint32(m.place(i)), Owner: uint32(owner),
		Since: since, Gen: 1, Flags: format.FlagFinal,
	}
	if m.Shape == Ring {
		h.Number = uint32(m.number + i)
	}
	out := format.AppendRecord(b[:format.ChunkHeaderSize], &format.Record{
		Start: since, Stop: int64(thread(owner)), Head: format.Head(0, format.KindAnchor, false, 0),
		CPU: uint64(float64(since-m.started) / float64(m.rate) * 0.9e9),
	})
	for _, a := range m.begins(i) {
		out = format.AppendRecord(out, &a)
	}
	if m.Shape == Regular {
		out = m.regular(out, i)
	} else {
		out = m.irregular(out, i)
	}
	for _, e := range m.ends(i) {
		h.Flags |= format.FlagEnds
		r := e.begin
		out = format.AppendRecord(out, &format.Record{
			Start: since + m.span - 1, Stop: r.Start, Head: format.Head(r.Goid(), format.KindEnd, true, r.Name()),
			CPU: uint64(since+m.span-1-r.Start)/2<<2 | uint64(format.AtMost),
		})
		out, _ = format.AppendExt(out, []format.Slot{ // three slots always fit
			{Type: format.SlotLoc, Value: uint64(e.loc)}, {Type: format.SlotGoid, Value: r.Goid()}, {Type: format.SlotBegin, Value: r.Head},
		})
	}
	h.Sealed = int64(len(out))
	if m.unfinished(i) {
		h.Sealed, h.Flags = 0, h.Flags&^format.FlagFinal
	}
	format.PutChunkHeader(b, &h)
}

// unfinished reports whether chunk i was being written when the program was killed.
func (p *plan) unfinished(i int64) bool { return p.killed() && i == p.lastOf(i) }

// regular appends the scopes of a chunk of the shape Regular.
func (m *maker) regular(out []byte, i int64) []byte {
	owner := i % owners
	goid, start := goroutine(int(owner)), m.since(i)+owner
	if i < owners {
		out = format.AppendRecord(out, &format.Record{Start: start, Head: format.Head(goid, format.KindTrack, false, uint16(nameWorker+owner))})
	}
	n := int64(m.share(i))
	for k := range n {
		r := format.Record{Start: start + k*regularStep, Head: format.Head(goid, format.KindTask, false, uint16(format.FirstName+k&1)), CPU: 250<<2 | uint64(format.Exact)}
		r.Stop = r.Start + regularStep - 10
		if k&1 == 0 && k+1 < n {
			r.Stop += regularStep
			r.CPU = 400<<2 | uint64(format.AtMost)
		}
		out = format.AppendRecord(out, &r)
	}
	return out
}

// irregular appends the scopes of a chunk of the other shapes.
func (m *maker) irregular(out []byte, i int64) []byte {
	m.random = m.Seed ^ uint64(i+1)*0xd1342543de82ef95
	n := m.share(i)
	total := m.draft(n, !m.unfinished(i))
	// The window of the chunk is filled, except for some of its begin and end.
	early := int64(m.draw() % uint64(m.span/16))
	base := m.since(i) + 64 + early
	scale := uint64(m.span*15/16-early) << 24 / uint64(max(total, 1))
	le := binary.LittleEndian
	at := len(out)
	size := format.RecordSize
	if m.Shape == Args {
		size *= 2
	}
	out = out[:at+n*size]
	owner, turn := i%owners, i/owners
	var goids [16]uint64
	for who := range m.cast {
		// In each window a P has goroutines with the same remainder.
		goids[who] = goroutine(int((turn*m.cast+who)%(m.goroutines/owners)*owners + (owner+turn)%owners))
	}
	for k := range m.drafts[:n] {
		d, bits := &m.drafts[k], m.draw()
		start := base + int64(uint64(d.start)*scale>>24)
		stop := base + int64(uint64(d.stop)*scale>>24)
		wall := stop - start
		cpu := wall - min(wall, int64(logNormal[bits&4095]/32))
		quality := format.Exact
		if wall >= tsc/1e9*format.ExactBelow {
			quality = format.Likely
		}
		if d.switched {
			cpu, quality = cpu-cpu>>4, format.AtMost
		}
		word3 := uint64(cpu)<<2 | uint64(quality)
		if d.open {
			stop, word3 = format.OpenStop(thread(owner), uint32(k), uint8(bits)), 0
		}
		r := out[at : at+format.RecordSize]
		le.PutUint64(r, uint64(start))
		le.PutUint64(r[8:], uint64(stop))
		le.PutUint64(r[16:], format.Head(goids[d.who], format.KindTask, m.Shape == Args, frequent[bits>>12&255]))
		le.PutUint64(r[24:], word3)
		if m.Shape == Args {
			x := out[at+format.RecordSize : at+size]
			le.PutUint64(x, format.ExtHeader(1, uint64(format.SlotInt)|uint64(format.SlotInt)<<4))
			le.PutUint64(x[8:], uint64(i*m.perChunk+int64(k)))
			le.PutUint64(x[16:], uint64(logNormal[bits>>20&4095]))
		}
		at += size
	}
	return out
}

// draft simulates the goroutines of a chunk until they have begun n scopes, and ends these
// if end is true. It returns the simulated time.
func (m *maker) draft(n int, end bool) (total int64) {
	for who := range m.begun {
		m.begun[who] = m.begun[who][:0]
	}
	t, who := uint32(0), 0
	for k := 0; k < n; {
		bits := m.draw()
		t += logNormal[bits&4095]
		if uint32(bits>>12&0xffff) < m.turns16 {
			for _, open := range m.begun[who] {
				m.drafts[open].switched = true
			}
			who = int(bits >> 30 % uint64(m.cast))
		}
		if d := len(m.begun[who]); d > 0 && (d == m.depth || uint32(bits>>44&0xffff) >= m.begins16) {
			m.ended(who, t)
			continue
		}
		m.drafts[k] = draft{start: t, who: uint8(who), open: true}
		m.begun[who] = append(m.begun[who], k)
		k++
	}
	for who := range m.begun {
		for end && len(m.begun[who]) > 0 {
			t += logNormal[m.draw()&4095]
			m.ended(who, t)
		}
	}
	return int64(t)
}

// ended ends the innermost scope of a member of the cast.
func (m *maker) ended(who int, t uint32) {
	stack := m.begun[who]
	d := &m.drafts[stack[len(stack)-1]]
	d.stop, d.open = t, false
	m.begun[who] = stack[:len(stack)-1]
}
