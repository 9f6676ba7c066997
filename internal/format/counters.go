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

// MostCounted is the most that a row can count in so many ticks: nobody loses a record a tick,
// but what is lost by chunks may come at once.
func MostCounted(ticks int64) int64 { return min(max(ticks, 0), math.MaxInt64/2) + 1<<30 }

// AddCounters adds what the rows in b count to lost, by reason. Numbers above most, and those
// that no writer counts to, are left out; ok is false if there is one: somebody else has stored
// it, and what was lost is not known.
func AddCounters(lost *[CounterReasons + 1]int64, b []byte, most int64) (ok bool) {
	ok = true
	for ; len(b) >= CounterRow; b = b[CounterRow:] {
		for why := range CounterReasons {
			n := binary.LittleEndian.Uint64(b[8*why:])
			if n > uint64(most) {
				ok = false
				continue
			}
			lost[why+1] += min(int64(n), math.MaxInt64-lost[why+1])
		}
	}
	return ok
}

// PutCounters makes b, which is zero, the rows of a copy: the sums in one and, if ok is false, in
// another what no writer counts to, so that who reads the copy knows no more than its maker.
func PutCounters(b []byte, lost *[CounterReasons + 1]int64, ok bool) {
	for why, n := range lost[1:] {
		binary.LittleEndian.PutUint64(b[8*why:], uint64(n))
	}
	if !ok {
		binary.LittleEndian.PutUint64(b[CounterRow:], math.MaxUint64)
	}
}
