package heartbeat

// processReader on darwin reads only the process's sums: threads and current
// memory are Mach calls, which need cgo.
type processReader struct{}

func (*processReader) init() {}

func (*processReader) read(b *beat) { readUsage(b) }

// readLimits does nothing: limits are not read on this system.
func (*processReader) readLimits(*beat) {}
