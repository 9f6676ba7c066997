//go:build (amd64 || (arm64 && linux)) && go1.26 && !go1.28 && !scope_pure

package sys

const haveFrames = true

// framePCs stores the return addresses of its caller and those above it, at
// most n, and returns their number.
//
//go:noescape
func framePCs(pcs *uintptr, n int) int
