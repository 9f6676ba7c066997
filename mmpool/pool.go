// Package mmpool is the pool: one long run of chunks, handed out by an atomic
// bump. It knows chunks, not what is in them.
//
// # Design
//
// A chunk is 64 KiB, page-aligned, and owned by one writer until it is sealed.
// The bump hands out the next one; between the bump and the end lies the
// window, chunks that are already allocated on disk and faulted in, so that a
// writer neither takes a page fault nor meets a full disk. The flusher keeps
// the window ahead of the bump, writes sealed chunks out and drops their pages.
//
// # Where chunks are
//
//	backing                  chunks are                a slow disk          the file is truncated  kill -9
//	shm, Linux's default     pages of a file in        waits alone; what    what was in there is   whole, with the file
//	                         /dev/shm, copied to the   finds no room is     lost, the rest is      in /dev/shm; without,
//	                         trace                     lost, counted        written                a second is missing
//	disk                     pages of the trace        can stop a thread    ends the program       whole
//	                                                   in a store, and so
//	                                                   all, when the world
//	                                                   is to stop
//	heap                     Go memory, copied to the  as shm               as shm                 up to a second is
//	                         trace                                                                 missing
//
// The window follows the measured rate: what writers use in a tenth of a second, 4 to 64
// MiB. It is prepared in steps. Doubling it each round was too late for a burst from
// rest, and too large for a steady stream.
//
// # Invariants
//
//  1. The bump never passes the window's end. Otherwise a store could meet a
//     page that has no room on disk, and the kernel would kill the program. (Where
//     chunks are memory, who finds none takes one that lies behind it: see make.go.)
//  2. A chunk's state only grows: free, open, sealed, leaving, gone. Its owner
//     seals it, or, where it is in the way of a ring, who has taken it from its owner
//     (sys.Fast.Reclaim); the flusher does the rest. (A ring uses places in the file again,
//     by other addresses: see ring.go.) Otherwise a chunk could be written
//     out under its owner's hands, and every store would fault.
//  3. Ends are completed in place only in chunks that are open or sealed, and who
//     completes one looks at the state again after it: if the chunk is leaving by
//     then the end is repeated apart, because nobody may read any more what was
//     stored. Otherwise a thread that lost the CPU in between would leave a scope
//     open that has ended. (internal/sys, "Late ends", has the proof.)
package mmpool

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// ChunkSize is what the bump hands out, in bytes.
const ChunkSize = format.ChunkSize

// keepForBlocks are the chunks at the window's end that only blocks may take:
// a window that the records ran out of still has room to say so.
const keepForBlocks = 2

// keepForRecords are those at the window's end that are left where blocks may be many:
// those can wait where they come from, and records can't.
const keepForRecords = 16

// Pool hands out chunks. Its methods may be called from any goroutine, those of
// the flusher (Extend, …) from one at a time.
type Pool struct {
	back   backing
	copier *copier      // back's; nil: nothing is copied
	bump   atomic.Int64 // next chunk; with noRecords when records get no more
	end    atomic.Int64 // chunks prepared; records may take end - keepForBlocks
	half   atomic.Int64 // a bump that crosses it wakes the flusher
	low    atomic.Int64 // least distance of bump and end so far
	reason atomic.Uint32
	dry    *atomic.Uint32 // why Take has nothing, which is not asked again before there is more; 0: ask
	askers atomic.Int64   // who is in none
	next   atomic.Int64   // where chunks are owned: the first that nobody prepares
	top    atomic.Int64   // one more than the last of those that who needed them prepared
	made   atomic.Int64   // how many these are
	window int64          // chunks to keep ahead
	limit  int64          // chunks; 0: none
	spare  int64          // of the limit, for blocks
	states []uint32
	wake   chan struct{}
	file   *os.File
	files  Files // nil: all is in file
	// What the limits of memory leave, as told last, and what the pool may have of it.
	left, allowed atomic.Int64
	inMemory      bool
	used          int64 // bump at the last Extend, and when that was
	asked         time.Time
	seen          int64               // what Fresh has told
	ring          *ring               // nil: chunks are used once
	remake        func(p *Pool) error // makes a ring's window whole
}

