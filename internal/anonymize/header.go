package anonymize

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// process is the process id of every anonymized trace.
const process = 1

// fileHeader copies chunk 0: the numbers that are needed to read the others, but neither the
// process's id nor the requests of its operator.
func (a *chunkCopy) fileHeader() {
	h := a.header
	h.PID = process
	copy(h.ID[:], a.hash.sum("id", string(h.ID[:])))
	format.AppendHeader(a.out[:0], &h)
	s := a.in[format.StateOffset:]
	for _, word := range []int{format.StateClosed, format.StateTick, format.StateEnd, format.StateLost, format.StateOverwritten, format.StateUntil, format.StateJoined} {
		copy(a.out[format.StateOffset+word:][:8], s[word:])
	}
	if h.HasCounters() {
		var lost [format.CounterReasons + 1]int64
		tick := int64(binary.LittleEndian.Uint64(s[format.StateTick:]))
		ok := format.AddCounters(&lost, a.in[format.CountersOffset:], format.MostCounted(tick-h.StartTicks))
		format.PutCounters(a.out[format.CountersOffset:], &lost, ok)
	}
	// The end must lie within the file, which may have been cut.
	end := binary.LittleEndian.Uint64(s[format.StateEnd:])
	binary.LittleEndian.PutUint64(a.out[format.StateOffset+format.StateEnd:], min(end, uint64(int64(a.places)*a.cs)))
}
