package runs

import "slices"

// Wanted is the confidence of an interval, if there are enough runs.
const Wanted = 0.95

// Intervals computes confidence intervals by Mann and Whitney's U test, like benchstat: of
// all differences between a run of B and a run of A, the interval leaves out as many of the
// smallest and of the largest as the test would. It assumes no distribution of the values,
// so it needs 4 runs a side for 95 %. With fewer, the interval extends from the smallest
// difference to the largest, and its confidence is lower: 90 % for 3 and 3.
type Intervals map[[2]int]order

// order has the indexes of the sorted differences that bound an interval.
type order struct {
	left       int // number left out at either side
	confidence float64
}

// Of returns the bounds of the difference between b's and a's runs.
func (x Intervals) Of(a, b []float64) (low, high, confidence float64) {
	o := x.order(len(a), len(b))
	d := differences(a, b)
	return d[o.left], d[len(d)-1-o.left], o.confidence
}

// Confidence returns the confidence of an interval of m and n runs.
func (x Intervals) Confidence(m, n int) float64 { return x.order(m, n).confidence }

func (x Intervals) order(m, n int) order {
	o, ok := x[[2]int{m, n}]
	if !ok {
		o = orderOf(m, n)
		x[[2]int{m, n}] = o
	}
	return o
}

// orderOf leaves out as many differences as the confidence allows.
func orderOf(m, n int) order {
	ways, all := orderings(m, n)
	below := ways[0]
	o := order{0, 1 - 2*below/all}
	for o.left+1 < len(ways) {
		below += ways[o.left+1]
		if c := 1 - 2*below/all; c >= Wanted {
			o = order{o.left + 1, c}
			continue
		}
		break
	}
	return o
}

// orderings counts the orders of m and n values by their number u of inverted pairs:
// ways[u], up to half of the pairs.
func orderings(m, n int) (ways []float64, all float64) {
	half := m*n/2 + 1
	t := make([][]float64, m+1) // of i and, so far, j values
	for i := range t {
		t[i] = make([]float64, half)
		t[i][0] = 1
	}
	all = 1
	for j := 1; j <= n; j++ {
		for i := 1; i <= m; i++ {
			for u := j; u < half; u++ {
				t[i][u] += t[i-1][u-j]
			}
		}
		all *= float64(m+j) / float64(j)
	}
	return t[m], all
}

// Shift returns the median of all differences between b's and a's runs: the estimate of
// Hodges and Lehmann, which lies in the interval.
func Shift(a, b []float64) float64 {
	d := differences(a, b)
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

// differences returns the differences of all pairs, sorted.
func differences(a, b []float64) []float64 {
	d := make([]float64, 0, len(a)*len(b))
	for _, from := range a {
		for _, to := range b {
			d = append(d, to-from)
		}
	}
	slices.Sort(d)
	return d
}
