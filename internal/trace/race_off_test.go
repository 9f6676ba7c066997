//go:build !race

package trace

// RaceEnabled reports whether the race detector, which makes tests some ten times slower, is on.
const RaceEnabled = false
