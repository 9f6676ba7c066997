//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Sizes of what is reserved once per process; memory is used only for what is touched.
const (
	maxPs     = 1 << 16 // MAXPS in the assembly
	maxChunks = 1 << 24 // 1 TiB of chunks
	maxCells  = 1 << 15 // more than the runtime's limit of 10,000 threads
)

// Fast is the process's fast path. There is only one, because a P has one entry.
type Fast struct {
	Witness   uint32 // format.Witness bits
	NoSwitch  string // why thread CPU time is unknown; "" if known
	states    []uint32
	cells     []cell
	desc      uintptr // the rseq descriptor whose code never runs
	mu        sync.Mutex
	byM       sync.Map    // m to *cell
	used      int         // cells in use
	left      atomic.Bool // a cell holds the name left by a dead thread
	kind      uint64
	area      rseqArea // position of the threads' rseq areas of libc, if it has them
	filtered  bool     // a seccomp filter was active when the witness was tried
	refused   string   // why new threads get no witness
	bracket   int64
	mult      uint64
	cpu       bool
	counting  sync.Mutex
	reclaimed int64        // units in chunks that were reclaimed from Ps
	anchoring atomic.Int64 // ticks
	rows      struct {
		sync.Mutex
		spare map[int][]Tally // by P: rows ever allocated
		used  [][]Tally       // rows in use in this recording
	}
}

// Witness bits, as in internal/format.
const (
	witnessGoidBit   = 1 << 0
	witnessYieldBit  = 1 << 1
	witnessSwitchBit = 1 << 2
)

var fast struct {
	sync.Mutex
	f    Fast // the parts that exist so far
	done bool
	err  error // it is not available
}

// NewFast sets up the fast path at its first call, which takes 2 to 10 ms, and later
// returns the same one or the same error. If the system refused memory or a descriptor,
// the next call retries.
func NewFast() (*Fast, error) {
	fast.Lock()
	defer fast.Unlock()
	if !fast.done {
		if err := fast.f.make(); err != nil {
			return nil, err
		}
		fast.done = true
	}
	return &fast.f, fast.err
}

// make sets up the fast path. It returns errors that a later try may not have; the others
// are stored in fast.err.
func (f *Fast) make() error {
	if failGoid || failYield {
		fast.err = fmt.Errorf("switched off by a build tag")
		return nil
	}
	l, missing, err := discover()
	if missing != "" {
		fast.err = fmt.Errorf("%s", missing)
		return nil
	}
	f.Witness = witnessGoidBit | witnessYieldBit
	if err == nil && f.states == nil {
		f.states, err = reserve[uint32](maxChunks)
	}
	if err == nil && f.cells == nil {
		f.cells, err = reserve[cell](maxCells)
	}
	if err == nil {
		err = f.descriptor()
	}
	if err != nil {
		return err
	}
	Live.lay.coro = l.coroutine
	var i any = 0
	Live.lay.int = (*eface)(unsafe.Pointer(&i)).typ
	Live.lay.states = uintptr(unsafe.Pointer(&f.states[0]))
	return nil
}

// Setup prepares the fast path for a recording whose clock ticks at rate per second. It
// must not be called while one is running.
func (f *Fast) Setup(base uintptr, size uint64, rate int64, cpu CPU) {
	Live.lay.base, Live.lay.size = base, min(size, maxChunks<<16)
	Live.lay.exact = rate / 1e6 * exactBelow / 1e3
	Live.lay.trigger = math.MaxInt64
	f.mult = uint64(float64(rate) / 1e9 * (1 << 32))
	f.bracket = rate / 1e6 * 3
	f.chooseWitness(cpu)
	f.Retire()
	for i := range f.cells[:f.used] {
		f.cells[i].mask = 0 // its K is in ticks of the last recording's rate
		f.cells[i].named, f.cells[i].left = 0, 0
	}
	clear(entries[:f.ps()])
	f.clearTallies()
	f.reclaimed = 0
	f.anchoring.Store(0)
}

// Losses sets the rows in which Lose counts: row i, of 128 bytes, belongs to the P with
// the number i, as far as rows reaches, and its word k-1 to the reason k. Call it between
// Setup and Run.
func (f *Fast) Losses(rows []uint64) {
	Live.lay.losses, Live.lay.own = uintptr(unsafe.Pointer(&rows[0])), uint64(8*len(rows))
}

