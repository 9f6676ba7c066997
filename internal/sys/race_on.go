//go:build race

package sys

// Race reports whether the program was built with the race detector, which is blind in
// mapped memory.
const Race = true
