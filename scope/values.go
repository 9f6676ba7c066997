package scope

import (
	"time"

	"github.com/scopeview/scopeview/internal/record"
)

// Errors of Start, Stop, SetFilter and Snapshot. Test for them with errors.Is.
var (
	ErrRunning = record.ErrRunning // a recording is running
	ErrStopped = record.ErrStopped // no recording is running
	ErrExists  = record.ErrExists  // the file exists
	ErrOption  = record.ErrOption  // an option is not supported, here or with another one
	ErrNoSpace = record.ErrNoSpace // the file system has not enough space
	ErrForked  = record.ErrForked  // the process was forked by C code and has not exec'ed
	ErrBubble  = record.ErrBubble  // the caller is in a bubble of testing/synctest
)

// CPUMode says how thread CPU time is measured.
type CPUMode int

const (
	// CPUAuto measures CPU time where it costs nothing per context switch: by
	// rseq, which is not tried where a seccomp filter is active, because a
	// filter may kill a program for a call that it does not know.
	CPUAuto CPUMode = iota
	// CPUOff measures none: every CPU time is unknown.
	CPUOff
	// CPUAlways also tries rseq under a seccomp filter, and, where there is no
	// rseq and no filter, the perf page, which costs each context switch of a
	// recorded thread 1.1 µs.
	CPUAlways
)

// BackingKind says where records live until they are in the file.
type BackingKind int

const (
	// DiskBacking maps pages of the trace file itself: a killed program's trace is
	// whole, whatever is left of the machine. But on a file system that is frozen
	// or throttled a store may wait in the kernel, and the program with it, and
	// somebody who truncates the file kills it. The default where there is no tmpfs
	// with room, and for traces that are on one: of a container's memory such a trace
	// takes at most a quarter of what the program leaves.
	DiskBacking BackingKind = iota + 1
	// HeapBacking keeps records on the Go heap until the flusher has written
	// them: for file systems without mmap, and for the race detector. What
	// was not yet written is lost when the program is killed. It takes as much memory
	// as ShmBacking, and so much garbage.
	HeapBacking
	// ShmBacking keeps records in a file in /dev/shm until the flusher has written
	// them: no goroutine of the program ever waits for a disk. A killed program's
	// trace is whole as long as that file is there, until the machine or the
	// container ends; tools find it, and the next recording brings it into the
	// trace. Without it up to the last second is missing. It takes memory: what
	// waits to be written, at most what WithBuffer says, a sixteenth of the container's
	// limit, or a quarter of what the program leaves of it.
	// The default on Linux.
	ShmBacking
)

// NoLimit, given to WithLimit, lets a trace grow until the file system is
// nearly full.
const NoLimit = record.NoLimit

// DefaultLimit is what a trace may grow to unless WithLimit says otherwise: 1 GiB.
const DefaultLimit = record.DefaultLimit

// LockThreshold is how long somebody must have waited for a lock for the wait to be recorded:
// a duration, as in LockThreshold(50*time.Microsecond), or one of the constants.
type LockThreshold time.Duration

const (
	LocksAll        = LockThreshold(record.LocksAll)        // every wait, short as it may be, and every hold but those of readers
	LocksCalibrated = LockThreshold(record.LocksCalibrated) // six times what a lock that is free takes, measured once; the default
	LocksOff        = LockThreshold(record.LocksOff)        // no Mutex, RWMutex or Retry tells anything
)

// Bounds of the buffer, in bytes.
const (
	MinBuffer = record.MinBuffer // 16 MiB
	MaxBuffer = record.MaxBuffer // 4 GiB
)

// Bounds of a ring, in bytes.
const (
	MinRing = record.MinRing // 4 MiB
	MaxRing = record.MaxRing // 64 GiB
)

// Bounds of segments: the least bytes of each, and how many there can be.
const (
	MinSegment  = record.MinSegment  // 1 MiB
	MaxSegments = record.MaxSegments // 1000
)
