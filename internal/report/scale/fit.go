package scale

import (
	"fmt"
	"math"
)

// minPoints is the minimum number of different N for a fit: with three parameters, fewer would fit
// nearly anything.
const minPoints = 6

// sample is the time of the same work on N processors.
type sample struct {
	N    int
	Time float64 // any unit
}

// fitted holds the parameters of the law.
type fitted struct {
	Single float64 `json:"single" unit:"ns" says:"wall time on one processor, by the law"`
	Sigma  float64 `json:"sigma" unit:"0 or more" says:"σ: the serialized share"`
	Kappa  float64 `json:"kappa" unit:"0 or more" says:"κ: the cost per pair of processors"`
	// Error is the root of the mean square of the samples' relative deviations.
	Error float64 `json:"error" unit:"0 to 1" says:"root mean square deviation of the medians"`
}

// fitUSL fits the law by least squares of the relative deviations. All samples count, also those of
// the same N; there must be at least minPoints different N.
//
// As N·time = a + b(N−1) + cN(N−1) with a the time on one processor, σ = b/a and κ = c/a, this is a
// linear problem. If the best b or c is negative, which no program's losses are, the best fit
// without it is taken.
func fitUSL(samples []sample) (fitted, error) {
	var rows [][3]float64
	different := map[int]bool{}
	for _, s := range samples {
		if s.N < 1 || !(s.Time > 0) || math.IsInf(s.Time, 0) {
			return fitted{}, fmt.Errorf("invalid time %v on %d processors", s.Time, s.N)
		}
		different[s.N] = true
		n := float64(s.N)
		y := n * s.Time
		rows = append(rows, [3]float64{1 / y, (n - 1) / y, n * (n - 1) / y})
	}
	if len(different) < minPoints {
		return fitted{}, fmt.Errorf("%d numbers of processors are too few for the law's three parameters: give at least %d", len(different), minPoints)
	}
	var best [3]float64
	least := math.Inf(1)
	for _, use := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		x, ok := solve(rows, use)
		if !ok || x[0] <= 0 || x[1] < 0 || x[2] < 0 {
			continue
		}
		if e := deviation(rows, x); e < least*(1-1e-9) {
			best, least = x, e
		}
	}
	if math.IsInf(least, 1) {
		return fitted{}, fmt.Errorf("no parameters fit these %d times", len(samples))
	}
	return fitted{best[0], best[1] / best[0], best[2] / best[0], math.Sqrt(least / float64(len(rows)))}, nil
}

func deviation(rows [][3]float64, x [3]float64) (sum float64) {
	for _, r := range rows {
		d := r[0]*x[0] + r[1]*x[1] + r[2]*x[2] - 1
		sum += d * d
	}
	return sum
}

// solve finds the x, zero except in the columns use, with the least squares of rows·x − 1, by the
// normal equations. It first scales the columns to one size: κ's grows with N².
func solve(rows [][3]float64, use []int) (x [3]float64, ok bool) {
	var size [3]float64
	for _, r := range rows {
		for _, c := range use {
			size[c] += r[c] * r[c]
		}
	}
	n := len(use)
	var m [3][4]float64
	for i, ci := range use {
		if size[ci] == 0 {
			return x, false
		}
		for _, r := range rows {
			for j, cj := range use {
				m[i][j] += r[ci] * r[cj] / math.Sqrt(size[ci]*size[cj])
			}
			m[i][3] += r[ci] / math.Sqrt(size[ci])
		}
	}
	for i := range n {
		p := i
		for k := i + 1; k < n; k++ {
			if math.Abs(m[k][i]) > math.Abs(m[p][i]) {
				p = k
			}
		}
		m[i], m[p] = m[p], m[i]
		if math.Abs(m[i][i]) < 1e-12 {
			return x, false
		}
		for k := range n {
			if k == i {
				continue
			}
			f := m[k][i] / m[i][i]
			for j := i; j < 4; j++ {
				m[k][j] -= f * m[i][j]
			}
		}
	}
	for i, c := range use {
		x[c] = m[i][3] / m[i][i] / math.Sqrt(size[c])
		if x[c] < 0 && x[c] > -1e-9*math.Abs(m[i][3]/m[i][i]) {
			x[c] = 0 // rounding error
		}
	}
	return x, true
}

// speedup returns C(n).
func (f *fitted) speedup(n float64) float64 {
	return n / (1 + f.Sigma*(n-1) + f.Kappa*n*(n-1))
}

// peak returns N*, the number of processors beyond which more of them make the program slower; ok
// is false if there is none.
func (f *fitted) peak() (n float64, ok bool) {
	if f.Kappa <= 0 {
		return 0, false
	}
	return math.Max(math.Sqrt(math.Max(1-f.Sigma, 0)/f.Kappa), 1), true
}

// loss is the kind of loss that limits a program.
type loss string

// Losses.
const (
	lossNone          loss = "none"          // within a tenth of linear
	lossSerialization loss = "serialization" // σ
	lossCoherence     loss = "coherence"     // κ
)

// dominant returns the larger kind of loss on n processors.
func (f *fitted) dominant(n float64) loss {
	switch s, k := f.Sigma*(n-1), f.Kappa*n*(n-1); {
	case s+k < 1/0.9-1:
		return lossNone
	case s >= k:
		return lossSerialization
	}
	return lossCoherence
}
