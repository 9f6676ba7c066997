// Package mmpool is memory that outlives its program: chunks of a file that is mapped, which
// many goroutines fill at memory's speed, for a log in a format of your own. What was stored
// is in the file when the program is killed with -9, down to the last word: its pages are
// the kernel's. A crash of the machine loses what was not written out by then.
//
// A pool hands out chunks of 64 KiB and knows nothing of what is in them. Who takes one
// owns it, stores words into it, and seals it. A flusher (package flusher) prepares chunks
// ahead of those who take them: a store neither waits for a page nor meets a full
// disk. It writes out what is sealed, and drops it from memory. Without one a pool has what New
// prepared: 4 MiB.
//
// A reader, of a file whose program lives or was killed, finds in chunk n of the file what
// was stored, and zeros elsewhere. So a record whose first word is not zero, and is stored
// last, atomically, is there whole or not at all.
//
// Files are mapped on Linux. Elsewhere, and where Heap is set, chunks are Go memory. The
// file is a copy that the flusher brings up to date at each round: a kill loses what came since.
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

// HeaderSize is how many bytes of chunk 0 are the program's.
const HeaderSize = format.ControlOffset

// Options of a pool.
type Options struct {
	File  *os.File // empty, open for reading and writing; it stays the caller's to close
	Limit int64    // bytes that the file may get, at least 128 KiB; 0: 1 GiB
	Heap  bool     // keep chunks in Go memory
}

// Errors of Take. After ErrBehind there may be a chunk in some milliseconds.
var (
	ErrBehind  = errors.New("mmpool: chunks are taken faster than they are prepared")
	ErrFull    = errors.New("mmpool: the limit is reached")
	ErrNoSpace = errors.New("mmpool: the file system is full, or nearly full")
	ErrIO      = errors.New("mmpool: the file can't be extended")
)

// Pool hands out chunks. Its methods may be called from any goroutine; those of
// flusher.Pool are for the flusher.
type Pool struct {
	flusher.Pool
	pool *pool.Pool
}

// New makes a pool over an empty file. An error leaves the file empty.
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

// Header is the beginning of the file, for what says how to read the rest.
func (p *Pool) Header() []uint64 { return p.pool.Words(0)[:HeaderSize/8] }

// Take hands out a chunk, whose number is its place in the file, and its words, which are
// zero. It never waits. The words must not be used after Seal.
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

// Seal says that nobody stores into a chunk any more.
func (p *Pool) Seal(idx int64) { p.pool.Advance(idx, pool.Sealed) }

// Close cuts the file behind the last chunk and lets go of the memory: nobody may use it any
// more. The flusher has been stopped, and has called Finish.
func (p *Pool) Close() error {
	p.pool.Shut()
	return p.pool.Close()
}
