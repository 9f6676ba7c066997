package samples

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// heapMetrics are the metrics of Go's heap profile. They have the names of the counters.
var heapMetrics = []Metric{
	{Name: format.AllocBytes, Title: "bytes that were allocated, by Go's heap profile", Unit: Bytes, Sampled: true},
	{Name: format.AllocObjects, Title: "objects that were allocated, by Go's heap profile", Unit: Count, Sampled: true},
	{Name: format.InUseBytes, Title: "bytes in use at the end, by Go's heap profile", Unit: Bytes, Sampled: true, Level: true},
	{Name: format.InUseObjects, Title: "objects in use at the end, by Go's heap profile", Unit: Count, Sampled: true, Level: true},
}

// Notes of a recording with the heap profile.
const (
	heapOld   = "allocations, and memory in use, are from Go's heap profile, which is up to two garbage collections behind"
	heapWhose = "allocations are left out: Go's heap profile does not record goroutines"
)

// heap collects the samples of the heap profile. Allocations are counted at once. Memory in
// use is the last value before the end of the range, wherever that begins.
type heap struct {
	r       *goReader
	metrics map[string]int // by counter
	levels  map[level]one
}

// level identifies the memory in use of one of the trace's stacks.
type level struct {
	stack  uint32
	metric int
}

// isHeap reports whether a counter is of the heap profile.
func isHeap(counter string) bool {
	return slices.ContainsFunc(heapMetrics, func(m Metric) bool { return m.Name == counter })
}

// newHeap adds the metrics of the heap profile, if there is one. A selection by goroutine,
// row or scope has none of it: the profile does not record these.
func (r *goReader) newHeap(t *trace.Trace) *heap {
	h := &heap{r: r, metrics: map[string]int{}, levels: map[level]one{}}
	fact := t.Lookup("gotrace_heap")
	if strings.HasPrefix(fact, "off") {
		r.p.Notes = append(r.p.Notes, "Go's heap profile is "+fact)
	}
	switch {
	case !strings.HasPrefix(fact, "on") && !slices.ContainsFunc(t.Counters(), func(c trace.Counter) bool { return isHeap(c.Name) }):
	case !r.sel.anyone():
		r.p.Notes = append(r.p.Notes, heapWhose)
	default:
		r.p.Notes = append(r.p.Notes, heapOld)
		for _, m := range heapMetrics {
			h.metrics[m.Name] = r.metric(m)
		}
	}
	return h
}

// take adds a sample of a stack.
func (h *heap) take(x *trace.Sample, stack uint32) {
	metric, ok := h.metrics[x.Counter]
	if !ok || x.Time >= h.r.sel.to() {
		return
	}
	one := one{time: x.Time, value: x.Weight, stack: stack, metric: uint16(metric)}
	switch {
	case h.r.p.Metrics[metric].Level:
		h.levels[level{x.Stack, metric}] = one
	case x.Time >= h.r.sel.From:
		h.count(&one)
	}
}

// count counts a sample. It was in no scope, so it need not wait for a scope's name.
func (h *heap) count(x *one) {
	h.r.p.Samples++
	h.r.count(x, "")
}

// finish counts the memory in use.
func (h *heap) finish() {
	keys := make([]level, 0, len(h.levels))
	for k := range h.levels {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b level) int { return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.metric, b.metric)) })
	for _, k := range keys {
		if x := h.levels[k]; x.value > 0 {
			h.count(&x)
		}
	}
}
