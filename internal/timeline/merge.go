package timeline

import "math/bits"

// docs/merging.md tells the rule by which neighbours are drawn as one. Here and in
// export/html/assets/data/merge.js it is code, and testdata/merge.json has examples
// that both are tested with.

// mixed is how much finer the resolution is, as a shift, at which a wait and what is
// none are merged. A merged item has one kind: so waits are not lost among others.
const mixed = 2

// fineness returns at which resolution a wait and what is none are merged.
func fineness(res int64) int64 { return max(res>>mixed, 1) }

// coarsest is the coarsest resolution: four of it are all the time that there is.
const coarsest = 1 << 61

// evenRes returns the resolution that counts: a power of two, and not above res. A tile
// at 1, or 0, has every item.
func evenRes(res int64) int64 {
	if res <= 1 {
		return res
	}
	return min(int64(1)<<(bits.Len64(uint64(res))-1), coarsest)
}

// bounds are those of a run, or of an item that may join it.
type bounds struct {
	start, end int64
	longest    int64 // duration of the longest item
}

// joins reports whether what begins at start, and has an item of longest, joins a, the
// run before it, at an even resolution.
func (a *bounds) joins(start, longest, res int64) bool {
	return longest < res && a.longest < res && start-a.end < res && uint64(a.start^start)>>2 < uint64(res)
}

// stretchOf returns the first and the last moment of the stretch of four resolutions
// that t lies in. A run begins in one stretch, so all that can be in it does.
func stretchOf(t, res int64) (first, last int64) {
	shift := bits.TrailingZeros64(uint64(res)) + 2
	return t >> shift << shift, (t>>shift+1)<<shift - 1
}
