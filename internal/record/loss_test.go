//go:build !scope_off

package record_test

import (
	"os"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// checkLosses compares the number of issued records with Stats and the trace.
func checkLosses(t *testing.T, issued int64, why format.Loss) {
	t.Helper()
	s := Stats()
	if s.Recorded+s.Lost.Total() != issued {
		t.Errorf("%d issued, %d recorded and %d lost", issued, s.Recorded, s.Lost.Total())
	}
	n := int64(0)
	tr := each(t, Path(), func(_ *trace.Trace, e *trace.Event) { n++ })
	verify(t, Path())
	if n != s.Recorded {
		t.Errorf("%d recorded, the trace has %d", s.Recorded, n)
	}
	gaps := map[format.Loss]int64{}
	for _, g := range tr.Gaps() {
		gaps[g.Reason] += g.Count
		// An end that found no room is not a lost record.
		if g.Reason != why && g.Reason != format.LossEnd || g.From < 0 || g.To < g.From {
			t.Errorf("gap %+v, want one because of %v", g, why)
		}
	}
	if lost := tr.Lost(); gaps[why] != s.Lost.Total() || lost[why] != gaps[why] || gaps[format.LossEnd] != s.Lost.Ends || lost[format.LossEnd] != s.Lost.Ends {
		t.Errorf("lost %+v, the trace's gaps have %v, it says %v", s.Lost, gaps, lost)
	}
}

// late returns the reason for losing records that come too fast.
func late(b format.Backing) format.Loss {
	if b == format.BackingDisk {
		return format.LossWindow
	}
	return format.LossBuffer
}

// TestLimit records past the limit. The file must not exceed it, and what is
// lost is counted and recorded.
func TestLimit(t *testing.T) {
	const limit, issued = 2 << 20, 200_000
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithLimit(limit))
		for i := range issued / 2 {
			Task("plain")()
			Task("args", i)()
		}
		finish(t)
		checkLosses(t, issued, format.LossLimit)
		s := Stats()
		if s.Lost.Limit == 0 || s.Lost.Limit != s.Lost.Total() {
			t.Errorf("lost %+v, want all of it by the limit", s.Lost)
		}
		if st, err := os.Stat(Path()); err != nil || st.Size() > limit {
			t.Errorf("the file has %d bytes, the limit was %d: %v", st.Size(), limit, err)
		}
		if s.Recorded < 10_000 {
			t.Errorf("%d records in %d bytes", s.Recorded, limit)
		}
	})
}

// TestBurst: goroutines record faster than a disk may follow. Some records may
// be lost; each record is accounted for.
func TestBurst(t *testing.T) {
	n := 2_000_000
	if testing.Short() || sys.Race {
		n = 200_000
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithLimit(NoLimit))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range n / 2 {
					Task("burst")()
				}
			})
		}
		wg.Wait()
		finish(t)
		checkLosses(t, int64(n), late(record.Current.Load().Pool().Backing()))
		t.Logf("%+v", Stats())
	})
}

// TestNothingIsLostAtRest checks every field of Stats on a recording without
// misuse and losses.
func TestNothingIsLostAtRest(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		for range 1000 {
			Task("a", 1)()
		}
		if s := Stats(); s.Recorded != 1000 {
			t.Errorf("while running Stats says %d, want 1000", s.Recorded)
		}
		r := stop(t)
		s := Stats()
		if s.Recorded != 1000 || s.Names != 1 || s.Lost != (Lost{}) || s.Misuse != (Misuse{}) || s.LastError != nil || s.Running {
			t.Errorf("%+v", s)
		}
		if s.Bytes != r.Size() || s.PreparedLeast <= 0 || s.PreparedLeast >= 4<<20 || s.Recorder == "" || s.Path != Path() {
			t.Errorf("%+v, the trace has %d bytes", s, r.Size())
		}
		tr := tracetest.OpenFile(t, Path())
		beats := tr.Beats()
		if n, ok := beats[len(beats)-1].Value(format.FieldRecorded); !ok || n != 1000 {
			t.Errorf("the last heartbeat says %d records", n)
		}
	})
}
