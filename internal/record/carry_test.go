//go:build !scope_off

package record

import (
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// TestLeaveTwice: a chunk that could not be written leaves again in the next round. What
// ended in between stays ended.
func TestLeaveTwice(t *testing.T) {
	const chunk = 3
	ended, open := begun{chunk*pool.ChunkSize + format.ChunkHeaderSize, 100}, begun{chunk*pool.ChunkSize + format.ChunkHeaderSize + format.RecordSize, 200}
	w := make([]uint64, pool.ChunkSize/8)
	w[0], w[format.ChunkSealedOffset/8] = uint64(format.ChunkRecords)<<32, format.ChunkHeaderSize+2*format.RecordSize
	for _, b := range []begun{ended, open} {
		copy(w[b.loc%pool.ChunkSize/8:], []uint64{uint64(b.start), uint64(format.OpenStop(7, 1, 1)), uint64(format.KindTask)<<40 | 5, 0})
	}
	var reported []format.Carry
	g := &ring{
		chunks: map[int64]leftover{}, rare: map[int64]rare{}, open: map[begun]*carried{}, early: map[begun]struct{}{}, rows: map[uint64]*carried{}, most: 64, size: 64,
		report: func(c *format.Carry) bool { reported = append(reported, *c); return true },
		now:    func() int64 { return 1000 },
	}
	g.leave(chunk, w)
	if _, ok := g.end(ended, 300, true); !ok {
		t.Fatal("a scope that was open has not ended")
	}
	g.leave(chunk, w)
	if _, ok := g.end(ended, 400, false); ok {
		t.Error("a scope has ended twice")
	}
	g.lost([]int64{chunk})
	if len(reported) != 1 || reported[0].Loc != format.Loc(open.loc) || !reported[0].Record.Open() {
		t.Errorf("carried as open: %+v, want only the record at %d", reported, open.loc)
	}
	if n := g.over.Load(); n != 2 {
		t.Errorf("%d records are overwritten, want 2", n)
	}
}
