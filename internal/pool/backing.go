package pool

import "errors"

// backing is what chunks' memory is: disk, shm or heap. What has made it has set the Pool's
// addresses, if chunks are mapped, and its copier, if the file is a copy.
type backing interface {
	// words is a chunk's memory, nil if there is none.
	words(idx int64) []uint64
	// spare is how many more chunks can be prepared now; err says why no more, or why
	// the file does not take what there is. It is errBehind where there will be more
	// when others were written out.
	spare() (n int64, err error)
	// grow gives the file n more places. attach makes the n places from at on those of
	// the chunks from idx on, which need not be neighbours of others, with memory that
	// is there; detach makes these chunks' addresses nobody's. wipe zeroes places, each
	// one's first page before the rest; where the file is a copy they are wiped before
	// something is written there, and nothing waits for that.
	grow(at, n int64) error
	attach(idx, at, n int64) error
	detach(idx, n int64) error
	wipe(at, n int64) error
	// evict drops a chunk's memory that the file, which is a copy, does not have.
	evict(idx, at int64)
	// rearm makes the chunks' pages writable again where the kernel's
	// write-back has write-protected them.
	rearm(idx, n int64) error
	// save begins to write the chunks out, or brings the file up to date with them;
	// final says that they will not change any more. drop has them written and
	// drops their memory.
	save(s extent, final bool) error
	drop(s extent) error
	// free is how many bytes the file system has left, of how many.
	free() (avail, total int64, err error)
	// memory is how many bytes it takes of the process's memory, besides its file.
	memory() int64
	// close cuts the file at size bytes and lets go of the memory.
	close(size int64) error
}

// maxSpare is spare's where there is no bound.
const maxSpare = 1 << 40

// errBehind says that what was written before is not in the file yet.
var errBehind = errors.New("the file does not take it as fast as it is written")

// errShm says that the tmpfs of the hot file has no more memory. The trace's disk has no room to
// make for that.
var errShm = errors.New("its tmpfs is nearly full: make room there")

// errNumbers says that there are no numbers for more chunks, which is before the limit.
var errNumbers = errors.New("the trace has all the addresses that there are for one: keep the last, by scope.WithRing")
