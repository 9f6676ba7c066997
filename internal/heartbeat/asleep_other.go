//go:build !linux

package heartbeat

// Asleep returns false: only on Linux does a process show in what its threads wait.
func (s *Sampler) Asleep() bool { return false }
