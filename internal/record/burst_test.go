//go:build !scope_off

package record_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	. "github.com/scopeview/scopeview/scope"
)

// TestBurstWithoutFlusher records at full speed while the flusher does not run. If
// chunks are in memory, nothing is lost until the allowed memory is used up; on a disk,
// everything beyond the prepared window is lost.
func TestBurstWithoutFlusher(t *testing.T) {
	if sys.Race {
		t.Skip("it takes a minute with the race detector, which looks at the same in internal/pool's TestMade")
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithLimit(NoLimit), WithHeartbeat(time.Hour), func(o *record.Options) { o.SetBuffer(128 << 20) })
		r := record.Current.Load()
		(*r.Flusher()).Stop()
		issued := int64(0)
		text := strings.Repeat("x", format.MaxString)
		burst := func(n int) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for i := range n / 4 {
						Task("burst", i, text)()
					}
				})
			}
			wg.Wait()
			issued += int64(n / 4 * 4)
		}
		// Eight times the initial window, and a quarter of the 128 MiB that may wait.
		const n = 32 << 20 / (format.MaxString + 2*format.RecordSize)
		burst(n)
		s := Stats()
		made := s.PreparedLate
		if r.Pool().Backing() == format.BackingDisk {
			if s.Lost.Window == 0 || made != 0 {
				t.Errorf("%d prepared by goroutines that record, %+v", made, s.Lost)
			}
		} else {
			if s.Lost != (Lost{}) || made < 400 {
				t.Errorf("%d prepared by goroutines that record, %+v", made, s.Lost)
			}
			for range 100 {
				if burst(n / 2); Stats().Lost.Buffer > 0 {
					break
				}
			}
			if s = Stats(); s.Lost.Buffer == 0 || s.Lost.Buffer != s.Lost.Total() || s.Bytes > 129<<20 || s.PreparedLate <= made {
				t.Errorf("with %d bytes %d were prepared, %+v", s.Bytes, s.PreparedLate, s.Lost)
			}
		}
		*r.Flusher() = r.NewFlusher()
		(*r.Flusher()).Start()
		until(t, "a burst without losses when the flusher is back", func() bool {
			lost := Stats().Lost
			burst(1000)
			return Stats().Lost == lost
		})
		finish(t)
		checkLosses(t, issued, late(r.Pool().Backing()))
		s = Stats()
		t.Logf("%d issued, %d recorded, %d lost; %d chunks prepared by goroutines that record", issued, s.Recorded, s.Lost.Total(), s.PreparedLate)
	})
}
