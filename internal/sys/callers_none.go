//go:build !((amd64 || (arm64 && linux)) && go1.26 && !go1.28) || scope_pure

package sys

const haveFrames = false

func framePCs(pcs *uintptr, n int) int { return 0 }
