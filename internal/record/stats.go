//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Statistics is the result of Stats; see scope.Statistics.
type Statistics struct {
	Running     bool
	Path        string
	Recorded    int64
	Overwritten int64
	Stacks      int64
	Lost        [format.LossReasons]int64 // by format.Loss
	LostUnknown bool

	DoubleEnds, ForeignEnds, StaleEnds, OtherNames, OtherStacks, ArgsCut int64

	Bytes         int64
	PreparedLeast int64
	PageFaults    int64
	PreparedLate  int64
	Names         int64
	Recorder      string
	Filter        string
	Off           bool
	Slow          int64
	Snapshots     int64
	LastError     error
}

func (r *recorder) stats() Statistics {
	s := Statistics{
		Running:     true,
		Path:        r.path,
		Lost:        r.lost(),
		DoubleEnds:  r.doubleEnds.Load(),
		ForeignEnds: r.foreignEnds.Load(),
		StaleEnds:   r.staleEnds.Load(),
		ArgsCut:     r.argsCut.Load(),
		Bytes:       r.pool.Bytes(),
		Recorder:    r.words,
	}
	s.LostUnknown = r.counts.unknown.Load() // after lost
	records, foreign := r.writer.written()
	s.Recorded = records
	s.ForeignEnds += foreign
	if r.ring != nil {
		// A foreign process that stores in a chunk can make it look as if it had
		// more records than were written.
		s.Overwritten = min(r.ring.over.Load(), records)
		s.Recorded -= s.Overwritten
	}
	if r.names != nil {
		s.Names = r.names.count()
		s.OtherNames = r.names.others.Load()
	}
	s.Stacks, s.OtherStacks = r.stacks.callCounts()
	if r.flusher != nil {
		s.LastError = r.flusher.Err()
	}
	if p := r.failed.Load(); p != nil && s.LastError == nil {
		s.LastError = *p
	}
	if r.watch != nil {
		s.Slow = r.watch.seen.Load()
	}
	s.Snapshots, s.Filter, s.Off = r.snapshots.Load(), *r.expr.Load(), r.off.Load()
	s.PreparedLeast, s.PageFaults, s.PreparedLate = r.pool.Low(), r.pool.Unprepared(), r.pool.Made()
	return s
}

// Stats returns the statistics of the recording, or of the last one. See
// scope.Stats.
func Stats() Statistics {
	r := current.Load()
	if r == nil || sys.Forked() {
		return Statistics{}
	}
	if r.closed.Load() {
		s := r.final
		s.StaleEnds = r.staleEnds.Load()
		return s
	}
	s := r.stats()
	s.Running = atomic.LoadUint32(&sys.Live.On) != Off
	return s
}
