//go:build !scope_off

package record_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// TestLateLosses: many goroutines count losses when their recording ends and the next
// begins, at whatever instruction Go has preempted them. None of the losses is in the
// next recording.
func TestLateLosses(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		for range 2 {
			start(t, backing)
			r := record.Current.Load()
			var done sync.WaitGroup
			var quit atomic.Bool
			var calls [16]atomic.Int64
			for i := range calls {
				done.Go(func() {
					for !quit.Load() {
						r.LoseMany(format.LossBusy, 1)
						calls[i].Add(1)
					}
				})
			}
			until(t, "losses", func() bool {
				for i := range calls {
					if calls[i].Load() == 0 {
						return false
					}
				}
				return true
			})
			if err := Stop(); err != nil {
				t.Fatal(err)
			}
			verify(t, Path())
			start(t, backing)
			quit.Store(true)
			done.Wait()
			if lost := Stats().Lost; lost != (Lost{}) {
				t.Errorf("the next recording has lost %+v", lost)
			}
			if err := Stop(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
