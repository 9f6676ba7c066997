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
	ErrOption  = record.ErrOption  // an option is not supported, alone or with another one
	ErrNoSpace = record.ErrNoSpace // the file system has not enough space
	ErrForked  = record.ErrForked  // the process was forked by C code and has not exec'ed
	ErrBubble  = record.ErrBubble  // the caller is in a bubble of testing/synctest
)

// CPUMode selects how thread CPU time is measured.
type CPUMode int

const (
	// CPUAuto measures CPU time only if that costs nothing per context switch, by rseq. It
	// does not try rseq under a seccomp filter, because a filter may kill a program for an
	// unknown system call.
	CPUAuto CPUMode = iota
	// CPUOff does not measure: every CPU time is unknown.
	CPUOff
	// CPUAlways also tries rseq under a seccomp filter and, if there is neither rseq nor a
	// filter, the perf page, which adds 1.1 µs to each context switch of a recorded thread.
	CPUAlways
)

// BackingKind selects where records are kept until they are in the file.
type BackingKind int

const (
	// DiskBacking maps pages of the trace file itself: the trace of a killed program is
	// whole, even if the container or its /dev/shm is gone. But if the file system is frozen
	// or throttled, a store may block in the kernel, and the program with it; and truncating
	// the file kills the program. It is the default if no tmpfs has room, and for traces that
	// lie on a tmpfs: such a trace takes at most a quarter of the container's memory that the
	// program leaves free.
	DiskBacking BackingKind = iota + 1
	// HeapBacking keeps records on the Go heap until the flusher has written them. It is for
	// file systems without mmap, and for the race detector. Records not yet written are lost
	// when the program is killed. It takes as much memory as ShmBacking, and produces as much
	// garbage.
	HeapBacking
	// ShmBacking keeps records in a file in /dev/shm until the flusher has written them, so
	// no goroutine of the program ever waits for a disk. The trace of a killed program is
	// whole while that file exists, until the machine or the container ends: tools find it,
	// and the next recording moves it into the trace. Without it, up to the last second is
	// missing. The records that wait to be written take memory: at most the size set by
	// WithBuffer, a sixteenth of the container's limit, or a quarter of what the program
	// leaves of it. It is the default on Linux.
	ShmBacking
)

// NoLimit, passed to WithLimit, lets a trace grow until the file system is nearly full.
const NoLimit = record.NoLimit

// DefaultLimit is the largest size of a trace unless WithLimit sets another: 1 GiB.
const DefaultLimit = record.DefaultLimit

// LockThreshold is the shortest wait for a lock that is recorded: a duration, as in
// LockThreshold(50*time.Microsecond), or one of the constants.
type LockThreshold time.Duration

const (
	LocksAll        = LockThreshold(record.LocksAll)        // every wait, however short, and every hold except readers'
	LocksCalibrated = LockThreshold(record.LocksCalibrated) // six times the cost of locking a free lock, measured once; the default
	LocksOff        = LockThreshold(record.LocksOff)        // Mutex, RWMutex and Retry record nothing
)

// Limits of the buffer, in bytes.
const (
	MinBuffer = record.MinBuffer // 16 MiB
	MaxBuffer = record.MaxBuffer // 4 GiB
)

// Limits of a ring, in bytes.
const (
	MinRing = record.MinRing // 4 MiB
	MaxRing = record.MaxRing // 64 GiB
)

// Limits of segments: the least bytes of each, and the greatest number of them.
const (
	MinSegment  = record.MinSegment  // 1 MiB
	MaxSegments = record.MaxSegments // 1000
)
