// Package pool hands out chunks from one long sequence by an atomic bump. It does not interpret
// their contents.
//
// # Design
//
// A chunk is 64 KiB, page-aligned, and owned by one writer until it is sealed.
// Three concerns are separate:
//
//   - The bump hands out the next chunk. Between it and its end lies the
//     window: chunks that have their room on disk and are faulted in, so that a
//     writer neither takes a page fault nor meets a full disk.
//   - The placement maps chunks to places: one behind the other in a file
//     (linear), in places that are reused (ring), or in several files, the
//     oldest of which is deleted for the next (segments).
//   - The backing provides a chunk's memory: pages of the file (disk), pages
//     of a file in memory (shm), or the Go heap. The file is a copy of the last two.
//
// Linear is not a ring that never wraps: in a ring only the flusher may prepare a chunk (see
// linear.go), so records would be lost while it is late; and a program that never asks for a ring
// would contain the code of one, 60 kB. A ring is not segments with one file: it reuses places lot
// by lot, while segments delete a whole file and with it the disk's room. Segments embed a ring for
// what both do.
//
// The flusher keeps the window ahead of the bump, writes sealed chunks out and drops
// their pages.
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
// The window follows the measured rate: what writers use in 0.1 s, 4 to 64 MiB. It is prepared in
// steps. Doubling it each round was too late for a burst from rest, and too large for a steady
// stream.
//
// # Invariants
//
//  1. The bump never passes the window's end. Otherwise a store could meet a
//     page that has no room on disk, and the kernel would kill the program. (Where
//     chunks are memory, a caller that finds none takes one behind it: see linear.go.)
//  2. A chunk's state only grows: free, open, sealed, leaving, gone. Its owner
//     seals it, or, where it is in a ring's way, the goroutine that took it from its
//     owner (sys.Fast.Reclaim); the flusher does the rest. (A ring reuses places in the
//     file, by other addresses: see ring.go.) Otherwise a chunk could be written
//     out while its owner writes, and every store would fault.
//  3. Ends are completed in place only in chunks that are open or sealed, and the
//     goroutine that completes one reads the state again after it: if the chunk is
//     leaving by then it repeats the end apart, because the stored one may no
//     longer be read. Otherwise a thread that lost the CPU in between would leave a
//     scope open that has ended. (internal/sys, "Late ends", has the proof.)
package pool

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// ChunkSize is the size of the chunks that the bump hands out, in bytes.
const ChunkSize = format.ChunkSize

// MaxAddresses is the largest range that chunks are mapped to, in bytes.
const MaxAddresses = 1 << 40

// Pool hands out chunks. Its methods may be called from any goroutine, those of
// the flusher (Extend, …) from one at a time.
type Pool struct {
	bump
	pace
	memory
	shape
	lay     placement
	again   reuse // lay, in a ring; nil: chunks are used once
	back    backing
	lacking int64 // see Lacking

	addresses  *sys.Range   // that chunks are mapped to; nil: they are on the heap
	unprepared atomic.Int64 // pages that could not be faulted in
	copies     *copier      // copies chunks to the file; nil: chunks are pages of it

	states []uint32
	file   file
}

// Options of a pool.
type Options struct {
	File   *os.File
	Limit  int64    // bytes; 0: none
	States []uint32 // the table of chunk states, by chunk; nil: the pool's own
	Heap   bool     // keep chunks on the heap and copy them to the file

	// Memory is the number of bytes that may wait on the heap, Left the number that the memory
	// limits leave now (later set by Allow); 0: no limit. InMemory means that File itself is
	// memory: on a tmpfs.
	Memory, Left int64
	InMemory     bool

	// Addresses is the size of the range that chunks may be mapped to, in bytes; 0: Limit, or,
	// without one, MaxAddresses.
	Addresses int64

	// Apart is for a pool with a limit that is not a recording's: its chunks on disk have addresses
	// of their own, which Close frees, and nothing is kept for blocks.
	Apart bool

	// Dry receives the reason why records get no chunk; nil: the pool's own. It is 0 while that is
	// not known.
	Dry *atomic.Uint32

	// Hot is a file on tmpfs, with a hot file's header, whose slots hold chunks that are copied to
	// File. HotSlots is the number of slots in its header.
	Hot      *os.File
	HotSlots uint32

	Ring Ring // see RingOf; the zero value: chunks are used once

	// Files hold the ring's chunks, apart from File, if not nil.
	Files Files

	lap, lot int64 // for tests
}

