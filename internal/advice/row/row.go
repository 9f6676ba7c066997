// Package row is what the counting part in a program and the tool that gives advice agree on:
// which kinds of things are followed, what is counted of each, and the lines of a raw file.
//
// A row is what is known of all containers, buffers, locks … of one kind that were created with one
// call stack, or of all uses with one. Rows of two runs are merged by what their values' names say, so
// a raw file may be the concatenation of several.
package row

import (
	"math"
	"math/bits"
	"strings"
)

// Stats is what is counted of a row.
type Stats struct {
	V [values]int64
	H [histsEnd][Buckets]int64
}

// Buckets are four for each power of two: a quantile is at most a fifth too large.
const Buckets = 4 * 40

// Bucket is where a value is counted; negative ones are with 0.
func Bucket(v int64) int {
	if v < 4 {
		return int(max(v, 0))
	}
	e := bits.Len64(uint64(v)) - 3 // of which the two bits behind the first are kept
	return min(4*e+int(uint64(v)>>e), Buckets-1)
}

// Highest is the largest value that a bucket counts.
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

// Merged is what two values are together: of a maximum the larger, of a minimum the smaller that is not
// 0, of others the sum.
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

// Sum adds two numbers, of which a file may tell any. A sum that has no room is math.MaxInt64, or
// math.MinInt64 of negative ones.
func Sum(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Full counts the numbers that have no room for more.
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

// Quantile is what a share q of what a distribution counts does not exceed, as its bucket's highest:
// 0 of none.
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
