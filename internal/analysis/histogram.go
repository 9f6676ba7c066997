package analysis

import (
	"math"
	"math/bits"
	"slices"
)

// histogram estimates quantiles of durations in bounded memory. Up to exactCount values are
// stored, and their quantiles are exact. Beyond that, values are counted in buckets: below
// 128 ns each has its own, above that every power of two is divided into 64 buckets of equal
// width. A quantile is then the middle of its bucket, which is off by at most half a width,
// 1/128 of the value: 0.8 %.
//
// A library's sketch would not do: the result of t-digest depends on the order of the values, so
// on the number of processors, and DDSketch estimates few values too.
type histogram struct {
	n        int64
	min, max int64
	few      []int64               // the values, up to exactCount; sorted on demand
	octaves  *[64]*[buckets]uint64 // beyond that: counts, by the position of the value's highest bit
}

const (
	subBits    = 6
	buckets    = 1 << subBits
	exactCount = 64
)

// Add counts v; negative values count as 0.
func (h *histogram) add(v int64) {
	v = max(v, 0)
	if h.n <= exactCount {
		h.start(v)
	}
	h.min, h.max = min(h.min, v), max(h.max, v)
	if h.n++; h.n > exactCount {
		h.count(v)
	}
}

// start is the part of add for the first values.
func (h *histogram) start(v int64) {
	switch h.n {
	case 0:
		h.min, h.max = v, v
	case exactCount:
		h.spread()
		return
	}
	h.few = append(h.few, v)
}

// spread counts the stored values in buckets.
func (h *histogram) spread() {
	if h.octaves == nil {
		h.octaves = new([64]*[buckets]uint64)
	}
	for _, v := range h.few {
		h.count(v)
	}
	h.few = h.few[:0]
}

// merge adds the values of o.
func (h *histogram) merge(o *histogram) {
	if o.n == 0 {
		return
	}
	if h.n == 0 {
		h.min, h.max = o.min, o.max
	}
	h.min, h.max = min(h.min, o.min), max(h.max, o.max)
	was := h.n
	if h.n += o.n; h.n <= exactCount {
		h.few = append(h.few, o.few...)
		return
	}
	if was <= exactCount {
		h.spread()
	}
	if o.n <= exactCount {
		for _, v := range o.few {
			h.count(v)
		}
		return
	}
	for i, from := range o.octaves {
		if from == nil {
			continue
		}
		if h.octaves[i] == nil {
			h.octaves[i] = new([buckets]uint64)
		}
		for b, n := range from {
			h.octaves[i][b] += n
		}
	}
}

// reset removes the values, and keeps the memory.
func (h *histogram) reset() {
	if h.n > exactCount {
		for _, counts := range h.octaves {
			if counts != nil {
				*counts = [buckets]uint64{}
			}
		}
	}
	*h = histogram{few: h.few[:0], octaves: h.octaves}
}

// bucketOf returns the bucket of v: octave 0 has the values below 64, octave i the 64
// buckets of width 1<<(i-1) from 1<<(i+5) on.
func bucketOf(v int64) (octave, bucket int) {
	octave = bits.Len64(uint64(v)|(buckets-1)) - subBits
	shift := uint(octave-1) + uint(octave-1)>>63 // octave-1, but 0 of 0, without a branch
	return octave, int(v>>(shift&63)) & (buckets - 1)
}

// middle returns the value that represents a bucket.
func middle(octave, bucket int) int64 {
	if octave == 0 {
		return int64(bucket)
	}
	low := int64(bucket+buckets) << (octave - 1)
	return low + int64(1)<<(octave-1)/2
}

func (h *histogram) count(v int64) {
	o, b := bucketOf(v)
	if h.octaves[o] == nil {
		h.octaves[o] = new([buckets]uint64)
	}
	h.octaves[o][b]++
}

// Count returns the number of values; Min and Max are exact, 0 without values.
func (h *histogram) Count() int64 { return h.n }
func (h *histogram) Min() int64   { return h.min }
func (h *histogram) Max() int64   { return h.max }

// Quantile returns the smallest value that at least the share q of all values do not exceed
// (the nearest rank, without interpolation); 0 without values.
func (h *histogram) Quantile(q float64) int64 {
	if h.n == 0 {
		return 0
	}
	// The product may be slightly above the whole number that it should be.
	rank := int64(math.Ceil(q*float64(h.n) - 1e-6))
	rank = min(max(rank, 1), h.n)
	if h.n <= exactCount {
		slices.Sort(h.few)
		return h.few[rank-1]
	}
	if rank == h.n {
		return h.max
	}
	for o, counts := range h.octaves {
		if counts == nil {
			continue
		}
		for b, n := range counts {
			if rank -= int64(n); rank <= 0 && n > 0 {
				return min(max(middle(o, b), h.min), h.max)
			}
		}
	}
	return h.max
}
