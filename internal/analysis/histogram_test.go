package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantileExactForFew(t *testing.T) {
	var h histogram
	if h.Quantile(0.5) != 0 || h.Count() != 0 {
		t.Error("an empty histogram has a median")
	}
	for i := int64(10); i > 0; i-- {
		h.add(i * 1000)
	}
	for _, test := range []struct {
		q    float64
		want int64
	}{{0, 1000}, {0.1, 1000}, {0.11, 2000}, {0.5, 5000}, {0.9, 9000}, {0.99, 10000}, {1, 10000}} {
		if got := h.Quantile(test.q); got != test.want {
			t.Errorf("quantile %v: %d, want %d", test.q, got, test.want)
		}
	}
}

// TestQuantileError checks the histogram's error bound against sorted values, for shapes
// that a trace has: even, long-tailed, two humps, constant, huge.
func TestQuantileError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() int64{
		"even":     func() int64 { return rnd.Int64N(1_000_000) },
		"tail":     func() int64 { return int64(math.Exp(rnd.NormFloat64()*3 + 8)) },
		"humps":    func() int64 { return []int64{200, 5_000_000}[rnd.IntN(2)] + rnd.Int64N(50) },
		"constant": func() int64 { return 123_456_789 },
		"small":    func() int64 { return rnd.Int64N(130) },
		"huge":     func() int64 { return math.MaxInt64 - rnd.Int64N(1<<60) },
	}
	for name, next := range shapes {
		var h histogram
		var all []int64
		for range 20_000 {
			v := next()
			h.add(v)
			all = append(all, v)
		}
		slices.Sort(all)
		if h.Min() != all[0] || h.Max() != all[len(all)-1] || h.Count() != int64(len(all)) {
			t.Errorf("%s: min %d max %d count %d", name, h.Min(), h.Max(), h.Count())
		}
		for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
			want := all[max(int(math.Ceil(q*float64(len(all))-1e-6)), 1)-1]
			got := h.Quantile(q)
			if off := math.Abs(float64(got-want)) / float64(max(want, 1)); off > 0.01 {
				t.Errorf("%s: quantile %v is %d, want %d: off by %.2f %%", name, q, got, want, 100*off)
			}
		}
	}
}

// TestBuckets checks the borders of all buckets: each value lies in its bucket, and below
// 128 alone.
func TestBuckets(t *testing.T) {
	for shift := range 63 {
		for d := int64(-2); d <= 2; d++ {
			v := int64(1)<<shift + d
			if v < 0 {
				continue
			}
			o, b := bucketOf(v)
			if b < 0 || b >= buckets || o < 0 || o >= 64 {
				t.Fatalf("%d: octave %d, bucket %d", v, o, b)
			}
			if m := middle(o, b); math.Abs(float64(m-v)) > float64(v)/128 {
				t.Errorf("%d stands as %d", v, m)
			} else if v < 128 && m != v {
				t.Errorf("%d, below 128, stands as %d", v, m)
			}
		}
	}
}

func TestNegativeCountsAsZero(t *testing.T) {
	var h histogram
	for range exactCount + 1 {
		h.add(-5)
	}
	if h.Min() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 {
		t.Errorf("min %d, median %d, max %d", h.Min(), h.Quantile(0.5), h.Max())
	}
}
