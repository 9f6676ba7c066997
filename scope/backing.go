//go:build !scope_off

package scope

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/scopeview/scopeview/mmpool"
)

// remote is replaced by a test: the machine that runs it has no such file systems.
var remote = mmpool.Remote

// newPool makes the pool over the trace file f, on the backing that was asked for,
// or else on the best that there is here. Why it is none better is put into w.
func (r *recorder) newPool(f *os.File, w *reasons) (pool *mmpool.Pool, err error) {
	po := mmpool.Options{File: f, Limit: max(r.opts.limit, 0)}
	if r.opts.ring > 0 {
		po.Limit, po.Ring, po.Overwrite = 0, r.opts.ring, r.ring.reuse
	}
	if r.opts.segmenter != nil {
		if po.Files, err = r.opts.segmenter(r, f); err != nil {
			return nil, err
		}
	}
	if r.fast != nil {
		po.States = r.fast.States()
	}
	kind, asked := r.opts.backing, r.opts.backingSet
	if !asked {
		kind = bestBacking(f)
	}
	if kind == ShmBacking {
		if err = r.createHot(&po); err == nil {
			if pool, err = mmpool.New(po); err == nil {
				return pool, nil
			}
			r.closeHot(true)
			po.Hot = nil
		}
		if asked {
			return nil, fmt.Errorf("the backing shm: %w", err)
		}
		w.backing, kind = err.Error(), DiskBacking
		if name, ok := remote(f); ok {
			w.backing, kind = fmt.Sprintf("the trace is on %s; %v", name, err), HeapBacking
		}
	}
	if kind == DiskBacking {
		if pool, err = mmpool.New(po); err == nil || asked || mmpool.IsNoSpace(err) {
			return pool, err
		}
		// A file system without mmap: the heap does it, and we say so.
		w.backing = err.Error()
	}
	po.Heap, po.States = true, nil
	r.fast = nil
	return mmpool.New(po)
}

// bestBacking is what a recording uses that does not ask for one: memory of a
// tmpfs, where there is one with room. On a file system that was frozen for three
// seconds a program that recorded into mapped pages of it stood still for as long,
// all of it, as soon as the collector wanted the world to stop; with the pages in
// memory nothing waited, and nothing was lost. It costs a copy of what is written, on
// a goroutine of ours. A trace that is on a tmpfs needs none.
func bestBacking(f *os.File) BackingKind {
	switch {
	case !haveDisk:
		return HeapBacking
	case inMemory(f):
		return DiskBacking
	}
	return ShmBacking
}

// closeHot removes the hot file, if the trace has all that was in it; else readers
// find it, and a later recording brings it into the trace. Where it can't be removed,
// after setuid or chroot, its memory is given back all the same.
func (r *recorder) closeHot(all bool) (err error) {
	if r.hot == nil {
		return nil
	}
	if all {
		if err = os.Remove(r.hot.Name()); err != nil {
			_ = r.hot.Truncate(0)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // removed already, or out of our sight: a later recording removes what is empty
		} else if err != nil {
			err = fmt.Errorf("the trace is whole, and its hot file, now empty, stays; remove it: %w", err)
		}
	}
	r.hot.Close()
	r.hot = nil
	return err
}
