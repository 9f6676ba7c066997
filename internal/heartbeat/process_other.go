//go:build !linux && !darwin && !windows

package heartbeat

// processReader reads nothing on other systems.
type processReader struct{}

func (*processReader) init()      {}
func (*processReader) read(*beat) {}

// readLimits does nothing: limits are not read on this system.
func (*processReader) readLimits(*beat) {}
