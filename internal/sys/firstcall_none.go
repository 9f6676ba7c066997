//go:build !amd64 && !arm64

package sys

// FirstCall is not available on this processor.
func FirstCall(pc uintptr, is func(pc uintptr) bool) (to, back uintptr) { return 0, 0 }
