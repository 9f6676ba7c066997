//go:build !scope_off

package scope

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/mmpool"
)

// newPool makes the pool over the trace file f, on the backing that was asked for,
// or else on the best that there is here. Why it is none better is put into w.
func (r *recorder) newPool(f *os.File, w *reasons) (pool *mmpool.Pool, err error) {
	po := mmpool.Options{File: f, Limit: max(r.opts.limit, 0)}
	if r.opts.ring > 0 {
		po.Limit, po.Ring, po.Overwrite = 0, r.opts.ring, r.overwrite
	}
	if r.fast != nil {
		po.States = r.fast.States()
	}
	kind, asked := r.opts.backing, r.opts.backingSet
	if !asked {
		kind = r.bestBacking(f)
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
		w.backing = err.Error()
		kind = DiskBacking
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

// bestBacking is what a recording uses that does not ask for one.
func (r *recorder) bestBacking(f *os.File) BackingKind {
	if !haveDisk {
		return HeapBacking
	}
	return DiskBacking
}

// closeHot removes the hot file, if the trace has all that was in it; else readers
// find it, and a later recording brings it into the trace.
func (r *recorder) closeHot(all bool) {
	if r.hot == nil {
		return
	}
	if all {
		os.Remove(r.hot.Name())
	}
	r.hot.Close()
	r.hot = nil
}
