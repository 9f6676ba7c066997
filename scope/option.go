package scope

import (
	"errors"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

// Errors of Start, Stop, SetFilter and Snapshot. Test for them with errors.Is.
var (
	ErrRunning = errors.New("scope: a recording is running; call Stop first")
	ErrStopped = errors.New("scope: no recording is running; call Start first")
	ErrExists  = errors.New("scope: the file exists")
	ErrOption  = errors.New("scope: option not supported")
	ErrNoSpace = errors.New("scope: not enough space on the file system")
	ErrForked  = errors.New("scope: not in a child that was forked and has not exec'ed; Go does not work there in full")
	ErrBubble  = errors.New("scope: not inside a bubble of testing/synctest; do it outside, for example in TestMain")
)

// CPUMode says how thread CPU time is measured.
type CPUMode int

const (
	// Auto measures CPU time where it costs nothing per context switch: by
	// rseq, which is not tried where a seccomp filter is active, because a
	// filter may kill a program for a call that it does not know.
	Auto CPUMode = iota
	// Off measures none: every CPU time is unknown.
	Off
	// Always also tries rseq under a seccomp filter, and, where there is no
	// rseq and no filter, the perf page, which costs each context switch of a
	// recorded thread 1.1 µs.
	Always
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
	DiskBacking BackingKind = iota
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
	// waits to be written, at most 128 MiB, a sixteenth of the container's limit, or a
	// quarter of what the program leaves of it.
	// The default on Linux.
	ShmBacking
)

// NoLimit, given to WithLimit, lets a trace grow until the file system is
// nearly full.
const NoLimit int64 = -1

// DefaultLimit is what a trace may grow to unless WithLimit says otherwise.
const DefaultLimit int64 = 1 << 30

// Option changes how Start records.
type Option func(*options)

type options struct {
	flushEvery time.Duration
	heartbeat  time.Duration
	cpu        CPUMode
	limit      int64
	limitSet   bool
	ring       int64
	segBytes   int64
	segments   int // 0: the ring is in the trace's own file
	segmenter  segmenter
	inSegments func(o *options) error
	snapshot   snapshotter
	newRing    func(r *recorder)
	filter     string
	backing    BackingKind
	backingSet bool
	overwrite  bool
	triggers   []triggerOption
	watch      func(o *options, ticks func(time.Duration) int64) (*watch, error)

	triggerEvery time.Duration
	locks        time.Duration                                      // or LocksCalibrate, LocksOff
	briefLock    func(r *recorder, l sync.Locker, name string) held // nil: Lock records every hold
	endBrief     func(r *recorder, l sync.Locker, name, start int64)
	collectors   []collect.Collector
	collect      func(r *recorder, now collecting) // nil: there are none
}

// WithCollector has a recording keep more than scopes. It is what the options of the
// packages beside this one are made of, such as scope/gotrace.
func WithCollector(c collect.Collector) Option {
	return func(o *options) { o.collectors, o.collect = append(o.collectors, c), (*recorder).collect }
}

// collecting is a moment that collectors are told of.
type collecting uint8

const (
	collectStart collecting = iota
	collectTick
	collectSnapshot
	collectStop
)

type triggerOption struct {
	glob string
	over time.Duration
	dir  string
}

func defaultOptions() options {
	return options{flushEvery: time.Second, heartbeat: time.Second, limit: DefaultLimit, triggerEvery: 10 * time.Second, locks: LocksCalibrate}
}

// WithFlushEvery sets the time between two rounds of the flusher; the default
// is a second, the least 10 ms. It wakes sooner by itself when much is written.
func WithFlushEvery(d time.Duration) Option { return func(o *options) { o.flushEvery = d } }

// WithHeartbeat sets the time between two heartbeats, at which what Stack counted
// is told too; the default is a second, the least 10 ms.
func WithHeartbeat(d time.Duration) Option { return func(o *options) { o.heartbeat = d } }

// What WithLockThreshold takes besides durations.
const (
	LocksAll       time.Duration = 0  // every wait, short as it may be, and every hold but those of readers
	LocksCalibrate time.Duration = -1 // six times what a lock that is free takes, measured once; the default
	LocksOff       time.Duration = -2 // no Mutex, RWMutex or Retry tells anything
)

// WithLockThreshold sets how long somebody must have waited for a Mutex or a RWMutex,
// or tried again in a Retry loop, for the wait to be recorded. Shorter ones are counted.
//
// Where it is given, and is not LocksAll, it holds for Lock too: of a lock that is not
// one of ours a hold that is shorter is not recorded, nor counted, unless somebody waits
// for the lock when it ends. Its record is made then, so it has no CPU time. If its
// processor has taken a new chunk meanwhile, it begins there, and its argument held_ns
// says how long it was. Every wait for such a lock is recorded, short as it may be.
func WithLockThreshold(d time.Duration) Option {
	return func(o *options) {
		o.locks, o.briefLock, o.endBrief = d, nil, nil
		if d != LocksAll {
			o.briefLock, o.endBrief = (*recorder).briefLock, (*recorder).endBrief
		}
	}
}

// WithCPU chooses how thread CPU time is measured.
func WithCPU(m CPUMode) Option { return func(o *options) { o.cpu = m } }

// WithLimit sets the bytes that the trace may grow to, at least 1 MiB. Records
// beyond it are counted as lost. The default is DefaultLimit.
func WithLimit(bytes int64) Option {
	return func(o *options) { o.limit, o.limitSet = bytes, true }
}

// WithRing keeps the last bytes of the recording, from MinRing to MaxRing: the
// chunks of 64 KiB that have been in the file longest are overwritten. It is for
// recordings that are left on. Names, facts and stacks are kept besides, and
// scopes that are still open when their record is overwritten, up to one for each 4
// KiB of the ring. More of these are counted as lost (Lost.Opens): they are not shown
// any more, as their ends don't say what they were. What was overwritten is counted, and
// the trace says from when on it is whole.
//
// Each of the program's processors (GOMAXPROCS, as it is at Start) needs 256 KiB: a
// ring, or segments, that are smaller together are made so large, and the trace says so
// (its size, and the fact ring_reason). If GOMAXPROCS grows later, and the ring is too
// small for all, records are lost, and counted.
func WithRing(bytes int64) Option {
	return func(o *options) { o.ring, o.newRing, o.snapshot = bytes, (*recorder).newRing, (*recorder).snapshot }
}

// WithSegments keeps the last part of the recording, as WithRing does, but in files
// of that many bytes beside the trace, at most count of them: x.scope.000001,
// x.scope.000002, … The oldest is deleted when another one is begun. It is for those
// who take recordings away while they go on: all but the newest files don't change
// any more once what was in memory is in them, some seconds after they were full,
// and a copy of them all with x.scope, which they are nothing without, is a trace.
//
// Tools are given x.scope, and find its segments by its name: don't rename it. It
// grows too, by what is never overwritten. One of the count is the one that is being
// begun. A file in which an idle goroutine's processor still has its place stays
// until that records again, one of which a part waits for a slow disk until that is
// written, and the next oldest goes instead; only if none can go there are more than
// count, by up to 16. Before there are so many their places are taken from those that
// are idle, for which the world is stopped twice, at most ten times in a second.
//
// bytes is from MinSegment on, and rounded down to 64 KiB; count is from 2 to
// MaxSegments; both together at most MaxRing.
func WithSegments(bytes int64, count int) Option {
	return func(o *options) {
		o.segBytes, o.segments = bytes-bytes%(64<<10), count
		o.segmenter, o.inSegments = (*recorder).newSegments, checkSegments
		o.newRing, o.snapshot = (*recorder).newRing, (*recorder).snapshot
	}
}

// WithTrigger has a snapshot written to a new file in dir when a scope whose name
// is meant by the globs (as in SetFilter) took longer than a limit: it has that
// scope, what was in it, and what the ring had from before. It needs WithRing, or
// WithSegments.
//
// At most one snapshot is written in ten seconds, and of those of a program in a
// directory (program-slow-time-pid-random.scope) the ten newest are kept.
// Statistics.Slow counts all scopes that took longer. A scope that took less
// than the least limit costs one comparison more.
func WithTrigger(globs string, longerThan time.Duration, dir string) Option {
	return func(o *options) {
		o.triggers, o.watch = append(o.triggers, triggerOption{globs, longerThan, dir}), newWatch
	}
}

// Bounds of a ring, in bytes.
const (
	MinRing int64 = 4 << 20
	MaxRing int64 = 64 << 30
)

// Bounds of segments: the least bytes of each, and how many there can be.
const (
	MinSegment  int64 = 1 << 20
	MaxSegments       = 1000
)

// WithFilter sets the filter that SetFilter changes later.
func WithFilter(expr string) Option { return func(o *options) { o.filter = expr } }

// WithBacking chooses the backing. Where it can't be had Start fails; without this
// option it takes the next best one, and the trace says why.
func WithBacking(b BackingKind) Option {
	return func(o *options) { o.backing, o.backingSet = b, true }
}

// WithOverwrite lets Start replace a finished trace of ours at its path. A file
// that is anything else, or that is being written, is still ErrExists.
func WithOverwrite() Option { return func(o *options) { o.overwrite = true } }
