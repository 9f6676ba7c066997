package count

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// Loads and stores of packages that are compiled for it are noted in bursts: the runtime writes them into
// a buffer of the processor, and here they are looked at afterwards, in the order of their times. Before
// each burst they are counted for a while, which takes next to nothing: what was noted stands for the
// rest, by how many there are in the time since the last burst.
const (
	tallyFor    = time.Millisecond
	noteFor     = time.Millisecond
	bufferBytes = 8 << 20 // of all processors together
	mostNoted   = 1 << 14 // of one processor in a burst
	mostProcs   = 256
)

// What the runtime does with an access.
const (
	passing = iota
	tallying
	noting
)

// An access is noted in words: a time, in ticks of the processor, an address, the place of the code; the
// goroutine, bytes and whether it is a store, in one; and where the function that the place is in was called.
const (
	accessWords = 5
	headWords   = 8 // of a buffer: how many were noted, and counted
)

// control is the runtime's word for each: see package std.
var control *[8]uintptr

// Accesses is given what tells the runtime what to do with loads and stores.
func Accesses(words *[8]uintptr) { control = words }

// Objects is given what finds the object in the heap that an address lies in.
func Objects(find func(addr uintptr) (base, size uintptr)) { object = find }

var object = func(uintptr) (base, size uintptr) { return 0, 0 }

// traffic is what is known of loads and stores.
type traffic struct {
	buffers []uintptr
	stride  int // words of a buffer
	room    int // accesses that it can have
	procs   int
	heads   []head // of the buffers that have some

	burst    uint32
	replayed bool    // this burst was looked at before
	weight   float64 // for how many an access of this burst stands
	seen     []uint64
	recent   [mostProcs]recent
	lines    lines
	trails   trails
	sections sections
	inline   map[uintptr]bool // whether a place of the code is within a function that was inlined

	noted, all atomic.Int64 // accesses that were noted, and that there were
}

// head is how far a buffer has been looked at.
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

// do has the runtime do something else with accesses.
func (m *traffic) do(what uintptr) { atomic.StoreUintptr(&control[0], what) }

// counted is how many accesses were counted, since the last time.
func (m *traffic) counted() (n int64) {
	for p := range m.procs {
		n += int64(atomic.SwapUintptr(&m.buffers[p*m.stride+1], 0))
	}
	return n
}

// lookAtMemory looks at loads and stores until the writer ends.
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
		last = clock() // what looking has taken is not the program's
		took += time.Since(looks)
		if going && w.params.Share < 1 {
			p := m.pause(float64(took) * (1 - w.params.Share) / w.params.Share)
			tally = max(tallyFor, p/4)
			going = w.pause(p - p/4)
		}
	}
	m.again(rate.of(clock() - last))
}

// longPause is how long a pause is at most.
const longPause = time.Second

// pause is a pause of about so many ns: never twice the same, or it would be as long as what the program does
// again and again, and bursts would see one part of it.
func (m *traffic) pause(ns float64) time.Duration {
	chance := float64(hashed(uintptr(m.burst))>>40) / (1 << 24)
	return min(time.Duration(ns*(0.5+chance)), longPause)
}

// rate is how many accesses there are in a ns of running. The system knows for how long threads ran that run
// just now to some ms only, so that it is one of several whiles together, of which the last count most.
type rate struct{ accesses, ns float64 }

// forgotten is the share of what was counted that each while takes away.
const forgotten = 0.1

func (r *rate) add(accesses, ns float64) {
	r.accesses += accesses - forgotten*r.accesses
	r.ns += ns - forgotten*r.ns
}

// tallyCost is what it takes to count an access, in ns: without, there are more.
const tallyCost = 3

// of is how many accesses there are in a while.
func (r *rate) of(ns float64) float64 {
	if r.accesses == 0 {
		return 0
	}
	each := max(r.ns, float64(tallyFor)) / r.accesses // there may have been no tick of the system's clock
	return ns / max(each-tallyCost, each/2)
}

// look looks at a burst, whose accesses stand for so many.
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

// again looks at the last burst again, whose accesses stand for those behind it, too.
func (m *traffic) again(all float64) {
	m.replayed = true
	n := 0
	for i := range m.heads {
		m.heads[i].at = 0
		n += m.heads[i].end
	}
	m.replay(n, all)
}

// replay takes the accesses of a burst, in the order of their times.
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
			continue // a look at the runtime's words, from what the compiler has put into the program
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

// inlined reports whether the function at a place of the code was inlined into another.
func (m *traffic) inlined(pc uintptr) bool {
	is, ok := m.inline[pc]
	if !ok {
		frames := runtime.CallersFrames([]uintptr{pc})
		_, is = frames.Next()
		m.inline[pc] = is
	}
	return is
}

// first is the buffer whose next access came first.
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

// access is one load or store.
type access struct {
	addr, pc, goroutine, size uintptr
	store                     bool
	local                     bool // on the goroutine's own stack
}

// What is in the place of the size: of an atomic store; where a mutex is locked, or unlocked, which is told as a
// store; and of stores of which only sections are told.
const (
	atomicSize = 0x7fff
	lockSize   = 0x7ffe
	hiddenSize = 0x7ffd
	localSize  = 0x4000 // is added to what is on the goroutine's own stack
)

// lineBytes and pageBytes are what a processor has memory in.
const (
	lineShift = 6
	lineBytes = 1 << lineShift
	pageShift = 12
)

// seenLines is of how many lines is known that a burst has used them.
const seenLines = 1 << 16

// manyProcs is in the place of the processor that uses a line, of one that several use.
const manyProcs = 0xff

// take looks at an access: whether its line was used in this burst, and by another processor.
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
