//go:build race

package hooks_test

// raceEnabled says that a deferred call is on the heap.
const raceEnabled = true
