//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"sync/atomic"
	"unsafe"
)

// layout is what the assembly needs to know of the running recording. The
// offsets in fast_amd64.s and fast_arm64.s follow this struct.
type layout struct {
	gen    int64 // of the recording; 0: none
	base   uintptr
	exact  int64 // ticks below which equal witnesses prove
	states uintptr
	size   uint64 // bytes that the states speak of
	coro   uint64 // the waitreason of a goroutine that switched as a coroutine
	names  uintptr
	mask   uint64  // of the table of names, × the size of an entry
	int    uintptr // the type word of an any that holds an int

	// Ends of scopes that took so many ticks are Go's, because somebody wants to
	// know of them.
	trigger int64

	losses uintptr // the rows where the Ps count what is lost
	own    uint64  // bytes of them that are Ps'

	// Why nobody gets a chunk, 0 where that has to be asked. A begin that finds no room
	// is counted as lost for it without leaving the assembly.
	dry atomic.Uint32
}

// as LAY says
var _ [0]struct{} = [unsafe.Offsetof(Live.lay) - 65552]struct{}{}

// entries is what the Ps own, by their numbers. Pages cost memory when they are
// touched, and a P with a larger number than there are entries loses records.
var entries [maxPs]entry

// near has for each M, by its address, the entry of the P that it ran on last: a
// shorter way to it than by the P's number. Two Ms may share a slot: whose entry
// is found is checked. Slots start at an entry that is nobody's.
var (
	near   [1024]uintptr // NEAR in the assembly
	nobody entry
)

func init() {
	for i := range near {
		near[i] = uintptr(unsafe.Pointer(&nobody))
	}
}

// entry is what a P owns. Two Ps share no pair of cache lines, 128 bytes, wherever in one
// the linker has entries begin: it knows of 32 bytes only. Else each scope would take the
// line from the other P, and cost twice as much, in this build and not in the next.
type entry struct {
	cur, end, lo uintptr // in the P's chunk
	m            uintptr
	tid          uint64
	cell         uintptr
	gen          int64
	extra        int64 // units written that are not records begun
	clamped      int64
	units        int64   // written in the chunks it had before
	witness      uintptr // the cell's, as of the last anchor here
	expect       uint64
	foreign      int64   // ends of scopes that another goroutine began
	p            uintptr // the P whose entry it is
	tallies      uintptr // what it counts of functions; 0: nothing yet
	_            [136]byte
}

// What the assembly takes for its size, and what is to be left between two.
var _ [256]struct{} = [unsafe.Sizeof(entry{})]struct{}{}

const _ = uint(unsafe.Sizeof(entry{}) - unsafe.Offsetof(entry{}.tallies) - unsafe.Sizeof(entry{}.tallies) - 127)

// cell is what a thread owns. Its first 32 bytes are a struct rseq, which the
// kernel writes; they are aligned as rseq(2) asks.
type cell struct {
	rseq    [4]uint64
	k       int64  // CPU ticks - TSC, as of the last anchor
	tidWord uint64 // the thread in the form of an open record's word 1
	mask    uint64 // 0 where the CPU time is unknown
	witness uintptr
	expect  uint64 // what the word at witness is while the thread stays on the CPU
	os      uint64 // thread id for which it was registered
	kind    uint64 // witnessNone, witnessRseq or witnessPerf
	m       uintptr
	page    uintptr // the word that the witness of kind watches
	tried   uint64  // the kind that was tried for this thread
	named   uint64  // the goroutine that named its row last on this thread
	left    uint64  // that of a thread that is gone
}

const (
	witnessNone = 0
	witnessRseq = 1
	witnessPerf = 2
)

type anchorArgs struct {
	m       uintptr
	tid     uint64
	cell    uintptr
	kind    uint64
	desc    uintptr
	bracket int64  // ticks that the clock may take
	mult    uint64 // ticks per ns, 32.32
}

// place is where a goroutine was a moment ago.
type place struct {
	m   uintptr
	tid uint64
	p   uint64
}

// Left is the chunk that install took from a P.
type Left struct {
	Addr, Used uintptr
	P          int64
}

// Reasons why the fast path did nothing.
const (
	needChunk  = 1 // the P has no chunk of this recording, or it is full
	needAnchor = 2 // the entry's anchor is not this thread's, or not intact
	Flushed    = 3 // the record's chunk may have been written out
	Stale      = 4 // no such record in this recording
	Foreign    = 5 // another goroutine began it
	Ended      = 6 // it has ended
	moved      = 7
	noisy      = 8
	Late       = 9 // the record was completed, but its chunk had begun to leave by then
)

// Begin begins a scope whose word 2 is head, the goroutine and the name's id
// excepted. The zero Handle is one that is not recorded. What it can't do by
// itself it leaves to the function that OnMiss was given.
//
//go:noescape
func Begin(head uint64, name string, args []any) Handle

//go:noescape
func end(loc, start int64)

// Enter begins the scope of the function f, which is called, if it may be recorded now,
// and counts the call. What it can't do by itself it leaves to the functions that
// OnEnter was given.
//
//go:noescape
func Enter(f *FuncState) Handle

// Take counts a call of f as Enter does: Took if it is to be recorded, LeftOut if not. 0
// means that nothing was counted: see Func.Assign and Fast.Tally.
//
//go:noescape
func Take(f *Func) int64

// BeginFast begins a scope whose word 2 is head, the goroutine excepted, in the
// recording gen, whose name ids are in head. start 0
// means that nothing was written; loc is then the reason, for Fast.Mend.
//
//go:noescape
func BeginFast(head uint64, gen int64) (loc, start int64)

// BeginExt is BeginFast with an extension of units×32 bytes at ext. Its start is at,
// if that is not 0; its CPU time can't be known then.
//
//go:noescape
func BeginExt(head uint64, gen int64, ext *uint64, units, at int64) (loc, start int64)

// EndFast completes the record at loc, begun at start, in place, at the tick at
// (0: now). With out it marks the record as ended apart instead, and leaves the
// stop and the CPU word there. It returns 0 or the reason why it did nothing; Late
// is none: what was completed may be where nobody reads.
//
//go:noescape
func EndFast(loc, start, at int64, out *[2]uint64) int64

// PutFast appends a complete record: word 0 becomes now where it is 0, and the
// goroutine is filled in. count is what it adds to the number of records; 0
// marks the chunk as one that has ends apart. at 0 means that nothing was
// written; loc is then the reason.
//
//go:noescape
func PutFast(rec *[4]uint64, gen int64, ext *uint64, units, count int64) (loc, at int64)

// Claim copies the record at loc, if it is the one begun at start, open, and may
// still be touched, and marks it as ended apart; else it returns the reason.
//
//go:noescape
func Claim(loc, start int64, out *[4]uint64) int64

// Lose counts a record of the recording gen that is lost for the reason why, unless the
// caller's P has room for need bytes, and reports whether it did. A P that has no row of
// its own counts nothing.
//
//go:noescape
func Lose(gen, why, need int64) bool

//go:noescape
func where(out *place)

//go:noescape
func install(header *[8]uint64, addr, size uintptr, gen int64, out *Left)

//go:noescape
func anchor(a *anchorArgs) int64

//go:noescape
func park(inside, leave *uint32)

//go:noescape
func linger(ticks int64, before, after *place)
