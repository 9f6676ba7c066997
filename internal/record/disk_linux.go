//go:build !scope_off

package record

// haveDisk reports whether trace files can be mapped here.
const (
	haveDisk = !raceBuild && !pureBuild
	noDisk   = "the race detector is blind in mapped memory, and the pure path has the heap alone"
)