// Options of a pool.
type Options struct {
	File   *os.File
	Limit  int64    // bytes; 0: none
	States []uint32 // the table of chunk states, by chunk; nil: the pool's own
	Heap   bool     // keep chunks on the heap and copy them to the file

	// Memory is how many bytes may wait on the heap, Left how many the limits of memory
	// leave now, as Allow is told later; 0: nothing limits them. InMemory says that File
	// itself is memory: on a tmpfs.
	Memory, Left int64
	InMemory     bool

	// Dry is where the pool says why records get no chunk; nil: its own. It is 0 where
	// that has to be asked.
	Dry *atomic.Uint32

	// Hot keeps chunks in the slots of this file, which is on tmpfs and has a hot
	// file's header, and copies them to File. HotSlots is how many the header says.
	Hot      *os.File
	HotSlots uint32

	Ring Ring // see RingOf; the zero value: chunks are used once

	// Files are where the ring's chunks lie, apart from File, if not nil.
	Files Files

	lap int64 // a test's
}

// Window sizes, in chunks.
const (
	minWindow = 4 << 20 / ChunkSize
	maxWindow = 64 << 20 / ChunkSize
	maxStep   = 4 << 20 / ChunkSize // prepared at once
	minStep   = 1 << 20 / ChunkSize // less is not worth a system call
)

// noRecords in the bump makes every later Take fail, also one that has looked
// and not yet taken: a chunk that is taken when the recording ends would have
// nobody to write its header.
const noRecords = 1 << 62

// wakeEvery is after how many chunks the flusher is woken in any case, so that
// what waits to be written out stays small.
const wakeEvery = 16 << 20 / ChunkSize

// Wake is signalled when the bump has used half of the window, or 16 MiB.
func (p *Pool) Wake() <-chan struct{} { return p.wake }

// Take hands out the next chunk for records. Where there is none it returns
// the reason; it never waits. idx is the chunk's number, which tells its address;
// Place tells where in the file it is.
func (p *Pool) Take() (idx int64, lost format.Loss) {
	return p.take(keepForBlocks, p.spare)
}

// TakeForBlocks hands out the next chunk for blocks, from what Take leaves.
func (p *Pool) TakeForBlocks() (idx int64, lost format.Loss) {
	idx, lost = p.take(0, 0)
	if p.copier != nil && lost == 0 {
		p.copier.hasBlocks(idx, p.placeOf(idx))
	}
	return idx, lost
}

// Spacious tells whether there is more room than records and most blocks are to find:
// blocks of which there may be many are not to be written without. Where it is the
// window that is short, there may be more in some milliseconds.
func (p *Pool) Spacious() bool {
	n, keep := p.bump.Load()&^noRecords, int64(keepForRecords)
	if p.limit > 0 && n >= p.limit-p.spare {
		return false
	}
	if p.ring != nil {
		keep = min(keep, max(keepForBlocks, p.ring.want/16)) // a quarter of the window
	}
	if n >= p.end.Load()-keep {
		p.poke()
		return false
	}
	return true
}

func (p *Pool) take(keep, spare int64) (int64, format.Loss) {
	for {
		// Look before taking: an add that went too far could not be undone.
		old, end := p.bump.Load(), p.end.Load()
		n := old &^ noRecords
		if keep > 0 {
			if n != old {
				return 0, format.LossStop
			}
			if why := p.Dry(); why != 0 {
				return 0, why
			}
		}
		if n >= end-keep || p.limit > 0 && n >= p.limit-spare {
			if idx, why := p.none(keep, spare); idx != 0 || why != 0 {
				return idx, why
			}
			continue
		}
		if !p.bump.CompareAndSwap(old, old+1) {
			continue
		}
		left := end - n - 1
		for low := p.low.Load(); left < low && !p.low.CompareAndSwap(low, left); low = p.low.Load() {
		}
		if n >= p.half.Load() || n%wakeEvery == 0 {
			p.poke()
		}
		if p.ring != nil {
			idx, ok := p.ring.taken(n)
			if !ok {
				continue
			}
			return idx, 0
		}
		if p.owned() && !atomic.CompareAndSwapUint32(&p.states[n], prepared, handed) {
			continue // who found none prepared it, and has it
		}
		return n, 0
	}
}

