package pool

import (
	"github.com/scopeview/scopeview/internal/format"
)

// A placement maps chunk numbers to places in the file: linear, as a ring, or in segments. A
// chunk's number determines its address; its place is its position in the file.
type placement interface {
	// from returns the first chunk that is not prepared, in order of hand-out.
	from() int64
	// extend prepares up to n chunks from there on and returns how many. It returns 0 without an
	// error if chunks that are not gone are in the way; an error is what failed meanwhile.
	extend(from, n int64) (int64, error)

	// taken returns the number of the chunk that was handed out as the n-th; ok is false if that
	// number is left out.
	taken(n int64) (idx int64, ok bool)
	// make prepares a chunk for a caller that found none, where that needs no disk.
	make(spare int64) (idx int64, why format.Loss)
	// place returns the place of a chunk that was just handed out, and how often numbers began
	// again.
	place(idx int64) (at int64, lap uint32)

	// appendFresh appends the chunks that were handed out since its last call, appendLive those
	// that the file has.
	appendFresh(dst []int64) []int64
	appendLive(dst []int64) []int64
	// extents returns the chunks [from, to) as runs of neighbours; ahead returns the numbers that
	// are handed out as the from-th to the to-th.
	extents(from, to int64) []extent
	ahead(from, to int64) []run

	// size returns how many chunks of the files were handed out, reserved how many they have room
	// for.
	size() int64
	reserved() int64
	// close resets all states. It returns how many chunks of the pool's own file were handed out,
	// and cuts the other files.
	close() (own int64, err error)
}

// reuse is a placement that reuses places: ring or segments.
type reuse interface {
	placement
	// begin prepares what must exist besides the window.
	begin() error
	// relieve makes room if the file does not accept what waits in memory, with why as the reason;
	// nil: it does.
	relieve(why error) error
	// takeKept hands out a chunk that is never overwritten.
	takeKept() (idx int64, why format.Loss)
	// retire marks a chunk as gone; tidy closes the files that are no longer written.
	retire(idx int64)
	tidy()
	// evict overwrites full chunks that are not in the file.
	evict(chunks []int64)
	// inTheWay returns those of the open chunks for which extend waits; holds reports
	// whether an open chunk keeps its file from being finished.
	inTheWay(open []int64) []int64
	holds(idx int64) bool
	// discard deletes the other files, if any.
	discard()
}

// shape holds a placement's constants, set when it is made.
type shape struct {
	numbers   int64 // number of chunk numbers
	last      int64 // the window never goes beyond it
	firstKept int64 // this number and higher ones are of kept chunks
	most      int64 // the largest window
	keep      int64 // see keepForRecords
	lotSize   int64 // chunks that are prepared together at least
	ring      int64 // places that are reused
	parts     int   // number of files that hold these; 0: they are in the pool's own
}

// Place returns the place in the file, in chunks, of the chunk that Take or TakeForBlocks has just
// handed out as number idx, and how often numbers began again.
func (p *Pool) Place(idx int64) (at int64, lap uint32) { return p.lay.place(idx) }

// Kept reports whether a number is that of a kept chunk.
func (p *Pool) Kept(idx int64) bool { return idx >= p.firstKept }

// Ring returns how many places are reused; 0: the pool is no ring.
func (p *Pool) Ring() int64 { return p.ring }

// Segments returns the number of equal parts of the ring, each in a file of its own once that
// exists; 0: all of it is in the pool's file.
func (p *Pool) Segments() int { return p.parts }

// Holds reports whether a chunk that is still open keeps its file from being finished.
func (p *Pool) Holds(idx int64) bool { return p.again != nil && p.again.holds(idx) }

// InTheWay returns those of the open chunks that kept the last Extend from completing the window.
// Only Extend's caller may call it.
func (p *Pool) InTheWay(open []int64) []int64 {
	if p.again == nil {
		return nil
	}
	return p.again.inTheWay(open)
}

// Fresh appends the chunks that were handed out since its last call.
func (p *Pool) Fresh(dst []int64) []int64 { return p.lay.appendFresh(dst) }

// Live appends the chunks that were handed out and not overwritten since.
func (p *Pool) Live(dst []int64) []int64 { return p.lay.appendLive(dst) }

// Lacking returns how many chunks the window lacked after the last Extend because the file, a copy,
// has not accepted what waits in memory. In a ring that many may be evicted. Only Extend's caller
// may call it.
func (p *Pool) Lacking() int64 { return p.lacking }

// Evict overwrites full chunks of a ring that the file, a copy, does not have. Only Extend's caller
// may call it.
func (p *Pool) Evict(chunks []int64) { p.again.evict(chunks) }

// Retire marks a chunk as gone: its place may be reused.
func (p *Pool) Retire(idx int64) {
	if p.again != nil {
		p.again.retire(idx)
	}
}

// tidy closes the files that are no longer written.
func (p *Pool) tidy() {
	if p.again != nil {
		p.again.tidy()
	}
}
