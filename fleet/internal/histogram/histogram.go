// Package histogram has the buckets by which durations are counted: those of an exponential
// histogram of OpenTelemetry at scale 4, so 16 for each factor of two. Histograms of equal
// scale are merged by adding the counts of equal buckets, which loses nothing.
//
// A bucket's bounds are 2^(i/16) and 2^((i+1)/16), 4.4% apart. So a quantile that is given as
// the middle of its bucket, 2^((i+0.5)/16), is at most 2.2% from the value that has its rank.
package histogram

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Scale is the histograms' scale: 2^Scale buckets for each factor of two.
const Scale = 4

// Zero is the bucket of the duration 0.
const Zero = -1

// Buckets is the number of buckets, from Zero on.
const Buckets = 1 + 63<<Scale

// Error is the maximum relative error of a quantile.
var Error = math.Exp2(0.5/(1<<Scale)) - 1

// bounds are the lower bounds of the buckets between 1 and 2, × 2^63.
var bounds = func() (b [1 << Scale]uint64) {
	for i := range b {
		b[i] = uint64(math.Ceil(math.Ldexp(math.Exp2(float64(i)/(1<<Scale)), 63)))
	}
	return b
}()

// Bucket returns the bucket of a duration in ns.
func Bucket(ns int64) int64 {
	if ns <= 0 {
		return Zero
	}
	power := bits.Len64(uint64(ns)) - 1
	m := uint64(ns) << (63 - power)
	at := 0
	for step := 1 << (Scale - 1); step > 0; step /= 2 {
		if m >= bounds[at+step] {
			at += step
		}
	}
	return int64(power<<Scale + at)
}

// Counts are the counts of a histogram's buckets. With few used buckets it takes little
// memory: a program that does something once a minute has thousands of histograms.
type Counts struct {
	few  [8]struct{ bucket, n int64 }
	used int
	all  []int64 // by bucket from Zero on, if more than a few are used
}

// Add adds n to a bucket.
func (c *Counts) Add(bucket, n int64) {
	if c.all != nil {
		c.all[bucket-Zero] += n
		return
	}
	for i := range c.few[:c.used] {
		if c.few[i].bucket == bucket {
			c.few[i].n += n
			return
		}
	}
	if c.used < len(c.few) {
		c.few[c.used].bucket, c.few[c.used].n = bucket, n
		c.used++
		return
	}
	c.all = make([]int64, Buckets)
	for _, f := range c.few {
		c.all[f.bucket-Zero] = f.n
	}
	c.all[bucket-Zero] += n
}

// Each calls f with the nonzero buckets, in order.
func (c *Counts) Each(f func(bucket, n int64)) {
	few := c.few[:c.used]
	if c.all == nil {
		slices.SortFunc(few, func(a, b struct{ bucket, n int64 }) int { return cmp.Compare(a.bucket, b.bucket) })
		for _, x := range few {
			f(x.bucket, x.n)
		}
	}
	for i, n := range c.all {
		if n != 0 {
			f(int64(i)+Zero, n)
		}
	}
}
