// Package row defines the format that the counting program and the tool share: the kinds of
// objects, their values, and the lines of a raw file.
//
// A row has the values of all containers, buffers, locks … of one kind that were created
// with one call stack, or of all uses with one. Rows of two runs are merged according to
// their values' names, so a raw file may be the concatenation of several.
package row

import (
	"math"
	"math/bits"
	"strings"
)

// Stats are the values of a row.
type Stats struct {
	V [values]int64
	H [histsEnd][Buckets]int64
}

// Buckets is the number of buckets, four for each power of two: a quantile is at most a
// fifth too large.
const Buckets = 4 * 40

// Bucket returns the bucket of a value; negative ones count as 0.
func Bucket(v int64) int {
	if v < 4 {
		return int(max(v, 0))
	}
	e := bits.Len64(uint64(v)) - 3 // keeps the two bits after the first
	return min(4*e+int(uint64(v)>>e), Buckets-1)
}

// Highest returns the largest value of a bucket.
func Highest(bucket int) int64 {
	if bucket < 4 {
		return int64(bucket)
	}
	e := bucket/4 - 1
	return int64(bucket%4+5)<<e - 1
}

// Add merges o into s.
func (s *Stats) Add(o *Stats) {
	for i := range s.V {
		s.V[i] = Value(i).Merged(s.V[i], o.V[i])
	}
	for h := range s.H {
		for b := range s.H[h] {
			s.H[h][b] = Sum(s.H[h][b], o.H[h][b])
		}
	}
}

// Merged merges two values: a maximum to the larger, a minimum to the smaller that is not 0,
// others to the sum.
func (v Value) Merged(a, b int64) int64 {
	switch {
	case strings.HasPrefix(valueNames[v], "max_"):
		return max(a, b)
	case strings.HasPrefix(valueNames[v], "min_"):
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Sum(a, b)
}

// Sum adds two numbers, which a file may set to anything. It saturates at math.MaxInt64 and
// math.MinInt64.
func Sum(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Full counts the saturated numbers.
func (s *Stats) Full() (n int) {
	for _, v := range s.V {
		if v == math.MaxInt64 || v == math.MinInt64 {
			n++
		}
	}
	for h := range s.H {
		for _, v := range s.H[h] {
			if v == math.MaxInt64 {
				n++
			}
		}
	}
	return n
}

// Quantile returns the upper bound of the bucket with the quantile q of a distribution: 0 if
// that is empty.
func (s *Stats) Quantile(h Hist, q float64) int64 {
	var all, sum int64
	for _, n := range s.H[h] {
		all = Sum(all, n)
	}
	for b, n := range s.H[h] {
		if sum = Sum(sum, n); n > 0 && float64(sum) >= q*float64(all) {
			return Highest(b)
		}
	}
	return 0
}
