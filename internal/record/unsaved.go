//go:build !scope_off

package record

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// giveUp counts as lost what the heap still holds and the disk did not take until the
// end, because of err: it was recorded, and is in no trace. The trace is closed only
// if its last block could be written. What the disk has of a chunk from before stays.
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
			end = max(end, (at+1)*pool.ChunkSize) // gone from memory: it was written
			continue
		}
		r.pool.ReadPlace(there, at) // what is not there is zero
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
	_ = r.flusher.Save(false, 0) // of what fails here err tells already
}

// recordsIn counts a chunk's records, and its ends apart, which are none of their own.
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
