package format

import (
	"encoding/binary"
	"math"
)

// Counters of losses are in chunk 0, from CountersOffset to its end, in the file or in the hot
// file: memory that survives a kill, unlike blocks that are not written yet. A row has one
// writer's counts by reason; the sum over the rows is what was lost since Start. A trace has them
// from minor version CountersMinor on, if its chunks have the usual size.
const (
	CountersOffset = 4096
	CountersMinor  = 3
	CounterRow     = 128 // bytes; two cache lines, so that no two writers share a pair
	CounterRows    = (ChunkSize - CountersOffset) / CounterRow
	CounterReasons = 10 // used words of a row: reasons from 1 on

	// OwnRows have one writer each; the others are shared. Row i belongs to the P with the number
	// i, if it has one.
	OwnRows = CounterRows - 64
)

// HasCounters reports whether a trace has counters in its chunk 0.
func (h *Header) HasCounters() bool { return h.Minor >= CountersMinor && h.ChunkSize == ChunkSize }

// MostCounted is the maximum that a row can count in that many ticks: a goroutine loses less than
// a record per tick, but chunks may be lost at once.
func MostCounted(ticks int64) int64 { return min(max(ticks, 0), math.MaxInt64/2) + 1<<30 }

// AddCounters adds the counts of the rows in b to lost, by reason. It ignores numbers above most,
// which no writer can reach; ok is false if there is one: another process has stored it, and the
// losses are unknown.
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

// PutCounters stores the rows of a copy into b, which is zero: the sums in one row and, if ok is
// false, in another an impossible count, so that readers of the copy also see the losses as
// unknown.
func PutCounters(b []byte, lost *[CounterReasons + 1]int64, ok bool) {
	for why, n := range lost[1:] {
		binary.LittleEndian.PutUint64(b[8*why:], uint64(n))
	}
	if !ok {
		binary.LittleEndian.PutUint64(b[CounterRow:], math.MaxUint64)
	}
}
