//go:build !linux

package hot

// Adopt does nothing: there are no hot files on this system.
func Adopt(func() bool) (Adopted, error) { return Adopted{}, nil }

// Discard does nothing either.
func Discard([16]byte) {}
