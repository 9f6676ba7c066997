package count

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// Packages compiled for it report loads and stores in bursts: the runtime records them in a
// buffer of the processor, and they are examined afterwards, in the order of their times.
// Before each burst they are only counted for a while, which costs next to nothing: the
// recorded accesses represent the others, in proportion to the accesses since the last
// burst.
const (
	tallyFor    = time.Millisecond
	noteFor     = time.Millisecond
	bufferBytes = 8 << 20 // of all processors together
	mostNoted   = 1 << 14 // of one processor in a burst
	mostProcs   = 256
)

// Modes of the runtime.
const (
	passing = iota
	tallying
	noting
)

// A recorded access has these words: the time, in ticks of the processor; the address; the
// place of the code; the goroutine; bytes and whether it is a store, in one; and the caller
// of the function with the place.
const (
	accessWords = 5
	headWords   = 8 // of a buffer: the numbers of recorded and counted accesses
)

// control has the runtime's words: see package std.
var control *[8]uintptr

// Accesses sets the words that control the runtime's reports of loads and stores.
func Accesses(words *[8]uintptr) { control = words }

// Objects sets the function that returns the heap object of an address.
func Objects(find func(addr uintptr) (base, size uintptr)) { object = find }

var object = func(uintptr) (base, size uintptr) { return 0, 0 }

// traffic has the loads and stores.
type traffic struct {
	buffers []uintptr
	stride  int // words of a buffer
	room    int // capacity of a buffer in accesses
	procs   int
	heads   []head // of the buffers with accesses

	burst    uint32
	replayed bool    // this burst was examined before
	weight   float64 // number of accesses that one of this burst represents
	seen     []uint64
	recent   [mostProcs]recent
	lines    lines
	trails   trails
	sections sections
	inline   map[uintptr]bool // whether a place of the code is in a function that was inlined

	noted, all atomic.Int64 // accesses recorded, and in total
}

// head is the read position in a buffer.
type head struct {
	proc    uintptr
	at, end int
}

// recent are the last loads of a processor.
type recent struct {
	addr  [4]uintptr
	trail [4]*trail
	next  int
}

func (m *traffic) init() {
	m.procs = min(max(runtime.GOMAXPROCS(0), runtime.NumCPU()), mostProcs)
	m.room = min(mostNoted, bufferBytes/8/accessWords/m.procs)
	m.stride = headWords + m.room*accessWords
	m.buffers = sys.OffHeap[uintptr](m, m.stride*m.procs)
	m.seen = sys.OffHeap[uint64](m, seenLines)
	m.heads = make([]head, 0, m.procs)
	m.inline = map[uintptr]bool{}
	m.sections.seen = map[uintptr]*mutexSeen{}
	m.lines.init(m)
	m.trails.init(m)
	control[5] = sys.Address(&control[0])
	control[1] = sys.Address(&m.buffers[0])
	control[2], control[3], control[4] = uintptr(m.stride*8), uintptr(m.procs), uintptr(m.room)
}

// do sets the runtime's mode.
func (m *traffic) do(what uintptr) { atomic.StoreUintptr(&control[0], what) }

// counted returns the number of accesses counted since the last call.
func (m *traffic) counted() (n int64) {
	for p := range m.procs {
		n += int64(atomic.SwapUintptr(&m.buffers[p*m.stride+1], 0))
	}
	return n
}

// lookAtMemory examines loads and stores until the writer ends.
func (w *writer) lookAtMemory(m *traffic) {
	defer w.done.Done()
	var rate rate
	last, tally := clock(), tallyFor
	for going := w.pause(tallyFor); going; {
		m.counted()
		began := clock()
		m.do(tallying)
		going = w.pause(tally)
		rate.add(float64(m.counted()), clock()-began)
		m.do(noting)
		noted := time.Now()
		going = going && w.pause(noteFor)
		m.do(passing)
		took := min(time.Since(noted), noteFor)
		looks, now := time.Now(), clock()
		m.look(rate.of(now - last))
		last = clock() // the time of examining is not the program's
		took += time.Since(looks)
		if going && w.params.Share < 1 {
			p := m.pause(float64(took) * (1 - w.params.Share) / w.params.Share)
			tally = max(tallyFor, p/4)
			going = w.pause(p - p/4)
		}
	}
	m.again(rate.of(clock() - last))
}

// longPause is the longest pause.
const longPause = time.Second

// pause returns about ns, randomized: a constant pause could have the period of the
// program's own loop, and bursts would see only one part of it.
func (m *traffic) pause(ns float64) time.Duration {
	chance := float64(hashed(uintptr(m.burst))>>40) / (1 << 24)
	return min(time.Duration(ns*(0.5+chance)), longPause)
}

// rate is the number of accesses per ns of running time. The system's CPU time of running
// threads is only accurate to some ms, so rate is a decaying average over several intervals.
type rate struct{ accesses, ns float64 }

