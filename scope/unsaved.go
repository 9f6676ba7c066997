//go:build !scope_off

package scope

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/mmpool"
)

// giveUp counts as lost what the heap still holds and the disk did not take until the
// end, because of err: it was recorded, and is in no trace. The trace is closed only
// if its last block could be written. What the disk has of a chunk stays.
func (r *recorder) giveUp(err error) {
	why := format.LossIO
	if mmpool.IsNoSpace(err) {
		why = format.LossSpace
	}
	end, closed := int64(mmpool.ChunkSize), true
	var records, ends int64
	b := make([]byte, mmpool.ChunkSize)
	kept, there := make([]uint64, mmpool.ChunkSize/8), make([]uint64, mmpool.ChunkSize/8)
	for _, idx := range r.pool.Live(nil) {
		at, _ := r.pool.Place(idx)
		w := r.pool.Words(idx)
		if w == nil {
			end = max(end, (at+1)*mmpool.ChunkSize) // gone from memory: it was written
			continue
		}
		r.pool.ReadPlace(b, at) // what is not there is zero
		for i := range kept {
			kept[i], there[i] = atomic.LoadUint64(&w[i]), binary.LittleEndian.Uint64(b[8*i:])
		}
		if there[0] != 0 {
			end = max(end, (at+1)*mmpool.ChunkSize)
		}
		switch {
		case slices.Equal(kept, there):
		case format.ChunkKind(kept[0]>>32) != format.ChunkRecords:
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
	r.final.Lost = r.lostSoFar()
	r.setState(closed)
	state := r.header()
	atomic.StoreUint64(&state[format.StateEnd/8], uint64(end))
	if !closed {
		atomic.StoreUint64(&state[format.StateClosed/8], 0)
	}
	_ = r.pool.Save(0, 1, false) // of what fails here err tells already
}

// recordsIn counts a chunk's records, and its ends apart, which are none of their own.
func recordsIn(w []uint64) (records, ends int64) {
	for at := format.ChunkHeaderSize / 8; at+4 <= len(w); at += 4 {
		start := w[at]
		if start == 0 {
			continue
		}
		if format.IsExt(start) {
			at += 4 * (format.ExtUnits(start) - 1)
			continue
		}
		rec := format.Record{Head: w[at+2]}
		switch rec.Kind() {
		case format.KindAnchor:
		case format.KindEnd:
			ends++
		default:
			records++
		}
	}
	return records, ends
}
