//go:build !scope_off

package record

import "sync/atomic"

// factLeftOut lists the functions that the build did not instrument: a line per reason.
const factLeftOut = "functions_left_out"

var leftOut atomic.Pointer[string]

// LeftOut makes this recording, and all later ones, record which functions are not
// instrumented, and why.
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
