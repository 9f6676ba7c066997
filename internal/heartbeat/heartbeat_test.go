package heartbeat

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

func fieldOf(vs []format.FieldValue, f format.Field) (int64, bool) {
	for _, v := range vs {
		if v.Field == f {
			return v.Value, true
		}
	}
	return 0, false
}

func TestSampleRuntimeFields(t *testing.T) {
	s := New()
	hold := make(chan struct{})
	defer close(hold)
	before, _ := s.Sample(nil, nil)
	for range 50 {
		go func() { <-hold }()
	}
	runtime.GC()
	after, _ := s.Sample(nil, nil)

	if v, _ := fieldOf(after, format.FieldGOMAXPROCS); v != int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("gomaxprocs = %d, want %d", v, runtime.GOMAXPROCS(0))
	}
	for _, grown := range []struct {
		field format.Field
		by    int64
	}{
		{format.FieldGoroutines, 45}, // some of an earlier test may end meanwhile
		{format.FieldGCCycles, 1},
		{format.FieldGCPauses, 1},
	} {
		b, okB := fieldOf(before, grown.field)
		a, okA := fieldOf(after, grown.field)
		if !okB || !okA || a-b < grown.by {
			t.Errorf("%v went from %d (known: %v) to %d (%v), want at least %d more", grown.field, b, okB, a, okA, grown.by)
		}
	}
	heap, _ := fieldOf(after, format.FieldHeap)
	goal, _ := fieldOf(after, format.FieldHeapGoal)
	if heap <= 0 || goal <= 0 {
		t.Errorf("heap = %d with goal %d, want both above 0", heap, goal)
	}
}

func TestSampleHasNoFieldTwice(t *testing.T) {
	vs, _ := New().Sample(nil, nil)
	seen := make(map[format.Field]bool)
	for _, v := range vs {
		if seen[v.Field] {
			t.Errorf("field %v appears twice", v.Field)
		}
		if v.Value < 0 {
			t.Errorf("%v = %d, want no negative value", v.Field, v.Value)
		}
		seen[v.Field] = true
	}
}

func TestSampleAppends(t *testing.T) {
	first := format.FieldValue{Field: format.FieldRecorded, Value: 7}
	thread := format.Thread{ID: 1, CPU: 2, Wait: 3}
	vs, ts := New().Sample([]format.FieldValue{first}, []format.Thread{thread})
	if vs[0] != first || ts[0] != thread {
		t.Errorf("what the slices held is now %v and %v, want %v and %v", vs[0], ts[0], first, thread)
	}
}

func TestSumPauses(t *testing.T) {
	h := &metrics.Float64Histogram{
		Buckets: []float64{math.Inf(-1), 0, 1e-6, 5e-6, 1e-3, math.Inf(1)},
		Counts:  []uint64{0, 2, 3, 0, 1},
	}
	count, sum, longest := sumPauses(h)
	if count != 6 || sum != 3*1000+1_000_000 || longest != 1_000_000 {
		t.Errorf("sumPauses = %d, %d, %d, want 6, 1003000, 1000000", count, sum, longest)
	}
	if count, sum, longest := sumPauses(&metrics.Float64Histogram{Buckets: []float64{math.Inf(-1), 0}, Counts: []uint64{0}}); count != 0 || sum != 0 || longest != 0 {
		t.Errorf("sumPauses of an empty histogram = %d, %d, %d, want zeros", count, sum, longest)
	}
}
