//go:build !linux

package sys

// ReadOnly returns nil on this system.
func ReadOnly() []Span { return nil }
