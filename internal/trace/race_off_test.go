//go:build !race

package trace

// RaceEnabled tells the tests that they run some ten times slower.
const RaceEnabled = false
