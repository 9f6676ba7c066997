package heartbeat

import (
	"fmt"
	"math"
	"runtime/metrics"

	"github.com/scopeview/scopeview/internal/format"
)

// The Go runtime's metrics, and the fields that they fill one to one.
var runtimeFields = []struct {
	metric string
	field  format.Field
}{
	{"/sched/goroutines:goroutines", format.FieldGoroutines},
	{"/memory/classes/heap/objects:bytes", format.FieldHeap},
	{"/gc/heap/goal:bytes", format.FieldHeapGoal},
	{"/gc/cycles/total:gc-cycles", format.FieldGCCycles},
	{"/sched/gomaxprocs:threads", format.FieldGOMAXPROCS},
}

const pauseMetric = "/sched/pauses/total/gc:seconds"

// runtimeReader reads the runtime's metrics. None of them stops the world, and
// metrics.Read reuses the histogram of the samples passed to it.
type runtimeReader struct {
	samples []metrics.Sample // those of runtimeFields, then the pauses
}

func newRuntimeReader() runtimeReader {
	var r runtimeReader
	for _, f := range runtimeFields {
		r.samples = append(r.samples, metrics.Sample{Name: f.metric})
	}
	r.samples = append(r.samples, metrics.Sample{Name: pauseMetric})
	return r
}

func (r *runtimeReader) read(b *beat) {
	metrics.Read(r.samples)
	for i, f := range runtimeFields {
		if v := r.samples[i].Value; v.Kind() == metrics.KindUint64 {
			b.put(f.field, clampInt64(v.Uint64()))
		} else {
			b.fail(f.field.String(), fmt.Errorf("this Go version has no metric %s", f.metric))
		}
	}
	pauses := r.samples[len(runtimeFields)].Value
	if pauses.Kind() != metrics.KindFloat64Histogram {
		b.fail("GC pauses", fmt.Errorf("this Go version has no metric %s", pauseMetric))
		return
	}
	count, sum, longest := sumPauses(pauses.Float64Histogram())
	b.put(format.FieldGCPauses, count)
	b.put(format.FieldGCPauseNS, sum)
	b.put(format.FieldGCPauseMaxNS, longest)
}

// sumPauses adds up a histogram in seconds. Each pause counts with the lower
// bound of its bucket, so the sum never overstates.
func sumPauses(h *metrics.Float64Histogram) (count, sumNS, maxNS int64) {
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		low := h.Buckets[i]
		if low < 0 { // the first bucket begins at -Inf
			low = 0
		}
		ns := int64(math.Round(low * 1e9))
		count += int64(n)
		sumNS += int64(n) * ns
		maxNS = ns
	}
	return count, sumNS, maxNS
}

func clampInt64(v uint64) int64 { return int64(min(v, math.MaxInt64)) }
