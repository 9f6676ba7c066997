package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBucket: each value is in the bucket with its bounds.
func TestBucket(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	check := func(v int64) {
		b := Bucket(v)
		low, high := math.Exp2(float64(b)/16), math.Exp2(float64(b+1)/16)
		if float64(v) < low*(1-1e-12) || float64(v) >= high*(1+1e-12) {
			t.Fatalf("%d is in bucket %d, from %g to %g", v, b, low, high)
		}
	}
	for v := range int64(5000) {
		if v > 0 {
			check(v)
		}
	}
	for range 100_000 {
		check(rnd.Int64()>>rnd.IntN(62) | 1)
	}
	for _, v := range []int64{0, -1, math.MinInt64} {
		if Bucket(v) != Zero {
			t.Errorf("%d is in bucket %d", v, Bucket(v))
		}
	}
	if b := Bucket(math.MaxInt64); b-Zero >= Buckets {
		t.Errorf("there is no bucket %d", b)
	}
}

// TestError: quantiles of merged histograms are as far from the exact ones as is promised, and
// merging loses nothing.
func TestError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var all []int64
	var merged [Buckets]int64
	for range 20 {
		var one [Buckets]int64
		for range 5000 {
			v := int64(math.Exp(rnd.NormFloat64()*2 + 9))
			all = append(all, v)
			one[Bucket(v)-Zero]++
		}
		for i, n := range one {
			merged[i] += n
		}
	}
	slices.Sort(all)
	worst := 0.0
	for _, q := range []float64{0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
		rank, sum := q*float64(len(all)), int64(0)
		exact := float64(all[max(int(math.Ceil(rank)), 1)-1])
		for i, n := range merged {
			if sum += n; float64(sum) >= rank {
				worst = max(worst, math.Abs(middle(int64(i)+Zero)/exact-1))
				break
			}
		}
	}
	if worst > Error || Error > 0.0222 {
		t.Errorf("a quantile is off by %g, and %g is promised", worst, Error)
	}
}

// middle is the value that stands for a bucket, in ns.
func middle(bucket int64) float64 {
	if bucket < 0 {
		return 0
	}
	return math.Exp2((float64(bucket) + 0.5) / (1 << Scale))
}

// TestCounts: few buckets and many are counted alike.
func TestCounts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, kinds := range []int{1, 7, 8, 9, 100} {
		var c Counts
		want := map[int64]int64{}
		for range 1000 {
			b, n := Zero+rnd.Int64N(int64(kinds)), 1+rnd.Int64N(3)
			c.Add(b, n)
			want[b] += n
		}
		last := int64(Zero - 1)
		c.Each(func(b, n int64) {
			if b <= last || want[b] != n {
				t.Errorf("bucket %d has %d, want %d", b, n, want[b])
			}
			last = b
			delete(want, b)
		})
		if len(want) != 0 {
			t.Errorf("%v is missing", want)
		}
	}
}