// New prepares a pool over an empty file, its first window included. Chunk 0 is
// the caller's, for the file header. An error leaves the file empty.
func New(o Options) (*Pool, error) {
	p := &Pool{states: o.States, file: file{o.File, oneFile{o.File}}}
	p.bump.init(&o)
	if p.left.Store(o.Left); o.Left == 0 {
		p.left.Store(noMemoryLimit)
	}
	p.inMemory = o.InMemory
	if o.Ring.bytes == 0 {
		o.Ring.make = newLinear
	}
	if o.Files != nil {
		p.file.files = o.Files
	}
	var err error
	if o.Heap {
		p.back = newHeap(p, &o)
	} else if o.Hot != nil {
		p.back, err = newShm(p, &o)
	} else {
		p.back, err = newDisk(p, &o)
	}
	if err != nil {
		return nil, err
	}
	if p.lay, err = o.Ring.make(p, &o); err == nil {
		err = p.first()
	}
	if err != nil {
		_ = p.back.close(0)
		p.Discard()
		return nil, err
	}
	return p, nil
}

// first prepares the first window.
func (p *Pool) first() error {
	p.window, p.asked = min(p.least(), p.most), time.Now()
	if p.states == nil {
		p.states = make([]uint32, p.numbers+1)
	}
	if p.allow(); (p.inMemory || p.Copies()) && p.allowed.Load() < leastAllowed*ChunkSize {
		return errMemory
	}
	if err := p.extend(); err != nil {
		return err
	}
	p.next.Store(1)
	p.low.Store(p.end.Load() - 1)
	p.Advance(0, Open)
	return nil
}

// Unprepared returns how many pages were handed out without having been faulted in, because the
// kernel can't do that: each costs a worker a page fault.
func (p *Pool) Unprepared() int64 { return p.unprepared.Load() }

// Words returns a chunk's memory; nil if it is no longer in memory.
func (p *Pool) Words(idx int64) []uint64 { return p.back.words(idx) }

// Range returns the addresses that chunks are mapped to, chunk after chunk; nil on the heap.
func (p *Pool) Range() *sys.Range { return p.addresses }

// Base returns the address of chunk 0 where chunks are mapped, else 0.
func (p *Pool) Base() uintptr {
	if p.addresses == nil {
		return 0
	}
	return p.addresses.Base()
}

// Heap reports whether chunks are on the heap.
func (p *Pool) Heap() bool { return p.addresses == nil }

// Backing returns the kind of memory that holds the chunks.
func (p *Pool) Backing() format.Backing {
	switch {
	case p.Heap():
		return format.BackingHeap
	case p.Copies():
		return format.BackingShm
	}
	return format.BackingDisk
}

// Copies reports whether the file is a copy of chunks that are in memory.
func (p *Pool) Copies() bool { return p.copies != nil }

// Bytes returns how many bytes the pool has handed out.
func (p *Pool) Bytes() int64 { return p.Bump() * ChunkSize }

// Span returns how many bytes from Base on can be chunks.
func (p *Pool) Span() int64 { return p.numbers * ChunkSize }

// Size returns the size that the file needs to hold the chunks handed out, in bytes.
func (p *Pool) Size() int64 { return p.lay.size() * ChunkSize }

// Close releases the memory and cuts the file behind the last chunk. No goroutine may be about to
// store into a chunk, except by a compare-and-swap that fails. It leaves the table of states as New
// expects it.
func (p *Pool) Close() error {
	for p.askers.Load() != 0 {
		runtime.Gosched()
	}
	own, err := p.lay.close()
	if e := p.back.close(own * ChunkSize); err == nil {
		err = e
	}
	return err
}

// Discard deletes the files besides the one given to New, of a recording that fails to start.
func (p *Pool) Discard() {
	if p.again != nil {
		p.again.discard()
	}
}

// IsNoSpace reports whether an error means that the file system is full or nearly full, or that a
// quota or file size limit was reached.
func IsNoSpace(err error) bool { return lossOf(err) == format.LossSpace }
