//go:build !scope_off

package gotrace

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/sys"
)

const (
	factHeap = "gotrace_heap"

	// mostPlaces is the number of places of the heap profile that are read at most. Go's runtime
	// delays each pause of the program while it copies them, by 3 ms for that many.
	mostPlaces = 1 << 15
	// naming limits the time that a reading takes to look up names. Stacks without a name by then wait for the
	// next reading.
	naming = 10 * time.Millisecond
	// tries limits the look-ups of one name: the trace may have no room for it.
	tries = 5
	// rest is the ratio of the time between two readings to the time that a reading takes.
	rest = 100
)

// heapStart starts reading the heap profile, and returns the function that reads it. It is nil
// without WithHeap: then no code refers to runtime.MemProfile, and the linker leaves the profile
// switched off.
type heapStart func(collect.Recording, *perf.OwnNamer) (read func(urgency), err error)

// urgency says whether a reading can be put off.
type urgency uint8

const (
	forBeat     urgency = iota // it can
	forSnapshot                // it can't
	forStop                    // it can't, and it is the last
)

func withHeap(c *config) { c.startHeap = startHeap }

// heap is the heap profile, and how much of it the trace already has.
type heap struct {
	rec    collect.Recording
	names  *perf.OwnNamer
	rate   float64 // bytes per sample
	most   int     // limit of places
	list   []runtime.MemProfileRecord
	places map[place]*placed
	uses   map[uint32]*use // by the trace's stack id
	until  [4]int64        // by heapCounters: end of what the trace has, in ns of the monotonic clock
	next   time.Time       // time of the next reading
	over   bool            // it has grown too large
}

// place is the key of the profile's counts. The runtime cuts the outermost frames of longer
// stacks.
type place struct {
	stack [32]uintptr
	size  int64
}

// placed holds the allocations at a place. Objects come before bytes, as in heapCounters.
type placed struct {
	of    *place // nil once it has a name
	tries int
	stack uint32   // its name
	now   [4]int64 // as sampled: allocated, in use
	had   [2]int64 // allocated, as estimated, and already added to uses
}

// use holds what the calls of one stack allocated since the last write, and what they have in
// use.
type use struct {
	now     [4]int64
	written [2]int64 // in use, as last written
}

var heapCounters = [4]struct{ name, unit string }{
	{format.AllocObjects, "count"}, {format.AllocBytes, "bytes"}, {format.InUseObjects, "count"}, {format.InUseBytes, "bytes"},
}

func startHeap(rec collect.Recording, names *perf.OwnNamer) (read func(urgency), err error) {
	rate := runtime.MemProfileRate
	if rate <= 0 {
		return nil, fmt.Errorf("switched off by the program (runtime.MemProfileRate is %d)", rate)
	}
	rec.Fact(factHeap, fmt.Sprintf("on, with a sample after %d bytes", rate))
	return newHeap(rec, names, rate, mostPlaces).read, nil
}

func newHeap(rec collect.Recording, names *perf.OwnNamer, rate, most int) *heap {
	h := &heap{rec: rec, names: names, rate: float64(rate), most: most, places: map[place]*placed{}, uses: map[uint32]*use{}}
	for i := range h.until {
		h.until[i] = sys.Mono()
	}
	h.take()
	for _, p := range h.places { // allocations from before are not part of the recording
		p.had = h.estimate(p.now[0], p.now[1])
	}
	return h
}

// read brings the trace up to date, unless the last reading was too recent.
func (h *heap) read(why urgency) {
	begin := time.Now()
	if h.over || why == forBeat && begin.Before(h.next) {
		return
	}
	at := sys.Mono()
	if h.over = !h.take(); h.over {
		h.list, h.places, h.uses = nil, nil, nil
		h.rec.Fact(factHeap, fmt.Sprintf("off: more than %d allocation sites: the heap profile was not read further", h.most))
		return
	}
	wait := naming
	if why != forBeat {
		wait = patience
	}
	h.count(begin.Add(wait), why == forStop)
	h.next = time.Now().Add(rest * time.Since(begin))
	ok := h.write(at)
	for end := time.Now().Add(patience); !ok && why != forBeat && time.Now().Before(end); ok = h.write(at) {
		time.Sleep(again)
	}
}

// take reads the profile, and reports whether it is within the limit.
func (h *heap) take() bool {
	n, ok := runtime.MemProfile(h.list[:cap(h.list)], true)
	for !ok {
		if n > h.most {
			return false
		}
		h.list = make([]runtime.MemProfileRecord, n+n/8+64)
		n, ok = runtime.MemProfile(h.list, true)
	}
	for _, p := range h.places {
		p.now = [4]int64{}
	}
	for i := range h.list[:n] {
		r := &h.list[i]
		if r.AllocObjects == 0 {
			continue
		}
		k := place{r.Stack0, r.AllocBytes / r.AllocObjects}
		p := h.places[k]
		if p == nil {
			of := k
			p = &placed{of: &of}
			h.places[k] = p
		}
		for j, v := range [4]int64{r.AllocObjects, r.AllocBytes, r.InUseObjects(), r.InUseBytes()} {
			p.now[j] += v
		}
	}
	return true
}

