package membench

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	r, err := Measure(t.Context(), Options{Time: 200 * time.Millisecond, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	procs := runtime.GOMAXPROCS(0)
	if len(r.Points) == 0 || r.Points[len(r.Points)-1].Cores != procs || r.Cores != procs {
		t.Fatalf("%+v", r)
	}
	for _, p := range r.Points {
		// Less than a machine of 1995 had, or more than any has, can't be a measurement.
		if p.Copy < 1e7 || p.Copy > 1e14 || p.Triad < 1e7 || p.Triad > 1e14 || p.Compute < 1e5 {
			t.Errorf("%+v", p)
		}
	}
	if p := r.Inflation()[0]; p.MemoryInflation != 1 || p.ComputeInflation != 1 {
		t.Errorf("on one core inflated by %v, %v", p.MemoryInflation, p.ComputeInflation)
	}
}

func TestMeasureRefusesAndEnds(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	if _, err := Measure(t.Context(), Options{Cores: procs + 1}); err == nil || !strings.Contains(err.Error(), "can't be measured") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, Options{Bytes: 1 << 20}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSaturated(t *testing.T) {
	for _, w := range []struct {
		copies []float64
		want   int
	}{
		{[]float64{10}, 0},
		{[]float64{10, 20}, 0},
		{[]float64{10, 19, 27, 33}, 0},
		{[]float64{10, 10.5}, 1},
		{[]float64{10, 20, 21, 21}, 2},
		{[]float64{10, 20, 30, 26}, 3},
		{[]float64{10, 15, 14, 13}, 2},
	} {
		var ps []point
		for i, c := range w.copies {
			ps = append(ps, point{Cores: i + 1, Copy: c, Compute: float64(i + 1)})
		}
		if got, known := saturated(ps); got != w.want || !known {
			t.Errorf("%v: %d, %v, want %d", w.copies, got, known, w.want)
		}
		for i := range ps {
			ps[i].Compute = 1 + 0.1*float64(i) // the cores share their arithmetic units
		}
		if _, known := saturated(ps); known != (w.want == 0) {
			t.Errorf("%v on cores that are none: known %v", w.copies, known)
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int][]int{
		1: {1}, 2: {1, 2}, 8: {1, 2, 3, 4, 5, 6, 7, 8}, 9: {1, 2, 3, 4, 5, 6, 7, 8, 9},
		16: {1, 2, 3, 4, 5, 6, 7, 8, 16}, 40: {1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 40},
	} {
		if got := counts(n); !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}

func TestArrays(t *testing.T) {
	for _, w := range []struct {
		wanted int64
		m      facts
		bytes  int64
		doubt  string
	}{
		{0, facts{}, 256 << 20, "not known"},
		{0, facts{cache: 260 << 20, free: 64 << 30}, 1040 << 20, ""},
		{0, facts{cache: 8 << 20, free: 64 << 30}, 256 << 20, ""},
		{0, facts{cache: 260 << 20, free: 1 << 30}, 256 << 20, "not much larger"},
		{1 << 30, facts{cache: 260 << 20}, 1 << 30, ""},
		{1, facts{cache: 1 << 20}, 2 * 3 * block * 8, "not much larger"},
	} {
		bytes, doubt := arrays(w.wanted, w.m, 2)
		if bytes != w.bytes || (doubt == "") != (w.doubt == "") || !strings.Contains(doubt, w.doubt) {
			t.Errorf("%d, %+v: %d, %q", w.wanted, w.m, bytes, doubt)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"32K": 32 << 10, "260M": 260 << 20, "512": 512, "": 0, "K": 0, "-3K": 0, "9999999999999999K": 0} {
		if got, ok := parseSize(s); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %d, %v", s, got, ok)
		}
	}
}
