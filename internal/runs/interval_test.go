package runs

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder: the bounds of intervals agree with the published critical values of the U test
// (two-sided, 5 %): a critical value of u leaves out u+1 differences at either side, and the
// bound is the next one.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ m, n, critical int }{
		{4, 4, 0}, {3, 5, 0}, {2, 8, 0}, {5, 4, 1}, {5, 5, 2}, {5, 8, 6}, {6, 6, 5}, {7, 7, 8}, {8, 8, 13}, {9, 9, 17},
		{10, 5, 8}, {10, 10, 23}, {12, 12, 37}, {15, 15, 64}, {20, 20, 127},
	} {
		o := Intervals{}.order(c.m, c.n)
		if o.left != c.critical || o.confidence < Wanted || o.confidence > 0.99 {
			t.Errorf("%d and %d: %+v, and the critical value is %d", c.m, c.n, o, c.critical)
		}
	}
	for _, c := range []struct {
		m, n int
		want float64
	}{{2, 2, 2. / 3}, {2, 3, 0.8}, {3, 3, 0.9}, {3, 4, 33. / 35}, {4, 4, 34. / 35}, {5, 5, 1 - 8./252}} {
		if o := (Intervals{}).order(c.m, c.n); math.Abs(o.confidence-c.want) > 1e-12 {
			t.Errorf("%d and %d: confidence %v, want %v", c.m, c.n, o.confidence, c.want)
		}
	}
}

// TestInterval: it contains exactly the differences that the U test, over all assignments of
// the values to the two sides, does not reject.
func TestInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		m, n := 2+random.IntN(4), 4+random.IntN(3)
		a, b := make([]float64, m), make([]float64, n)
		for i := range a {
			a[i] = random.ExpFloat64()
		}
		for i := range b {
			b[i] = random.ExpFloat64() + 0.7
		}
		slices.Sort(a)
		slices.Sort(b)
		low, high, confidence := Intervals{}.Of(a, b)
		const little = 1e-9
		for shift, inside := range map[float64]bool{low - little: false, low + little: true, high - little: true, high + little: false} {
			p := permutationTest(a, b, shift)
			if rejected := p < 1-confidence+little; rejected == inside {
				t.Errorf("%d and %d runs, %v to %v with %v: a difference of %v has p = %v", m, n, low, high, confidence, shift, p)
			}
		}
	}
}

// permutationTest returns the probability that two samples of the same distribution, of
// which b is shifted, differ as much by their U.
func permutationTest(a, b []float64, shift float64) float64 {
	type value struct {
		v   float64
		isA bool
	}
	var all []value
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v - shift, false})
	}
	slices.SortFunc(all, func(x, y value) int {
		if x.v < y.v {
			return -1
		}
		return 1
	})
	var dealt uint
	for i, x := range all {
		if x.isA {
			dealt |= 1 << i
		}
	}
	u := func(deal uint) int { // pairs in which a's value is larger, or b's if those are fewer
		n, lower := 0, 0
		for i := range all {
			if deal>>i&1 == 1 {
				n += lower
			} else {
				lower++
			}
		}
		return min(n, len(a)*len(b)-n)
	}
	far, count := 0, 0
	for deal := range uint(1) << len(all) {
		if bits.OnesCount(deal) != len(a) {
			continue
		}
		count++
		if u(deal) <= u(dealt) {
			far++
		}
	}
	return float64(far) / float64(count)
}

// TestIntervalOfKnown: intervals computed by hand.
func TestIntervalOfKnown(t *testing.T) {
	for _, c := range []struct {
		a, b      []float64
		low, high float64
	}{
		{[]float64{10, 11}, []float64{20, 23}, 9, 13},
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, -3, 3},
		{[]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}, 0, 0},
		// 25 differences, of which 2 are left out at either side.
		{[]float64{0, 10, 20, 30, 40}, []float64{100, 101, 102, 103, 104}, 62, 102},
	} {
		if low, high, _ := (Intervals{}).Of(c.a, c.b); low != c.low || high != c.high {
			t.Errorf("%v and %v: %v to %v, want %v to %v", c.a, c.b, low, high, c.low, c.high)
		}
	}
}
