package count

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// mostAllocating is the maximum number of allocating call stacks written, the largest first.
const mostAllocating = 500

// heap is Go's own heap profile, read at each writing.
type heap struct {
	rate    int // bytes between two samples, at the start of counting
	unknown int64
	records []runtime.MemProfileRecord
	names   map[[Depth]uintptr]allocated
}

// allocated is an allocating call stack, as frame numbers.
type allocated struct {
	stack []int
	ours  bool
}

// allocating is a row of allocations with its call stack.
type allocating struct {
	row.Row
	stack []int
}

// samplingRate returns runtime.MemProfileRate, which the program may set at any time.
//
//go:norace
func samplingRate() int { return runtime.MemProfileRate }

// allocations returns the rows of all allocations. Frees are known as of the collection
// before the last, and for allocations until then. If the program has changed the sampling
// rate nothing is known: the profile does not have each sample's rate.
func (w *writer) allocations() []*allocating {
	h := &w.heap
	if rate := samplingRate(); rate != h.rate || rate <= 0 {
		h.unknown = 1
		return nil
	}
	for {
		n, ok := runtime.MemProfile(h.records[:cap(h.records)], true)
		if ok {
			h.records = h.records[:n]
			break
		}
		h.records = make([]runtime.MemProfileRecord, 0, n+n/4+64)
	}
	stacks := map[[Depth]uintptr]*allocating{}
	for i := range h.records {
		p := &h.records[i]
		var key [Depth]uintptr
		copy(key[:min(c.rows.depth, Depth)], p.Stack0[:])
		r := stacks[key]
		if r == nil {
			name := h.name(&w.frames, key)
			if name.ours || len(name.stack) == 0 && c.rows.depth > 0 { // or the runtime's
				continue
			}
			r = &allocating{row.Row{Kind: row.Alloc}, name.stack}
			stacks[key] = r
		}
		scale := scaled(p.AllocObjects, p.AllocBytes, h.rate)
		r.V[row.Made] += p.AllocObjects
		r.V[row.Allocs] += int64(float64(p.AllocObjects) * scale)
		r.V[row.AllocBytes] += int64(float64(p.AllocBytes) * scale)
		r.V[row.Frees] += int64(float64(p.FreeObjects) * scale)
		r.V[row.LenBytes] += int64(float64(p.AllocBytes-p.FreeBytes) * scale)
	}
	list := make([]*allocating, 0, len(stacks))
	for _, r := range stacks {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *allocating) int { return cmp.Compare(b.V[row.AllocBytes], a.V[row.AllocBytes]) })
	return list[:min(len(list), mostAllocating)]
}

// scaled returns the number of objects that a sampled one represents: large ones are sampled
// more often.
func scaled(objects, bytes int64, rate int) float64 {
	if objects == 0 || bytes == 0 || rate <= 1 {
		return 1
	}
	return 1 / (1 - math.Exp(-float64(bytes)/float64(objects)/float64(rate)))
}

func (h *heap) name(f *frames, key [Depth]uintptr) allocated {
	n, ok := h.names[key]
	if ok {
		return n
	}
	if h.names == nil {
		h.names = map[[Depth]uintptr]allocated{}
	}
	pcs := key[:]
	if end := slices.Index(pcs, 0); end >= 0 {
		pcs = pcs[:end]
	}
	n.stack, n.ours = outside(f.logical(pcs))
	h.names[key] = n
	return n
}