// Dry returns the word in which the pool stores why no goroutine gets a chunk, for the
// assembly.
func (f *Fast) Dry() *atomic.Uint32 { return &Live.lay.dry }

// Trigger leaves the ends of scopes that took at least ticks to Go. Call it between Setup
// and Run.
func (f *Fast) Trigger(ticks int64) { Live.lay.trigger = ticks }

const exactBelow = 20_000 // ns; format.ExactBelow

// SetNames sets the table of names for the assembly. The caller keeps it alive while it is
// set, and does not set a smaller one while a recording runs: the assembly may combine the
// old mask with the new table.
func (f *Fast) SetNames(table []NameEntry) {
	mask := uint64(len(table)-1) * uint64(unsafe.Sizeof(table[0]))
	Live.lay.mask = min(Live.lay.mask, mask)
	atomic.StoreUintptr(&Live.lay.names, uintptr(unsafe.Pointer(&table[0])))
	atomic.StoreUint64(&Live.lay.mask, mask)
}

// Run makes gen the generation that the assembly accepts; 0 means none.
func (f *Fast) Run(gen int64) { atomic.StoreInt64(&Live.lay.gen, gen) }

// States returns the table of chunk states, one word per chunk: the state in the low byte,
// the owner's P above. The assembly sets 1 (open) and 2 (sealed), the flusher greater
// ones.
func (f *Fast) States() []uint32 { return f.states }

// Counts are the assembly's counts since Setup.
type Counts struct {
	Records int64 // begun, including instants
	Clamped int64 // CPU times clamped to [0, wall]
	Foreign int64 // ends of scopes that another goroutine began

	// Anchoring is the number of ticks spent reading threads' CPU clocks, which takes a
	// system call. Each reading counts at most the maximum for reading the clock;
	// otherwise time off the CPU would be included.
	Anchoring int64
}

// Count sums up the counts of the Ps. Records are the units of 32 bytes that were written,
// less those that are not records of their own. The result is exact if no goroutine is
// recording.
func (f *Fast) Count() (c Counts) {
	f.counting.Lock()
	defer f.counting.Unlock()
	c.Records, c.Anchoring = f.reclaimed, f.anchoring.Load()
	gen := atomic.LoadInt64(&Live.lay.gen)
	for i := range entries[:f.ps()] {
		e := &entries[i]
		if g := atomic.LoadInt64(&e.gen); g == 0 || gen != 0 && g != gen {
			continue
		}
		open := int64(atomic.LoadUintptr(&e.cur)-atomic.LoadUintptr(&e.lo)-64) / 32
		if atomic.LoadUintptr(&e.end) == taken {
			open = 0
		}
		c.Records += atomic.LoadInt64(&e.units) + open - atomic.LoadInt64(&e.extra)
		c.Clamped += atomic.LoadInt64(&e.clamped)
		c.Foreign += atomic.LoadInt64(&e.foreign)
	}
	return c
}

// Expire makes the owner of the chunk at addr take another one at its next record: the
// entry's end moves to its chunk's beginning. It compares the chunk's address, so a chunk
// that was taken in between stays.
func (f *Fast) Expire(addr, size uintptr) {
	for i := range entries[:f.ps()] {
		if atomic.CompareAndSwapUintptr(&entries[i].end, addr+size, addr) {
			return
		}
	}
}

// taken is the end of an entry whose chunk was taken from it.
const taken = 1 // TAKEN in the assembly

