//go:build !scope_off

package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/pool"
)

// remote is replaced in tests, because the machine that runs them has no such file systems.
var remote = pool.Remote

// newPool creates the pool over the trace file, with the requested backing or else the best one
// available here. It stores into w why there is no better one.
func (r *recorder) newPool(po pool.Options, w *reasons) (p *pool.Pool, err error) {
	f := po.File
	po.Limit, po.InMemory = max(r.opts.limit, 0), inMemory(f)
	defer func() { r.buffer = po.Memory }()
	if r.opts.ring > 0 {
		po.Limit, po.Ring = 0, r.ring.places
	}
	if r.opts.segments > 0 {
		if po.Files, err = r.opts.keep.files(r, f); err != nil {
			return nil, err
		}
	}
	if r.fast != nil {
		po.States, po.Dry = r.fast.States(), r.fast.Dry()
	}
	kind, asked := r.opts.backing, r.opts.backingSet
	if !asked {
		kind = bestBacking(po.InMemory)
	}
	if kind == format.BackingShm {
		if err = r.createHot(&po); err == nil {
			if p, err = pool.New(po); err == nil {
				return p, nil
			}
			r.closeHot(true, true)
			po.Hot = nil
			if r.opts.buffer == 0 {
				po.Memory = min(po.Memory, waitMost)
			}
		}
		if asked {
			return nil, fmt.Errorf("the backing shm: %w", err)
		}
		w.backing, kind = err.Error(), format.BackingDisk
		if name, ok := remote(f); ok {
			w.backing, kind = fmt.Sprintf("the trace is on %s; %v", name, err), format.BackingHeap
		}
	}
	if kind == format.BackingDisk {
		if p, err = pool.New(po); err == nil || asked || pool.IsNoSpace(err) {
			return p, err
		}
		// The file system has no mmap: use the heap, and record why.
		w.backing = err.Error()
	}
	po.Heap, po.States, po.Dry, po.Left = true, nil, nil, r.memoryLeft(true)
	r.fast = nil
	return pool.New(po)
}

// bestBacking returns the default backing: memory of a tmpfs, if there is one with room. When a
// file system was frozen for three seconds, a program that recorded into its mapped pages stood
// still for as long, all of it, as soon as the collector wanted to stop the world; with the
// pages in memory nothing waited, and nothing was lost. The price is a copy of everything
// written, on a goroutine of the recorder. A trace that lies on a tmpfs needs none.
func bestBacking(tmpfs bool) format.Backing {
	switch {
	case !haveDisk:
		return format.BackingHeap
	case tmpfs:
		return format.BackingDisk
	}
	return format.BackingShm
}

// Default limits of the memory for chunks that wait to be written: waitMost; on a tmpfs more, if
// that is at most a part of the free space (waitShare); and at most a part of a container's
// memory.
const (
	waitMost = 128 << 20
	waitPart = 16
	// waitShareMost is below the size at which readers scan the table of a hot file for each
	// reading.
	waitShareMost = 448 << 20
)

// waitShare returns how many bytes may wait in a hot file by default: a sixteenth of what its
// tmpfs and the machine have free, but at least waitMost, and at most part, the share of a
// container's memory. Memory is taken only once the disk is late, and the pool always leaves a
// twentieth of the tmpfs to others.
func waitShare(tmpfs, machine, part int64) int64 {
	return min(max(waitMost, min(tmpfs/waitPart, machine/waitPart, waitShareMost)), part)
}

// ownThreads is the maximum number of threads that a recording adds to the program's: one that
// works in memory, one that writes to the disk, and one that adopts the hot files of killed
// programs. goThreads is the number of Go's threads beyond one per processor.
const (
	ownThreads = 3
	goThreads  = 3
)

// limits sets the pool's memory limit. It returns an error if the program has no threads or
// memory to spare, because the Go runtime exits when it gets none. If addresses are short it
// selects the heap backing, and returns the reason.
func (r *recorder) limits(po *pool.Options) (tight string, err error) {
	r.waitPart = math.MaxInt64
	if po.Memory = waitMost; r.opts.buffer > 0 {
		po.Memory = r.opts.buffer
	}
	threads := int64(0)
	for _, v := range r.sampler.Limits(nil) {
		switch {
		case v.Field == format.FieldMemLimit && v.Value > 0:
			part := int64(waitPart)
			if r.opts.buffer > 0 {
				part = 4 // the pool takes at most this part of what is left
			}
			r.waitPart = v.Value / part
			po.Memory = min(po.Memory, r.waitPart)
		case v.Field == format.FieldThreads:
			threads = v.Value
		}
	}
	po.Left = r.sampler.MemoryLeft
	left := r.sampler.ThreadsLeft
	need := max(int64(runtime.GOMAXPROCS(0)+goThreads)-threads, 0) + ownThreads
	if left < need {
		return "", fmt.Errorf("%w: it leaves %d, and %d may be needed: raise it", errThreads, max(left, 0), need)
	}
	return r.ownLimits(po)
}

var errThreads = errors.New("pids.max leaves too few threads to record")

// closeHot removes the hot file if the trace has all of its contents; else readers find it, and
// a later recording adopts it. If it can't be removed, after setuid or chroot, its memory is
// released unless it is still mapped: a goroutine late by a recording would then access a
// missing page.
func (r *recorder) closeHot(all, unmapped bool) (err error) {
	if r.hot == nil {
		return nil
	}
	if all {
		if err = os.Remove(r.hot.Name()); err != nil && unmapped {
			_ = r.hot.Truncate(0)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // already removed, or out of sight: a later recording removes empty ones
		} else if err != nil {
			empty := ", now empty,"
			if !unmapped {
				empty = ""
			}
			err = fmt.Errorf("the trace is complete, and its hot file%s was left; remove it: %w", empty, err)
		}
	}
	r.hot.Close()
	r.hot = nil
	return err
}

// checkSegments validates the options of WithSegments, and makes the recording a ring.
func checkSegments(o *Options) error {
	switch {
	case o.ring != 0 || o.limitSet:
		return fmt.Errorf("%w: WithSegments, and WithRing or WithLimit: segments never grow beyond their size", ErrOption)
	case o.segBytes < MinSegment || o.segments < 2 || o.segments > MaxSegments || o.segBytes > MaxRing/int64(o.segments):
		return fmt.Errorf("%w: WithSegments(%d, %d): from 1 MiB, from 2 to 1000, and up to 64 GiB together", ErrOption, o.segBytes, o.segments)
	}
	o.ring = o.segBytes * int64(o.segments)
	hot.UseSegments() // before createTrace, which removes those of a trace being overwritten
	return nil
}

// newSegments creates the segments of the ring of trace f.
func (r *recorder) newSegments(f *os.File) (pool.Files, error) {
	path, err := filepath.Abs(r.path) // the program may change its directory
	if err != nil {
		return nil, err
	}
	return pool.NewSegments(f, path, r.id, r.opts.segBytes, r.opts.segments, func(n int) {
		r.segments.Store(int64(n))
		if r.pool != nil {
			atomic.StoreUint64(&r.header()[format.StateFiles/8], uint64(n))
		}
	}, func(late error) { r.failed.Store(&late) }), nil
}
