//go:build !scope_off

package record

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/pool"
)

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
