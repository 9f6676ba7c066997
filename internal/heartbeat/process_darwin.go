package heartbeat

// processReader on darwin has the process's sums only: threads and current
// memory are Mach calls, which need cgo.
type processReader struct{}

func (*processReader) init() {}

func (*processReader) read(b *beat) { readUsage(b) }

// readLimits knows of none here.
func (*processReader) readLimits(*beat) {}