// forgotten is the share by which each interval reduces the earlier counts.
const forgotten = 0.1

func (r *rate) add(accesses, ns float64) {
	r.accesses += accesses - forgotten*r.accesses
	r.ns += ns - forgotten*r.ns
}

// tallyCost is the cost of counting an access, in ns: without it, the program makes more
// accesses.
const tallyCost = 3

// of returns the number of accesses in ns.
func (r *rate) of(ns float64) float64 {
	if r.accesses == 0 {
		return 0
	}
	each := max(r.ns, float64(tallyFor)) / r.accesses // the system's clock may not have ticked
	return ns / max(each-tallyCost, each/2)
}

// look examines a burst, whose accesses represent all.
func (m *traffic) look(all float64) {
	m.heads = m.heads[:0]
	n := 0
	for p := range m.procs {
		if k := min(int(atomic.SwapUintptr(&m.buffers[p*m.stride], 0)), m.room); k > 0 {
			m.heads = append(m.heads, head{uintptr(p), 0, k})
			n += k
		}
	}
	m.replay(n, all)
}

// again examines the last burst again, to represent the accesses since then, too.
func (m *traffic) again(all float64) {
	m.replayed = true
	n := 0
	for i := range m.heads {
		m.heads[i].at = 0
		n += m.heads[i].end
	}
	m.replay(n, all)
}

// replay handles the accesses of a burst, in the order of their times.
func (m *traffic) replay(n int, all float64) {
	if n == 0 {
		return
	}
	m.burst++
	if m.weight = all / float64(n); !m.replayed {
		m.weight = max(m.weight, 1)
	}
	m.noted.Add(int64(n))
	m.all.Add(int64(m.weight * float64(n)))
	for range n {
		h := m.first()
		a := m.buffers[int(h.proc)*m.stride+headWords+h.at*accessWords:][:accessWords]
		h.at++
		if a[1]-control[5] < 64 {
			continue // an access to the runtime's words, by code that the compiler inserted
		}
		pc, size := a[2], a[3]>>1&0x7fff
		if size >= lockSize && !m.inlined(pc) {
			pc = a[4]
		}
		x := access{addr: a[1], pc: pc, goroutine: a[3] >> 16, size: size, store: a[3]&1 != 0}
		if x.local = size&localSize != 0 && size < hiddenSize; x.local {
			x.size = size &^ localSize
		}
		if size == lockSize || len(m.sections.open) > 0 {
			m.sections.take(&x)
		}
		if size != lockSize && size != hiddenSize {
			m.take(h.proc, &x)
		}
	}
	m.sections.fold(m)
	m.lines.fold(m)
	m.trails.fold(m)
}

// inlined reports whether the function at a place of the code was inlined into another one.
func (m *traffic) inlined(pc uintptr) bool {
	is, ok := m.inline[pc]
	if !ok {
		frames := runtime.CallersFrames([]uintptr{pc})
		_, is = frames.Next()
		m.inline[pc] = is
	}
	return is
}

// first returns the buffer with the earliest next access.
func (m *traffic) first() *head {
	var best *head
	var least uintptr
	for i := range m.heads {
		h := &m.heads[i]
		if h.at == h.end {
			continue
		}
		if t := m.buffers[int(h.proc)*m.stride+headWords+h.at*accessWords]; best == nil || int(t-least) < 0 {
			best, least = h, t
		}
	}
	return best
}

// access is a load or store.
type access struct {
	addr, pc, goroutine, size uintptr
	store                     bool
	local                     bool // on the goroutine's stack
}

// Special values of the size: an atomic store; the lock of a mutex, or its unlock, which is
// a store; and stores that count only for sections.
const (
	atomicSize = 0x7fff
	lockSize   = 0x7ffe
	hiddenSize = 0x7ffd
	localSize  = 0x4000 // added for accesses to the goroutine's stack
)

// Sizes of cache lines and pages.
const (
	lineShift = 6
	lineBytes = 1 << lineShift
	pageShift = 12
)

// seenLines is the number of lines for which a burst's use is stored.
const seenLines = 1 << 16

// manyProcs replaces the processor of a line that several have used.
const manyProcs = 0xff

// take handles an access: it determines whether its line was used before in this burst, and
// by another processor.
func (m *traffic) take(p uintptr, a *access) {
	at := a.addr >> lineShift
	s := &m.seen[hashed(at)>>48]
	key := uint64(m.burst&0xffff)<<48 | uint64(at)&(1<<40-1)<<8
	first := *s&^0xff != key
	switch {
	case first:
		*s = key | uint64(p&0x7f)
	case *s&0xff == uint64(p&0x7f):
	default:
		*s = key | manyProcs
		m.lines.take(m, p, a)
	}
	m.trails.take(m, p, a, first)
}
