//go:build !linux

package sys

// ProfilingTimer always returns false on this system.
func ProfilingTimer() bool { return false }

// TimersEnd always returns false on this system.
func TimersEnd() bool { return false }

// NoProfilingTimer always returns false on this system.
func NoProfilingTimer() bool { return false }

// DisarmProfilingTimer does nothing on this system, where Go's CPU profile has no other timer.
func DisarmProfilingTimer() {}

// KeepProfilingTimer calls f.
func KeepProfilingTimer(f func()) { f() }
