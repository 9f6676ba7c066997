//go:build !linux && !darwin && !windows

package heartbeat

// processReader on other systems knows nothing.
type processReader struct{}

func (*processReader) init()      {}
func (*processReader) read(*beat) {}

// readLimits knows of none here.
func (*processReader) readLimits(*beat) {}
