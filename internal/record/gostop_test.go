//go:build !scope_off

package record_test

import (
	"testing"
	"time"

	. "github.com/scopeview/scopeview/scope"
)

// TestStopAfterManyChunks stops a recording most of whose chunks have left: Stop
// does not wait for those.
func TestStopAfterManyChunks(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		least := time.Hour
		for range 3 {
			start(t, backing, shortTicks())
			for range 4 * atOnce {
				Task("a")()
			}
			breathe(t)
			breathe(t)
			begin := time.Now()
			if err := Stop(); err != nil {
				t.Fatal(err)
			}
			if least = min(least, time.Since(begin)); least < time.Second/2 {
				return
			}
		}
		t.Errorf("Stop took %v at least", least)
	})
}
