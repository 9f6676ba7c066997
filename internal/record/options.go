//go:build !scope_off

package record

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
)

// Options configures a recording. Rarely used features are called through its function
// fields, so that programs that do not set them do not contain their code.
type Options struct {
	FlushEvery time.Duration
	Heartbeat  time.Duration
	CPU        sys.CPU
	Filter     string
	Overwrite  bool
	Flags      byte // of traces that begin here, as in format.Link

	limit      int64 // 0: none
	limitSet   bool
	buffer     int64 // bytes that may wait for the disk; 0: depends on free memory
	backing    format.Backing
	backingSet bool

	ring     int64 // bytes; 0: no ring
	segBytes int64
	segments int // 0: the ring is in the trace's own file
	keep     *keepCode

	triggers     []triggerOption
	watch        func(o *Options, ticks func(time.Duration) int64) (*watch, error)
	triggerEvery time.Duration

	locks time.Duration // or LocksAll, LocksCalibrated, LocksOff
	brief briefCode     // empty: Lock records every hold

	giveWay func(r *recorder) // ends it when another recording starts; nil: it stays

	collectors []collect.Collector
	collect    func(r *recorder, now collecting) // nil: there are no collectors
}

// keepCode records a ring.
type keepCode struct {
	begin    func(r *recorder)
	snapshot func(r *recorder, path, why string) (string, error) // a hundred kilobytes
	// check validates the options of segments, files makes their files; nil: the ring is in the
	// trace's own file.
	check func(o *Options) error
	files func(r *recorder, f *os.File) (pool.Files, error)
}

var (
	keepRing     = keepCode{begin: (*recorder).newRing, snapshot: (*recorder).snapshot}
	keepSegments = keepCode{(*recorder).newRing, (*recorder).snapshot, checkSegments, (*recorder).newSegments}
)

// briefCode leaves out short holds of locks. It is not a pointer, which would cost Lock a load.
type briefCode struct {
	lock   func(r *recorder, l sync.Locker, name string, lockOf LockOf) Held
	unlock func(r *recorder, l sync.Locker, name, start int64)
}

// NewOptions returns the default options.
func NewOptions() Options {
	return Options{FlushEvery: time.Second, Heartbeat: time.Second, limit: DefaultLimit, triggerEvery: 10 * time.Second, locks: LocksCalibrated}
}

// SetLimit sets the largest size of the trace in bytes, or NoLimit.
func (o *Options) SetLimit(bytes int64) { o.limit, o.limitSet = bytes, true }

// SetBacking sets the backing.
func (o *Options) SetBacking(b format.Backing) { o.backing, o.backingSet = b, true }

// SetBuffer sets how many bytes may wait in memory for the disk.
func (o *Options) SetBuffer(bytes int64) { o.buffer = bytes }

// SetRing makes the recording keep the last bytes.
func (o *Options) SetRing(bytes int64) {
	if o.ring = bytes; o.keep == nil {
		o.keep = &keepRing
	}
}

// SetSegments makes the recording keep the last bytes, in separate files.
func (o *Options) SetSegments(bytes int64, count int) {
	o.segBytes, o.segments = bytes-bytes%format.ChunkSize, count
	o.keep = &keepSegments
}

type triggerOption struct {
	glob string
	over time.Duration
	dir  string
}

// AddTrigger adds a trigger for snapshots.
func (o *Options) AddTrigger(globs string, over time.Duration, dir string) {
	o.triggers, o.watch = append(o.triggers, triggerOption{globs, over, dir}), newWatch
}

// SetLocks sets the shortest wait that is recorded, or one of LocksAll, LocksCalibrated and
// LocksOff.
func (o *Options) SetLocks(d time.Duration) {
	o.locks, o.brief = d, briefCode{}
	if d != LocksAll {
		o.brief = briefCode{(*recorder).briefLock, (*recorder).endBrief}
	}
}

// GiveWay makes the recording end, and its trace be removed, when another one starts.
func (o *Options) GiveWay() { o.giveWay = (*recorder).giveWay }

// AddCollector adds a collector to the recording.
func (o *Options) AddCollector(c collect.Collector) {
	o.collectors, o.collect = append(o.collectors, c), (*recorder).collect
}

// check validates the options and parses the filter.
func (o *Options) check() (glob.Filter, error) {
	f, err := glob.Parse(o.Filter)
	switch {
	case err != nil:
		return f, fmt.Errorf("%w: %w", ErrOption, err)
	case o.FlushEvery < 10*time.Millisecond:
		return f, refuse("WithFlushEvery(%v): the least is 10ms", o.FlushEvery)
	case o.Heartbeat < 10*time.Millisecond:
		return f, refuse("WithHeartbeat(%v): the least is 10ms", o.Heartbeat)
	case o.keep != nil && o.keep.check != nil:
		if err := o.keep.check(o); err != nil {
			return f, err
		}
	case o.ring != 0 && (o.ring < MinRing || o.ring > MaxRing):
		return f, refuse("WithRing(%d): from 4 MiB to 64 GiB", o.ring)
	case o.ring != 0 && o.limitSet:
		return f, refuse("WithRing and WithLimit: a ring never grows beyond its size")
	}
	switch {
	case o.limit != NoLimit && o.limit < 1<<20:
		return f, refuse("WithLimit(%d): the least is 1 MiB; use NoLimit for none", o.limit)
	case o.buffer != 0 && (o.buffer < MinBuffer || o.buffer > MaxBuffer):
		return f, refuse("WithBuffer(%d): from 16 MiB to 4 GiB", o.buffer)
	case o.locks < LocksOff:
		return f, refuse("WithLockThreshold(%v): a duration, LocksAll, LocksCalibrated or LocksOff", o.locks)
	case o.CPU < sys.CPUAuto || o.CPU > sys.CPUAlways:
		return f, refuse("WithCPU(%d)", o.CPU)
	case o.backingSet && (o.backing < format.BackingDisk || o.backing > format.BackingShm):
		return f, refuse("WithBacking(%d)", o.backing)
	case o.backingSet && o.backing != format.BackingHeap && !haveDisk:
		return f, refuse("WithBacking: %s", noDisk)
	}
	return f, nil
}

// refuse returns the error for an option. Not inlining it saves a kilobyte in every
// program.
//
//go:noinline
func refuse(why string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOption, fmt.Sprintf(why, args...))
}
