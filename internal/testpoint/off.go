//go:build !scope_testpoint

package testpoint

// Here is a point between two steps. In this build it does nothing.
func Here(string) {}
