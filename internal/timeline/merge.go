package timeline

import "math/bits"

// docs/merging.md has the rule by which neighbours are merged. It is implemented here and in
// export/html/assets/data/merge.js; both are tested with the examples in
// testdata/merge.json.

// mixed is the shift of the finer resolution at which waits and others are merged with each
// other. A merged item has one kind: so waits are not lost among others.
const mixed = 2

// fineness returns the resolution at which waits and others are merged with each other.
func fineness(res int64) int64 { return max(res>>mixed, 1) }

// coarsest is the coarsest resolution: four of it cover all time.
const coarsest = 1 << 61

// evenRes returns the effective resolution: a power of two, not above res. A tile at 1, or
// 0, has every item.
func evenRes(res int64) int64 {
	if res <= 1 {
		return res
	}
	return min(int64(1)<<(bits.Len64(uint64(res))-1), coarsest)
}

// bounds are the bounds of a run, or of an item that may join it.
type bounds struct {
	start, end int64
	longest    int64 // duration of the longest item
}

// joins reports whether a run that begins at start, with a longest item of longest, is
// merged with the run a before it, at an even resolution.
func (a *bounds) joins(start, longest, res int64) bool {
	return longest < res && a.longest < res && start-a.end < res && uint64(a.start^start)>>2 < uint64(res)
}

// stretchOf returns the first and the last moment of the stretch of four resolutions that
// contains t. All items of a run begin in one stretch.
func stretchOf(t, res int64) (first, last int64) {
	shift := bits.TrailingZeros64(uint64(res)) + 2
	return t >> shift << shift, (t>>shift+1)<<shift - 1
}
