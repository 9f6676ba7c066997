package timeline

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/internal/trace"
)

// cacheMost is the maximum size in bytes of the cached stretches.
const cacheMost = 64 << 20

// pieceCache has the last stretches read.
type pieceCache struct {
	mu   sync.Mutex
	list []piece // the last one used is last
	size int64
}

// piece is a stretch that was read again.
type piece struct {
	stretch int
	index   *Index
	size    int64
}

// pieces returns an index of the items that began in the stretches from first to last, and
// of those that ran when these began: of every item, or of runs at a resolution.
func (x *Index) pieces(ctx context.Context, first, last int, res int64) (*Index, error) {
	list, err := x.piecesOf(ctx, first, last)
	if err != nil || len(list) == 1 {
		return list[0], err
	}
	y := x.blank()
	if res > 1 {
		y.thin = x.thinPart(res)
	}
	(&joining{whole: x, y: y}).join(list, first)
	y.orderAs(x)
	return y, nil
}

// piecesOf returns the stretches from first to last, each with the items that ran when it
// began.
func (x *Index) piecesOf(ctx context.Context, first, last int) ([]*Index, error) {
	return x.thin.cache.get(first, last, func(first int, list []*Index) error { return x.readPieces(ctx, first, list) })
}

// readPieces reads consecutive stretches, each with the items that ran when it began.
func (x *Index) readPieces(ctx context.Context, first int, list []*Index) error {
	begins, to := x.thin.begins[first:], int64(math.MaxInt64)
	if len(list) < len(begins) {
		to = begins[len(list)] - 1
	}
	for i := range list {
		list[i] = x.blank()
		x.enter(list[i], begins[i])
	}
	k := 0
	err := x.reading(ctx, begins[0], to, func(e *trace.Event) {
		if e.Start < begins[k] || k+1 < len(list) && e.Start >= begins[k+1] {
			k = x.thin.of(e.Start) - first
		}
		list[k].take(e)
	})
	for _, y := range list {
		y.orderAs(x)
	}
	return err
}

// get returns the stretches from first to last; it reads missing ones on all processors.
func (c *pieceCache) get(first, last int, read func(first int, list []*Index) error) ([]*Index, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*Index, last-first+1)
	asked := func(p piece) bool { return p.stretch >= first && p.stretch <= last }
	for _, p := range c.list {
		if asked(p) {
			out[p.stretch-first] = p.index
		}
	}
	missing := 0
	for _, x := range out {
		if x == nil {
			missing++
		}
	}
	most := (missing + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	errs := make([]error, len(out))
	var wg sync.WaitGroup
	for i := 0; i < len(out); {
		n := 0 // several consecutive ones at once: they share chunks
		for i+n < len(out) && n < most && out[i+n] == nil {
			n++
		}
		if n > 0 {
			at := i
			wg.Go(func() { errs[at] = read(first+at, out[at:at+n]) })
		}
		i += max(n, 1)
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return out, err
	}
	c.list = slices.DeleteFunc(c.list, asked)
	for i, x := range out {
		c.list = append(c.list, piece{first + i, x, x.bytes()})
	}
	c.size = 0
	for _, p := range c.list {
		c.size += p.size
	}
	for c.size > cacheMost && len(c.list) > 1 {
		c.size -= c.list[0].size
		c.list = slices.Delete(c.list, 0, 1)
	}
	return out, nil
}

// thinPart returns the thin index for a part of the trace, at a resolution.
func (x *Index) thinPart(res int64) *thinIndex {
	th := newThin(Size{Runs: math.MaxInt, Every: math.MaxInt64})
	if th.base, th.loading = res, false; x.thin.mixed {
		th.base = fineness(res)
	}
	return th
}

// bytes estimates the memory of an index.
func (x *Index) bytes() int64 {
	const perItem, perRow, perText = 28, 400, 16
	return perItem*x.items + perRow*int64(len(x.rows)) + perText*int64(len(x.texts.ends)) + int64(len(x.texts.bytes))
}
