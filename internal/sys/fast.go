//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"sync/atomic"
	"unsafe"
)

// layout has the fields of the running recording for the assembly. The offsets in fast_amd64.s
// and fast_arm64.s follow this struct.
type layout struct {
	gen    int64 // of the recording; 0: none
	base   uintptr
	exact  int64 // ticks below which equal witnesses prove that the CPU time is exact
	states uintptr
	size   uint64 // bytes covered by the states
	coro   uint64 // the waitreason of a goroutine after a coroutine switch
	names  uintptr
	mask   uint64  // of the table of names, × the size of an entry
	int    uintptr // the type word of an any that holds an int

	// Ends of scopes that took so many ticks are left to Go, for a trigger.
	trigger int64

	losses uintptr // the rows where the Ps count losses
	own    uint64  // bytes of them that belong to Ps

	// The reason why no goroutine gets a chunk, or 0 if the pool must be called. A begin that finds
	// no room is counted as lost for that reason without leaving the assembly.
	dry atomic.Uint32
}

// as in LAY
var _ [0]struct{} = [unsafe.Offsetof(Live.lay) - 65552]struct{}{}

// entries are owned by the Ps, by number. Pages cost memory when they are touched, and a
// P with a larger number than there are entries loses records.
var entries [maxPs]entry

// near holds for each M, by its address, the entry of the P that it ran on last: a
// shorter path to it than by the P's number. Two Ms may share a slot, so the entry's P is
// checked. Slots start at an entry that belongs to no P.
var (
	near   [1024]uintptr // NEAR in the assembly
	nobody entry
)

func init() {
	for i := range near {
		near[i] = uintptr(unsafe.Pointer(&nobody))
	}
}

// entry is owned by a P. Two entries share no pair of cache lines, 128 bytes, wherever in
// a pair the linker places entries: it aligns them to 32 bytes only. Otherwise each scope
// would take the line from the other P, and cost twice as much, in one build and not in
// the next.
type entry struct {
	cur, end, lo uintptr // in the P's chunk
	m            uintptr
	tid          uint64
	cell         uintptr
	gen          int64
	extra        int64 // units written that are not records begun
	clamped      int64
	units        int64   // written in the chunks it had before
	witness      uintptr // the cell's, at the last anchor here
	expect       uint64
	foreign      int64   // ends of scopes that another goroutine began
	p            uintptr // the address of the P
	tallies      uintptr // its counts of functions; 0: none yet
	_            [136]byte
}

// The size assumed by the assembly, and the padding required between two entries.
var _ [256]struct{} = [unsafe.Sizeof(entry{})]struct{}{}

const _ = uint(unsafe.Sizeof(entry{}) - unsafe.Offsetof(entry{}.tallies) - unsafe.Sizeof(entry{}.tallies) - 127)

// cell is owned by a thread. Its first 32 bytes are a struct rseq, which the kernel
// writes; they are aligned as rseq(2) requires.
type cell struct {
	rseq    [4]uint64
	k       int64  // CPU ticks - TSC, at the last anchor
	tidWord uint64 // the thread, as in an open record's word 1
	mask    uint64 // 0 if the CPU time is unknown
	witness uintptr
	expect  uint64 // value of the word at witness while the thread stays on the CPU
	os      uint64 // thread id for which it was registered
	kind    uint64 // witnessNone, witnessRseq or witnessPerf
	m       uintptr
	page    uintptr // the word watched by the witness of kind
	tried   uint64  // the kind that was tried for this thread
	named   uint64  // the goroutine that last named its row on this thread
	left    uint64  // likewise, of a thread that is gone
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
	bracket int64  // the maximum ticks for reading the clock
	mult    uint64 // ticks per ns, 32.32
}

// place is the M, thread and P that a goroutine had a moment ago.
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
	Late       = 9 // the record was completed, but its chunk had begun to leave
)

// Begin begins a scope whose word 2 is head, except for the goroutine and the name's id.
// It returns the zero Handle if the scope is not recorded. Cases that it can't handle go
// to the function passed to OnMiss.
//
//go:noescape
func Begin(head uint64, name string, args []any) Handle

//go:noescape
func end(loc, start int64)

// Enter counts a call of the function f, and begins its scope if it may be recorded now.
// Cases that it can't handle go to the functions passed to OnEnter.
//
//go:noescape
func Enter(f *FuncState) Handle

// Take counts a call of f as Enter does. It returns Took if the call is to be recorded,
// LeftOut if not, and 0 if nothing was counted: see Func.Assign and Fast.Tally.
//
//go:noescape
func Take(f *Func) int64

// BeginFast begins a scope whose word 2 is head, except for the goroutine, in the
// recording gen, to which the name id in head belongs. If start is 0, nothing was
// written, and loc is the reason.
//
//go:noescape
func BeginFast(head uint64, gen int64) (loc, start int64)

// BeginExt is BeginFast with an extension of units×32 bytes at ext. If at is not 0, it is
// the start, and the CPU time is unknown.
//
//go:noescape
func BeginExt(head uint64, gen int64, ext *uint64, units, at int64) (loc, start int64)

// EndFast completes the record at loc, begun at start, in place, at the tick at (0: now).
// With out it marks the record as ended apart instead, and stores the stop and the CPU
// word there. It returns 0 or the reason why it did nothing, or Late: it has completed
// the record, but perhaps in memory that is no longer read.
//
//go:noescape
func EndFast(loc, start, at int64, out *[2]uint64) int64

// PutFast appends a complete record: word 0 becomes now if it is 0, and the goroutine is
// filled in. count is added to the number of records; 0 marks the chunk as one that has
// ends apart. If at is 0, nothing was written, and loc is the reason.
//
//go:noescape
func PutFast(rec *[4]uint64, gen int64, ext *uint64, units, count int64) (loc, at int64)

// Claim copies the record at loc, if it is the one begun at start, open, and may
// still be touched, and marks it as ended apart; else it returns the reason.
//
//go:noescape
func Claim(loc, start int64, out *[4]uint64) int64

// Lose counts a record of the recording gen that is lost for the reason why, unless the
// caller's P has room for need bytes, and reports whether it counted. It does not count
// for a P that has no row of its own.
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
