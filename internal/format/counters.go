package format

import (
	"encoding/binary"
	"math"
)

// Counters of what is lost lie in chunk 0, from CountersOffset to its end, in the file
// or in the hot file: memory that survives a kill, which blocks that tell the same do
// not as long as they are not written. A row is what one writer counts, by reason; the
// sum over the rows is what was lost since Start. A trace has them from minor version
// CountersMinor on, if its chunks have the usual size.
const (
	CountersOffset = 4096
	CountersMinor  = 3
	CounterRow     = 128 // bytes; two cache lines, so that no two writers share a pair
	CounterRows    = (ChunkSize - CountersOffset) / CounterRow
	CounterReasons = 10 // words of a row that are used: of the reasons from 1 on

	// OwnRows are those of one writer each; the others are shared. Row i is of the P
	// with the number i, where it has one.
	OwnRows = CounterRows - 64
)

// HasCounters reports whether a trace has counters in its chunk 0.
func (h *Header) HasCounters() bool { return h.Minor >= CountersMinor && h.ChunkSize == ChunkSize }

// AddCounters adds what the rows in b count to lost, by reason. Numbers that no writer
// counts to are left out.
func AddCounters(lost *[CounterReasons + 1]int64, b []byte) {
	for ; len(b) >= CounterRow; b = b[CounterRow:] {
		for why := range CounterReasons {
			if n := int64(binary.LittleEndian.Uint64(b[8*why:])); n > 0 {
				lost[why+1] += min(n, math.MaxInt64-lost[why+1])
			}
		}
	}
}
