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

// WithFlushEvery sets the time between two rounds of the flusher; the default is 1 s, the
// minimum 10 ms. The flusher also wakes early when much is written.
func WithFlushEvery(d time.Duration) Option { return func(o *options) { o.FlushEvery = d } }

// WithHeartbeat sets the time between two heartbeats, which also record the counts of Stack; the
// default is 1 s, the minimum 10 ms.
func WithHeartbeat(d time.Duration) Option { return func(o *options) { o.Heartbeat = d } }

// WithLockThreshold sets the shortest wait for a Mutex or RWMutex, or in a Retry loop, that is
// recorded. Shorter waits are counted.
//
// If set to another value than LocksAll, it applies to Lock too: a shorter hold of a lock of
// another package is neither recorded nor counted, unless a goroutine waits for the lock when
// the hold ends. The record of a hold is then written at its end, so it has no CPU time. If its
// processor has taken a new chunk meanwhile, the record begins there, and its argument held_ns
// is the true duration. Every wait for such a lock is recorded, however short.
func WithLockThreshold(t LockThreshold) Option {
	return func(o *options) { o.SetLocks(time.Duration(t)) }
}

// WithCPU selects how thread CPU time is measured.
func WithCPU(m CPUMode) Option { return func(o *options) { o.CPU = sys.CPU(m) } }

// WithLimit sets the largest size of the trace in bytes, at least 1 MiB. Records beyond it are
// counted as lost. The default is DefaultLimit.
func WithLimit(bytes int64) Option {
	return func(o *options) { o.SetLimit(bytes) }
}

// WithBuffer sets how many bytes may wait in memory for the disk, from MinBuffer to MaxBuffer; a
// smaller ring needs no more than its size. When the buffer is full, new records are counted as
// lost (Lost.Buffer), and a ring overwrites the chunk that has waited longest. The default is
// 128 MiB. With ShmBacking the default is a sixteenth of the free space of /dev/shm or of the
// free memory, whichever is less, if that is more than 128 MiB, up to 448 MiB. In a container
// the default is at most a sixteenth of the memory limit. A container's limit bounds any buffer:
// to a quarter of the limit at Start, and later to a quarter of what the program leaves of it.
// Memory is allocated on demand, and released once its records are written. DiskBacking has no
// buffer.
//
// A scope without arguments takes 32 bytes. A burst of 20 million, on two CPUs in 2 s, lost none
// with 1 GiB, up to 2.6 million with 448 MiB, and 6.8 to 8.1 million with 128 MiB: while the
// program takes all CPUs, little is written.
func WithBuffer(bytes int64) Option { return func(o *options) { o.SetBuffer(bytes) } }

// WithRing keeps the last bytes of the recording, from MinRing to MaxRing: the oldest chunks of
// 64 KiB in the file are overwritten. It is for recordings that are left on. Names, facts and
// stacks are never overwritten, nor are scopes that are still open when their record is
// overwritten, up to one per 4 KiB of the ring. Open scopes beyond that are counted as lost
// (Lost.Opens) and no longer shown, because their ends do not identify them. Overwritten records
// are counted, and the trace records the time since which it is complete.
//
// Each processor (GOMAXPROCS at Start) needs 256 KiB: a smaller ring, or segments that are
// smaller together, are enlarged, and the trace records that (its size, and the fact
// ring_reason). If GOMAXPROCS grows later and the ring is too small for all, records are lost,
// and counted.
func WithRing(bytes int64) Option {
	return func(o *options) { o.SetRing(bytes) }
}

// WithSegments keeps the last part of the recording, as WithRing does, but in at most count
// files of that many bytes beside the trace: x.scope.000001, x.scope.000002, … The oldest is
// deleted when a new one is begun. It is for collecting recordings while they run: all but the
// newest files no longer change some seconds after they are full, when their records have left
// memory. A copy of all of them together with x.scope is a trace; without x.scope they can't be
// read.
//
// Tools open x.scope, and find the segments by its name: don't rename it. It grows too, by what
// is never overwritten. count includes the segment that is being begun. A segment in which an
// idle processor still owns a chunk stays until that processor records again, and one that is
// not yet written to a slow disk stays until it is; the next oldest is deleted instead. If none
// can be deleted, there are up to 16 more than count. Before it comes to that, idle processors
// lose their chunks, which stops the world twice, at most ten times per second.
//
// bytes is at least MinSegment, and rounded down to 64 KiB; count is from 2 to MaxSegments;
// bytes times count is at most MaxRing.
func WithSegments(bytes int64, count int) Option {
	return func(o *options) { o.SetSegments(bytes, count) }
}

// WithTrigger writes a snapshot to a new file in dir when a scope whose name matches the globs
// (as in SetFilter) took longer than longerThan. The snapshot holds that scope, what happened in
// it, and what the ring holds from before. It needs WithRing or WithSegments.
//
// At most one snapshot is written in ten seconds, and the ten newest of a program are kept in a
// directory (program-slow-time-pid-random.scope). Statistics.Slow counts all scopes that took
// longer. For a scope shorter than the least limit, triggers cost one comparison.
func WithTrigger(globs string, longerThan time.Duration, dir string) Option {
	return func(o *options) { o.AddTrigger(globs, longerThan, dir) }
}

// WithFilter sets the initial filter; SetFilter changes it later.
func WithFilter(expr string) Option { return func(o *options) { o.Filter = expr } }

// WithBacking selects the backing. Start fails if it is not available; without this option Start
// takes the next best one, and the trace records why.
func WithBacking(b BackingKind) Option {
	return func(o *options) { o.SetBacking(format.Backing(b)) }
}

// WithOverwrite lets Start replace a finished trace at its path. For any other file, or a trace
// that is being written, Start still returns ErrExists.
func WithOverwrite() Option { return func(o *options) { o.Overwrite = true } }

// WithSampled marks traces that begin here as sampled: other processes that take part in one,
// and follow their sender's decision, export all of it. Without it they export none of it. A
// trace that began in another process keeps its flag.
func WithSampled() Option { return func(o *options) { o.Flags |= format.FlagSampled } }