// none is for who finds no chunk: it prepares one where that takes no disk, else it says
// why there is none; 0 and 0 where there is one by now. For records it is noted: who comes
// next does not ask, nor wakes the flusher again. Close waits for those who are in here,
// since what they note, or map, would be in the next pool.
func (p *Pool) none(keep, spare int64) (idx int64, why format.Loss) {
	p.askers.Add(1)
	idx, why = p.lack(keep, spare)
	p.askers.Add(-1)
	return idx, why
}

func (p *Pool) lack(keep, spare int64) (idx int64, lost format.Loss) {
	bump, end := p.bump.Load(), p.end.Load()
	n, why := bump&^noRecords, format.Loss(p.reason.Load())
	switch {
	case keep > 0 && n != bump:
		return 0, format.LossStop
	case p.limit > 0 && n >= p.limit-spare:
		why = format.LossLimit
	case n < end-keep:
		return 0, 0
	case why == format.LossWindow && p.owned():
		if idx, why = p.make(spare); why == 0 {
			if keep > 0 && p.bump.Load()&noRecords != 0 || p.end.Load() < 0 {
				return 0, format.LossStop // nobody would write its header
			}
			return idx, 0
		}
	}
	if keep > 0 {
		p.dry.Store(uint32(why))
		if p.end.Load() != end { // who made it more may have looked before
			p.dry.Store(0)
			return 0, 0
		}
	}
	if why != format.LossLimit {
		p.poke()
	}
	return 0, why
}

// Dry says why records get no chunk, as long as that is known; 0: Take will tell.
func (p *Pool) Dry() format.Loss { return format.Loss(p.dry.Load()) }

// Short reports whether records get no chunk for want of what the flusher makes.
func (p *Pool) Short() bool {
	why := p.Dry()
	return why != 0 && why != format.LossLimit
}

// Feed has the flusher make the window whole, if somebody found none.
func (p *Pool) Feed() {
	if p.Short() {
		p.poke()
	}
}

func (p *Pool) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Bump is the number of chunks handed out, the file header included.
func (p *Pool) Bump() int64 { return max(p.bump.Load()&^noRecords, p.top.Load()) }

// Low is the least that was left of the window so far, in bytes.
func (p *Pool) Low() int64 { return max(0, p.low.Load()) * ChunkSize }

// Unprepared is how many pages were handed out without having been faulted in
// before, because the kernel can't do that: each costs a worker a page fault.
func (p *Pool) Unprepared() int64 { return p.back.unprepared() }

// Words is a chunk's memory; nil where it is gone from memory.
func (p *Pool) Words(idx int64) []uint64 { return p.back.words(idx) }

// Range is the addresses that chunks are mapped to, chunk after chunk; nil on
// the heap.
func (p *Pool) Range() *sys.Range { return p.back.addresses() }

// Base is the address of the chunk 0 where chunks are mapped, else 0.
func (p *Pool) Base() uintptr { return p.back.base() }

// Heap tells whether chunks are on the heap.
func (p *Pool) Heap() bool { return p.back.base() == 0 }

// Backing is where chunks live.
func (p *Pool) Backing() format.Backing { return p.back.kind() }

// Copies tells whether the file is a copy of chunks that are elsewhere.
func (p *Pool) Copies() bool { return p.back.kind() != format.BackingDisk }

// Bytes returns how many bytes the pool has handed out.
func (p *Pool) Bytes() int64 { return p.Bump() * ChunkSize }

// Span is how many bytes from Base on can be chunks.
func (p *Pool) Span() int64 {
	if p.ring != nil {
		return (p.ring.lap + maxKeptChunks + 1) * ChunkSize
	}
	if p.limit > 0 {
		return p.limit * ChunkSize
	}
	return int64(len(p.states)) * ChunkSize
}
