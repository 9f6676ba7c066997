package trace

import (
	"bytes"
	"os"

	"github.com/scopeview/scopeview/internal/format"
)

// Booted returns the value that a recording on this machine would have for the fact boot; empty:
// not known. Tests replace it.
var Booted = func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// tellRestart notes whether the machine may have stopped while the trace was written. After a kill
// the pages of the disk backing are all there; the losses of other backings are reported
// separately.
func (t *Trace) tellRestart() {
	was, now := t.Lookup("boot"), Booted()
	t.stopped = !t.state.Closed && was != "" && now != "" && was != now
	if t.stopped && t.header.Backing == format.BackingDisk {
		t.found.add(textRestart, 0, 1)
	}
}
