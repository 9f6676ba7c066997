//go:build linux

package victim

import (
	"fmt"
	"math/bits"
	"time"
)

// buckets is the number of buckets of a histogram: eight for each power of two, up to half
// an hour.
const buckets = 320

// bucket returns the bucket of a time in ns; a bucket is at most an eighth wide.
func bucket(ns uint64) int {
	if ns < 8 {
		return int(ns)
	}
	e := bits.Len64(ns) - 1
	return min((e-2)*8+int(ns>>(e-3)&7), buckets-1)
}

// upper returns the longest time in a bucket.
func upper(b int) uint64 {
	if b < 8 {
		return uint64(b)
	}
	e := b/8 + 2
	return (8+uint64(b%8)+1)<<(e-3) - 1
}

// Histogram counts times.
type Histogram [buckets]uint64

// Sub returns the difference from an earlier histogram.
func (h *Histogram) Sub(before *Histogram) *Histogram {
	var d Histogram
	for i := range d {
		d[i] = h[i] - before[i]
	}
	return &d
}

// N returns the number of times.
func (h *Histogram) N() (n uint64) {
	for _, c := range h {
		n += c
	}
	return n
}

// At returns an upper bound of the p-quantile, at most an eighth too high.
func (h *Histogram) At(p float64) time.Duration {
	rest := int64(float64(h.N()) * (1 - p)) // number that may be longer
	for b := buckets - 1; b >= 0; b-- {
		if rest -= int64(h[b]); rest < 0 {
			return time.Duration(upper(b))
		}
	}
	return 0
}

// Over returns the number of times longer than d, to an eighth.
func (h *Histogram) Over(d time.Duration) (n uint64) {
	for b := bucket(uint64(d)) + 1; b < buckets; b++ {
		n += h[b]
	}
	return n
}

func (h *Histogram) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, p99.9 %v", h.At(.5), h.At(.99), h.At(.999))
}