// Reclaim takes the chunks at addrs, of size bytes, away from their owners: an idle P's
// open chunk may block others. It calls seal for each with the bytes used; seal reports
// whether the chunk was still open. The P takes another one at its next record, and its
// ends check the chunk's state.
//
// It stops the world twice. After the first stop no goroutine is about to append to these
// chunks (Expire), so the bytes used are known; a P that takes another chunk meanwhile
// seals the old one itself, and changes the entry's end, which Reclaim detects. After the
// second stop no P regards the chunk as its own any more, and any install in progress has
// finished.
func (f *Fast) Reclaim(addrs []uintptr, size uintptr, gen int64, seal func(addr, used uintptr) bool) {
	type owned struct {
		e         *entry
		addr, cur uintptr
	}
	f.counting.Lock()
	defer f.counting.Unlock()
	var all []owned
	for i := range entries[:f.ps()] {
		e := &entries[i]
		for _, addr := range addrs {
			if atomic.LoadInt64(&e.gen) == gen && atomic.LoadUintptr(&e.lo) == addr {
				atomic.CompareAndSwapUintptr(&e.end, addr+size, addr)
				all = append(all, owned{e: e, addr: addr})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	stopWorld()
	for i := range all {
		o := &all[i]
		o.cur = atomic.LoadUintptr(&o.e.cur)
		if atomic.CompareAndSwapUintptr(&o.e.end, o.addr, taken) {
			atomic.CompareAndSwapUintptr(&o.e.lo, o.addr, ^uintptr(0))
		} else {
			o.cur = 0 // the P has sealed it
		}
	}
	stopWorld()
	for _, o := range all {
		if o.cur != 0 && seal(o.addr, o.cur-o.addr) {
			f.reclaimed += int64(o.cur-o.addr-64) / 32
		}
	}
}

// stopWorld returns after all of the program's goroutines have been outside of the
// assembly at one moment.
func stopWorld() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}

// Leave calls fn with the chunk that each P still owns and the bytes used in it, after
// Run(0) and a stop of the world.
func (f *Fast) Leave(gen int64, fn func(addr, used uintptr)) {
	f.counting.Lock() // a Reclaim may be running
	defer f.counting.Unlock()
	known := f.ps()
	for i := range entries {
		e := &entries[i]
		if e.gen == gen && e.lo != 0 && e.end != taken {
			fn(e.lo, e.cur-e.lo)
		}
		if i >= known && e.gen == 0 {
			return
		}
	}
}

// ps returns how many entries may be in use: one more than the largest P ever seen, in
// steps. A P may have a chunk before Install has noted it, so all Ps that can exist now
// count.
func (f *Fast) ps() int { return min(max(int(seenPs.Load()), runtime.GOMAXPROCS(0)), maxPs) }

var seenPs atomic.Int64

// Install gives the chunk at addr to the caller's P. It returns the chunk that the P had,
// if any (Addr 0: none), and whether the recording is still generation gen.
func (f *Fast) Install(header *[8]uint64, addr, size uintptr, gen int64) (Left, bool) {
	var l Left
	install(header, addr, size, gen, &l)
	seeP(l.P)
	return l, l.P >= 0
}

// seeP records that there is a P with that number.
func seeP(p int64) {
	for n := seenPs.Load(); p >= n; n = seenPs.Load() {
		seenPs.CompareAndSwap(n, p+1)
	}
}

// Anchor connects the entry of the caller's P to its thread. It returns false if the P
// needs a chunk first.
func (f *Fast) Anchor() bool {
	began := tsc()
	defer func() { f.anchoring.Add(min(max(tsc()-began, 0), f.bracket)) }()
	for range 20 {
		var p place
		where(&p)
		if p.m == 0 {
			return false
		}
		c := f.cellOf(&p)
		if c == nil {
			continue
		}
		a := anchorArgs{m: p.m, tid: p.tid, cell: uintptr(unsafe.Pointer(c)), desc: f.desc, bracket: f.bracket, mult: f.mult}
		if f.cpu {
			a.kind = c.kind
		}
		switch anchor(&a) {
		case 0:
			return true
		case needChunk:
			return false
		}
	}
	// Moved or disturbed twenty times in a row: an anchor without a CPU clock only needs
	// to stay on one thread while it is written.
	for range 1000 {
		var p place
		where(&p)
		c := f.cellOf(&p)
		if c == nil {
			continue
		}
		a := anchorArgs{m: p.m, tid: p.tid, cell: uintptr(unsafe.Pointer(c))}
		if r := anchor(&a); r == 0 {
			return true
		} else if r == needChunk {
			return false
		}
	}
	return false
}

// NeedAnchor reports whether an anchor was missing; if not, a chunk was.
func NeedAnchor(reason int64) bool { return reason == needAnchor }
