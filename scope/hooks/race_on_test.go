//go:build race

package hooks_test

// raceEnabled means that deferred calls are allocated on the heap.
const raceEnabled = true
