//go:build !scope_off

package record

import "sync/atomic"

// factLeftOut has the functions that were left out when the program was built: a line for each
// reason.
const factLeftOut = "functions_left_out"

var leftOut atomic.Pointer[string]

// LeftOut has this recording, and all to come, tell which functions are not recorded, and why.
func LeftOut(text string) {
	leftOut.Store(&text)
	if r := current.Load(); r != nil && !r.closed.Load() {
		r.tellOmitted()
	}
}

func (r *recorder) tellOmitted() {
	if text := leftOut.Load(); text != nil {
		r.fact(factLeftOut, *text)
	}
}
