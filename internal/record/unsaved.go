//go:build !scope_off

package record

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// giveUp counts as lost what is still on the heap because the disk did not accept it,
// due to err: it was recorded, and is in no trace. The trace is closed only if its
// last block could be written. Earlier contents of a chunk on the disk stay.
func (r *recorder) giveUp(err error) {
	why := format.LossIO
	if pool.IsNoSpace(err) {
		why = format.LossSpace
	}
	end, closed := int64(pool.ChunkSize), true
	var records, ends int64
	kept, there := make([]byte, pool.ChunkSize), make([]byte, pool.ChunkSize)
	for _, idx := range r.pool.Live(nil) {
		at, _ := r.pool.Place(idx)
		w := r.pool.Words(idx)
		if w == nil {
			end = max(end, (at+1)*pool.ChunkSize) // no longer in memory: it was written
			continue
		}
		r.pool.ReadPlace(there, at) // what is missing reads as zero
		format.LoadWords(kept, w)
		if binary.LittleEndian.Uint64(there) != 0 {
			end = max(end, (at+1)*pool.ChunkSize)
		}
		switch {
		case bytes.Equal(kept, there):
		case format.ChunkKind(binary.LittleEndian.Uint32(kept[4:])) != format.ChunkRecords:
			closed = false
		default:
			n, e := recordsIn(kept)
			m, f := recordsIn(there)
			records, ends = records+n-m, ends+e-f
		}
	}
	r.loseMany(why, records)
	r.loseMany(format.LossEnd, ends)
	r.final.Recorded -= records
	r.final.Lost = r.lost()
	r.final.LostUnknown = r.counts.unknown.Load()
	r.setState(closed)
	state := r.header()
	atomic.StoreUint64(&state[format.StateEnd/8], uint64(end))
	if !closed {
		atomic.StoreUint64(&state[format.StateClosed/8], 0)
	}
	_ = r.flusher.Save(false, 0) // err already reports a failure
}

// recordsIn counts a chunk's records and, separately, its ends apart.
func recordsIn(chunk []byte) (records, ends int64) {
	for walk := format.WalkRecords(chunk); walk.Next(); {
		switch walk.Kind() {
		case format.KindAnchor:
		case format.KindEnd:
			ends++
		default:
			records++
		}
	}
	return records, ends
}
