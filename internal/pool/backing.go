package pool

import "errors"

// A backing provides the memory of chunks: disk, shm or heap. Its constructor sets the Pool's
// addresses if chunks are mapped, and its copier if the file is a copy.
type backing interface {
	// words returns a chunk's memory, or nil if it has none.
	words(idx int64) []uint64
	// spare returns how many more chunks can be prepared now, and in err why not more, or why the
	// file does not accept the chunks that wait. err is errBehind if there will be more once others
	// are written out.
	spare() (n int64, err error)
	// grow adds n places to the file. attach maps the n places from at on, with memory, to the
	// chunks from idx on, which need not be neighbours of others; detach releases these chunks'
	// addresses. wipe zeroes places, the first page of each before the rest; where the file is a
	// copy, it only marks them, to be wiped before something is written there, and does not wait.
	grow(at, n int64) error
	attach(idx, at, n int64) error
	detach(idx, n int64) error
	wipe(at, n int64) error
	// evict drops the memory of a chunk that the file, a copy, does not have.
	evict(idx, at int64)
	// rearm makes the chunks' pages writable again where the kernel's
	// write-back has write-protected them.
	rearm(idx, n int64) error
	// save starts to write the chunks out, or updates the file's copies of them; final means that
	// they will not change any more. drop waits until they are written and drops their memory.
	save(s extent, final bool) error
	drop(s extent) error
	// free returns the free and the total bytes of the file system.
	free() (avail, total int64, err error)
	// memory returns how many bytes of the process's memory the backing uses, besides its file.
	memory() int64
	// close cuts the file at size bytes and releases the memory.
	close(size int64) error
}

// maxSpare is the result of spare where there is no bound.
const maxSpare = 1 << 40

// errBehind means that earlier chunks are not in the file yet.
var errBehind = errors.New("the disk is slower than the recording")

// errShm means that the hot file's tmpfs is full. Freeing space on the trace's disk does not help.
var errShm = errors.New("the tmpfs is nearly full: free space there")

// errNumbers means that all chunk numbers are used, before the limit is reached.
var errNumbers = errors.New("the trace has reached its largest size: keep the newest part with scope.WithRing")
