//go:build !scope_off

package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// remote is replaced by a test: the machine that runs it has no such file systems.
var remote = pool.Remote

// newPool makes the pool over the trace file, on the backing that was asked for,
// or else on the best that there is here. Why it is none better is put into w.
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
		// A file system without mmap: the heap does it, and we say so.
		w.backing = err.Error()
	}
	po.Heap, po.States, po.Dry, po.Left = true, nil, nil, r.memoryLeft(true)
	r.fast = nil
	return pool.New(po)
}

// bestBacking is what a recording uses that does not ask for one: memory of a
// tmpfs, where there is one with room. On a file system that was frozen for three
// seconds a program that recorded into mapped pages of it stood still for as long,
// all of it, as soon as the collector wanted the world to stop; with the pages in
// memory nothing waited, and nothing was lost. It costs a copy of what is written, on
// a goroutine of ours. A trace that is on a tmpfs needs none.
func bestBacking(tmpfs bool) format.Backing {
	switch {
	case !haveDisk:
		return format.BackingHeap
	case tmpfs:
		return format.BackingDisk
	}
	return format.BackingShm
}

// What chunks may take of memory that wait to be written, where nothing else is asked for: up
// to waitMost, on tmpfs more if that is a part of what there is (waitShare), and of a
// container's memory at most a part.
const (
	waitMost = 128 << 20
	waitPart = 16
	// waitShareMost is below what readers of hot files look through in a table for each reading.
	waitShareMost = 448 << 20
)

// waitShare is how many bytes may wait in a hot file where nothing is asked for. That is a
// sixteenth of what its tmpfs has free, and the machine, but at least waitMost; of a
// container's memory it is at most part. It takes no memory before the disk is late, and the
// pool leaves a twentieth of tmpfs to others whatever it may have.
func waitShare(tmpfs, machine, part int64) int64 {
	return min(max(waitMost, min(tmpfs/waitPart, machine/waitPart, waitShareMost)), part)
}

// ownThreads is how many threads a recording adds at most to those that the program has
// without: of who works in memory, of who writes to the disk, and of who brings home what
// killed programs have left. goThreads is what Go has besides one for each processor.
const (
	ownThreads = 3
	goThreads  = 3
)

// limits says how much memory the pool may have, or that the program has no threads or no
// memory to spare: the Go runtime ends one that gets none. Where addresses are short it
// has the recording use the heap, and returns why.
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
				part = 4 // the pool has no more than this part of what is left
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

// closeHot removes the hot file, if the trace has all that was in it; else readers
// find it, and a later recording brings it into the trace. Where it can't be removed,
// after setuid or chroot, its memory is given back all the same if nothing of it is mapped
// any more: else who is late by a recording would meet a page that is gone.
func (r *recorder) closeHot(all, unmapped bool) (err error) {
	if r.hot == nil {
		return nil
	}
	if all {
		if err = os.Remove(r.hot.Name()); err != nil && unmapped {
			_ = r.hot.Truncate(0)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // removed already, or out of our sight: a later recording removes what is empty
		} else if err != nil {
			empty := ", now empty,"
			if !unmapped {
				empty = ""
			}
			err = fmt.Errorf("the trace is whole, and its hot file%s stays; remove it: %w", empty, err)
		}
	}
	r.hot.Close()
	r.hot = nil
	return err
}
