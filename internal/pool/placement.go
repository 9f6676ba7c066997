package pool

import (
	"github.com/scopeview/scopeview/internal/format"
)

// placement is where chunks lie: linear, ring or segments. A chunk is called by its number,
// which is its address; its place is where the file has it.
type placement interface {
	// from is the first chunk that nobody prepares, counted as they are handed out.
	from() int64
	// extend prepares up to n chunks from there on and returns how many. It is 0 without
	// an error where chunks that are not gone are in the way; with one it tells what
	// failed meanwhile.
	extend(from, n int64) (int64, error)

	// taken returns the number of the chunk that was handed out as the n-th; ok is false
	// where it is nobody's.
	taken(n int64) (idx int64, ok bool)
	// make prepares a chunk for who has found none, where that takes no disk.
	make(spare int64) (idx int64, why format.Loss)
	// place is where the file has a chunk that was handed out a moment ago, and how often
	// numbers began again.
	place(idx int64) (at int64, lap uint32)

	// appendFresh appends the chunks that were handed out since it was last called,
	// appendLive those that the file has.
	appendFresh(dst []int64) []int64
	appendLive(dst []int64) []int64
	// extents are the chunks [from, to), as neighbours; ahead are the numbers of those that
	// are handed out as the from-th to the to-th.
	extents(from, to int64) []extent
	ahead(from, to int64) []run

	// size is how many chunks of the files were handed out, reserved how many they have
	// room for.
	size() int64
	reserved() int64
	// close forgets all states. It returns how many chunks of the pool's own file were
	// handed out, and has cut the others.
	close() (own int64, err error)
}

// reuse is a placement that uses places again: ring or segments.
type reuse interface {
	placement
	// begin readies what there must be besides the window.
	begin() error
	// relieve makes room where the file does not take what waits in memory, because of why;
	// nil: it does.
	relieve(why error) error
	// takeKept hands out a chunk that is never overwritten.
	takeKept() (idx int64, why format.Loss)
	// retire says that a chunk is gone; tidy closes the files that nobody writes to any more.
	retire(idx int64)
	tidy()
	// evict overwrites full chunks that are not in the file.
	evict(chunks []int64)
	// inTheWay returns those of the open chunks for which extend waits; holds reports
	// whether an open chunk keeps its file from being finished.
	inTheWay(open []int64) []int64
	holds(idx int64) bool
	// discard deletes what other files there are.
	discard()
}

// shape is what a placement says of itself when it is made.
type shape struct {
	numbers   int64 // how many there are
	last      int64 // behind it the window never goes
	firstKept int64 // the numbers from it on are of kept chunks
	most      int64 // the largest window
	keep      int64 // see keepForRecords
	lotSize   int64 // chunks that are prepared together at least
	ring      int64 // places that are used again
	parts     int   // these are in so many files; 0: in the pool's own
}

// Place is where in the file, in chunks, the chunk is that Take or TakeForBlocks
// has just handed out as number idx, and how often numbers began again.
func (p *Pool) Place(idx int64) (at int64, lap uint32) { return p.lay.place(idx) }

// Kept reports whether a number is that of a kept chunk.
func (p *Pool) Kept(idx int64) bool { return idx >= p.firstKept }

// Ring is at how many places chunks are used again; 0: the pool is no ring.
func (p *Pool) Ring() int64 { return p.ring }

// Segments is in how many equal parts the ring lies, each in a file of its own if
// there is one; 0: it is all in the pool's file.
func (p *Pool) Segments() int { return p.parts }

// Holds reports whether a chunk that is still open keeps its file from being finished.
func (p *Pool) Holds(idx int64) bool { return p.again != nil && p.again.holds(idx) }

// InTheWay returns those of the open chunks that kept the window from being made whole, if
// any did when Extend was called last: it is to be asked by who calls that.
func (p *Pool) InTheWay(open []int64) []int64 {
	if p.again == nil {
		return nil
	}
	return p.again.inTheWay(open)
}

// Fresh appends the chunks that were handed out since it was last called.
func (p *Pool) Fresh(dst []int64) []int64 { return p.lay.appendFresh(dst) }

// Live appends the chunks that were handed out and not overwritten since.
func (p *Pool) Live(dst []int64) []int64 { return p.lay.appendLive(dst) }

// Lacking returns how many chunks the window lacked when Extend was called last, because the
// file, which is a copy, has not taken what waits in memory: it is to be asked by who calls
// that. In a ring as many may be evicted.
func (p *Pool) Lacking() int64 { return p.lacking }

// Evict drops chunks of a ring that are full and that the file, which is a copy, does not
// have: they are overwritten. It is called by who calls Extend.
func (p *Pool) Evict(chunks []int64) { p.again.evict(chunks) }

// Retire says that a chunk is gone: its place may be used again.
func (p *Pool) Retire(idx int64) {
	if p.again != nil {
		p.again.retire(idx)
	}
}

// tidy closes the files that nobody writes to any more.
func (p *Pool) tidy() {
	if p.again != nil {
		p.again.tidy()
	}
}
