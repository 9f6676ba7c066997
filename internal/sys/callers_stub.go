//go:build (amd64 || (arm64 && linux)) && go1.26 && !go1.28 && !scope_pure

package sys

const haveFrames = true

// framePCs stores the addresses that its caller and those above it return to,
// at most n, and returns how many.
//
//go:noescape
func framePCs(pcs *uintptr, n int) int