// count sums up by stack. Places without a name wait for the next reading or, if this is the
// last, are counted under an unknown stack.
func (h *heap) count(end time.Time, last bool) {
	h.name(end, last)
	for _, u := range h.uses {
		u.now[2], u.now[3] = 0, 0
	}
	for _, p := range h.places {
		if p.of != nil {
			continue
		}
		u := h.uses[p.stack]
		if u == nil {
			u = new(use)
			h.uses[p.stack] = u
		}
		alloc, inUse := h.estimate(p.now[0], p.now[1]), h.estimate(p.now[2], p.now[3])
		for i := range alloc {
			u.now[i] += alloc[i] - p.had[i]
			u.now[2+i] += inUse[i]
		}
		p.had = alloc
	}
}

// name looks up the names of new stacks, largest first.
func (h *heap) name(end time.Time, last bool) {
	var fresh []*placed
	for _, p := range h.places {
		if p.of != nil && h.changed(p) > 0 {
			fresh = append(fresh, p)
		}
	}
	slices.SortFunc(fresh, func(a, b *placed) int { return cmp.Compare(h.changed(b), h.changed(a)) })
	for _, p := range fresh {
		if time.Now().Before(end) {
			p.stack = h.names.Stack(calls(p.of.stack[:]))
			p.tries++
		}
		if p.stack != format.OtherStacks || last || p.tries == tries {
			p.of = nil
		}
	}
}

// changed returns how many bytes of p the trace does not have yet: allocated since, plus in use.
func (h *heap) changed(p *placed) int64 {
	return h.estimate(p.now[0], p.now[1])[1] - p.had[1] + p.now[3]
}

// estimate scales samples up to the estimated totals, as runtime/pprof does.
func (h *heap) estimate(objects, bytes int64) [2]int64 {
	if objects == 0 || bytes == 0 || h.rate <= 1 {
		return [2]int64{objects, bytes}
	}
	size := float64(bytes) / float64(objects)
	scale := 1 / (1 - math.Exp(-size/h.rate))
	return [2]int64{int64(float64(objects) * scale), int64(float64(bytes) * scale)}
}

// write writes what the trace does not have yet, and reports whether there was room. In a ring
// it writes all that is in use, because earlier blocks may be overwritten.
func (h *heap) write(at int64) bool {
	var ids []uint32
	for c := range heapCounters {
		ids = ids[:0]
		for id, u := range h.uses {
			if c < 2 && u.now[c] > 0 || c >= 2 && (u.now[c] != u.written[c-2] || h.rec.Ring() > 0 && u.now[c] > 0) {
				ids = append(ids, id)
			}
		}
		for part := range slices.Chunk(ids, format.FullSamples) {
			if !h.block(c, part, at) {
				return false
			}
		}
	}
	return true
}

// block writes one counter of some stacks.
func (h *heap) block(c int, ids []uint32, at int64) bool {
	b := format.Samples{Base: h.until[c], Until: at, Counter: heapCounters[c].name, Unit: heapCounters[c].unit}
	for _, id := range ids {
		b.List = append(b.List, format.CodeSample{Time: at, Weight: max(h.uses[id].now[c], 0), Stack: id})
	}
	if !h.rec.Block(format.BlockSamples, format.AppendSamples(nil, &b)) {
		return false
	}
	h.until[c] = at
	for _, id := range ids {
		u := h.uses[id]
		if c < 2 {
			u.now[c] = 0
		} else {
			u.written[c-2] = u.now[c]
		}
	}
	return true
}

// calls returns the addresses of a stack as perf.OwnNamer takes them. It leaves out the
// runtime's own calls, which allocate, if there are others, as runtime/pprof does.
func calls(stack []uintptr) (pcs []uint64) {
	if i := slices.Index(stack, 0); i >= 0 {
		stack = stack[:i]
	}
	for _, hide := range []bool{true, false} {
		it := runtime.CallersFrames(stack)
		outer := false // the previous function was inlined into this one: same address
		for f, more := it.Next(); f.PC != 0; f, more = it.Next() {
			if hide = hide && (strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "internal/runtime/")); !hide {
				if !outer {
					pcs = append(pcs, uint64(f.PC))
				}
				outer = f.Func == nil
			}
			if !more {
				break
			}
		}
		if len(pcs) > 0 {
			break
		}
	}
	return pcs
}
