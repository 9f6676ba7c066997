//go:build !linux

package sys

// ReadOnly is not known on this system.
func ReadOnly() []Span { return nil }
