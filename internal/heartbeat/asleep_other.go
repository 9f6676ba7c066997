//go:build !linux

package heartbeat

// Asleep reports false: on this system nobody can tell.
func (s *Sampler) Asleep() bool { return false }
