//go:build !linux

package heartbeat

// Asleep returns false: it is not implemented on this system.
func (s *Sampler) Asleep() bool { return false }
