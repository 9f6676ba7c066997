//go:build !scope_off

package scope

import (
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Option changes how Start records.
type Option func(*options)

type options = record.Options

// WithFlushEvery sets the time between two rounds of the flusher; the default
// is a second, the least 10 ms. It wakes sooner by itself when much is written.
func WithFlushEvery(d time.Duration) Option { return func(o *options) { o.FlushEvery = d } }

// WithHeartbeat sets the time between two heartbeats, at which what Stack counted
// is told too; the default is a second, the least 10 ms.
func WithHeartbeat(d time.Duration) Option { return func(o *options) { o.Heartbeat = d } }

// WithLockThreshold sets how long somebody must have waited for a Mutex or a RWMutex,
// or tried again in a Retry loop, for the wait to be recorded. Shorter ones are counted.
//
// Where it is given, and is not LocksAll, it holds for Lock too: of a lock that is not
// one of ours a hold that is shorter is not recorded, nor counted, unless somebody waits
// for the lock when it ends. Its record is made then, so it has no CPU time. If its
// processor has taken a new chunk meanwhile, it begins there, and its argument held_ns
// says how long it was. Every wait for such a lock is recorded, short as it may be.
func WithLockThreshold(t LockThreshold) Option {
	return func(o *options) { o.SetLocks(time.Duration(t)) }
}

// WithCPU chooses how thread CPU time is measured.
func WithCPU(m CPUMode) Option { return func(o *options) { o.CPU = sys.CPU(m) } }

// WithLimit sets the bytes that the trace may grow to, at least 1 MiB. Records
// beyond it are counted as lost. The default is DefaultLimit.
func WithLimit(bytes int64) Option {
	return func(o *options) { o.SetLimit(bytes) }
}

// WithBuffer sets how many bytes may wait in memory for the disk, from MinBuffer to
// MaxBuffer; a ring that is smaller needs no more than its size. What comes when the buffer is
// full is counted as lost (Lost.Buffer), and a ring overwrites what waits longest. The default
// is 128 MiB. With ShmBacking it is a sixteenth of what /dev/shm or the machine has free,
// whichever is less, if that is more, up to 448 MiB. In a container it is at most a sixteenth of
// its memory. A container's limit bounds it in any case: to a quarter of the limit at Start, and
// later of what the program leaves. Memory is taken when it is needed, and given back when what
// was in there is written. The disk backing has no buffer.
//
// A scope without arguments takes 32 bytes. A burst of 20 million, on two CPUs in 2 s, lost none
// with 1 GiB, up to 2.6 million with 448 MiB, and 6.8 to 8.1 million with 128 MiB: while the
// program takes all CPUs, little is written.
func WithBuffer(bytes int64) Option { return func(o *options) { o.SetBuffer(bytes) } }

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
	return func(o *options) { o.SetRing(bytes) }
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
	return func(o *options) { o.SetSegments(bytes, count) }
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
	return func(o *options) { o.AddTrigger(globs, longerThan, dir) }
}

// WithFilter sets the filter that SetFilter changes later.
func WithFilter(expr string) Option { return func(o *options) { o.Filter = expr } }

// WithBacking chooses the backing. Where it can't be had Start fails; without this
// option it takes the next best one, and the trace says why.
func WithBacking(b BackingKind) Option {
	return func(o *options) { o.SetBacking(format.Backing(b)) }
}

// WithOverwrite lets Start replace a finished trace of ours at its path. A file
// that is anything else, or that is being written, is still ErrExists.
func WithOverwrite() Option { return func(o *options) { o.Overwrite = true } }

// WithSampled has traces that begin here be sampled: other processes that take part in one, and
// decide as their sender did, export all of it. Without it they export none of it. A trace that
// came in from another process stays what it is.
func WithSampled() Option { return func(o *options) { o.Flags |= format.FlagSampled } }
