// Package mmpool provides memory that outlives its program: chunks of a mapped file, which many
// goroutines fill at the speed of memory, for a log in a format of your own. If the program is
// killed with -9, the file contains every word stored, because its pages belong to the kernel. A
// crash of the machine loses the words not yet written to disk.
//
// A pool hands out chunks of 64 KiB and does not interpret their contents. The goroutine that
// takes a chunk owns it, stores words into it, and seals it. A flusher (package flusher)
// prepares chunks in advance, so that a store neither waits for a page nor meets a full disk. It
// writes sealed chunks to disk and drops their memory. Without a flusher a pool has only the 4
// MiB that New prepares.
//
// Whether the program runs or was killed, a reader of the file finds in chunk n the words stored
// in it, and zeros elsewhere. So a record whose first word is not zero and is stored last,
// atomically, is either complete or absent.
//
// Files are mapped on Linux. Elsewhere, and if Heap is set, chunks are Go memory, and the file
// is a copy that the flusher updates at each round: a kill loses the words stored since.
package mmpool

import (
	"errors"
	"os"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// ChunkSize is the size of a chunk in bytes.
const ChunkSize = pool.ChunkSize

// HeaderSize is the number of bytes of chunk 0 that the program may use.
const HeaderSize = format.ControlOffset

// Options configures a pool.
type Options struct {
	File  *os.File // an empty file, open for reading and writing; the caller closes it
	Limit int64    // maximum size of the file in bytes, at least 128 KiB; 0: 1 GiB
	Heap  bool     // keep chunks in Go memory
}

// Errors of Take. After ErrBehind a chunk may be available in some milliseconds.
var (
	ErrBehind  = errors.New("mmpool: chunks are taken faster than they are prepared")
	ErrFull    = errors.New("mmpool: the limit is reached")
	ErrNoSpace = errors.New("mmpool: the file system is full, or nearly full")
	ErrIO      = errors.New("mmpool: the file can't be extended")
)

// Pool hands out chunks. Its methods may be called from any goroutine; those of flusher.Pool are
// for the flusher.
type Pool struct {
	flusher.Pool
	pool *pool.Pool
}

// New returns a pool over an empty file. After an error the file is still empty.
func New(o Options) (*Pool, error) {
	if o.Limit == 0 {
		o.Limit = 1 << 30
	}
	if o.Limit < 2*ChunkSize {
		return nil, errors.New("mmpool: the limit is less than 128 KiB")
	}
	p, err := pool.New(pool.Options{File: o.File, Limit: o.Limit, Heap: o.Heap, Apart: true})
	if err != nil {
		return nil, err
	}
	return &Pool{p, p}, nil
}

// Header returns the words at the beginning of the file that the program may use, to describe
// how to read the rest.
func (p *Pool) Header() []uint64 { return p.pool.Words(0)[:HeaderSize/8] }

// Take hands out a chunk. It returns the chunk's number, which is its position in the file, and
// its words, which are zero. It never waits. The words must not be used after Seal.
func (p *Pool) Take() (idx int64, words []uint64, err error) {
	idx, why := p.pool.TakeOpen()
	switch why {
	case 0:
		return idx, p.pool.Words(idx), nil
	case format.LossLimit:
		return 0, nil, ErrFull
	case format.LossSpace:
		return 0, nil, ErrNoSpace
	case format.LossWindow, format.LossBuffer:
		return 0, nil, ErrBehind
	}
	return 0, nil, ErrIO
}

// Seal marks a chunk as complete. No goroutine may store into it afterwards.
func (p *Pool) Seal(idx int64) { p.pool.Advance(idx, pool.Sealed) }

// Close truncates the file after the last chunk and releases the memory, which must not be used
// any more. Before Close, the flusher must be stopped and have called Finish.
func (p *Pool) Close() error {
	p.pool.Shut()
	return p.pool.Close()
}
