//go:build !scope_off

package record

// haveDisk reports whether trace files can be mapped here.
const (
	haveDisk = !raceBuild && !pureBuild
	noDisk   = "the race detector ignores mapped memory, so the pure path uses the heap"
)
